"""Runs a scene into a directory, then reads its frames and tables and measures the bed."""

import tempfile

import talus

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        talus.Scene("settle-box", set={"bodies": 200}).run(f"{folder}/box", until=1.5, every=0.1, frames=("exact",), threads=1)
        run = talus.Run(f"{folder}/box")
        steps = run.table("steps")
        print(f"{len(run)} frames, {len(steps)} steps, kinetic energy at the end {steps['kinetic'][-1]:.3g} J")
        bulk = run[-1].bulk()
        print(f"coordination {bulk.coordination:.2f}, rattlers {100 * bulk.rattlers:.0f} %")
        solid = run.field("solid", (1, 1, 5), start=1.0)[0, 0]
        print("solid fraction from floor to top:", " ".join(f"{s:.2f}" for s in solid))

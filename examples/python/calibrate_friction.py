"""Finds the coefficient of friction with which a block that starts at 2 m/s slides as far as was measured."""

import talus


def slide(mu):
    """Returns how far the block slides, m."""
    world = talus.World(step=0.005, threads=1, tolerance=1e-3)
    world.set_pair(0, 0, friction=mu)
    world.add_bodies("plane", [0, 0, 0], fixed=True)
    world.add_bodies({"kind": "box", "half": (0.2, 0.2, 0.05)}, [0, 0, 0.05], velocity=[2, 0, 0], mass=1.0)
    world.run(3.0, on_step=lambda world, info: world.velocity[1, 0] > 1e-4)  # False ends the run
    return world.position[1, 0]


if __name__ == "__main__":
    fit = talus.calibrate(slide, target=0.551, target_error=0.006, bounds={"mu": (0.2, 0.7)}, points=5)
    print(fit)
    print(f"mu = {fit.value['mu']:.3f} +- {fit.error['mu']:.3f}")

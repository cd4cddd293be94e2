"""Finds, by bisection, the slope on which a block begins to slide, and compares it with atan(mu)."""

import numpy as np

import talus


def slides(mu, angle):
    """Whether a block at rest on a slope, degrees, moves by more than a millimetre in half a second."""
    tilt = np.radians(angle)
    world = talus.World(gravity=(9.81 * np.sin(tilt), 0, -9.81 * np.cos(tilt)), threads=1, tolerance=1e-4)
    world.set_pair(0, 0, friction=mu)
    world.add_bodies("plane", [0, 0, 0], fixed=True)
    world.add_bodies({"kind": "box", "half": (0.2, 0.2, 0.02)}, [0, 0, 0.02], mass=1.0)
    world.run(0.5)
    return world.position[1, 0] > 1e-3


def critical(mu):
    """Returns the steepest slope on which the block stays, degrees, to 0.1."""
    low, high = 0.0, 60.0
    while high - low > 0.1:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if slides(mu, middle) else (middle, high)
    return low


if __name__ == "__main__":
    for row in talus.sweep(critical, {"mu": [0.2, 0.4, 0.8]}):
        expected = np.degrees(np.arctan(row["mu"]))
        print(f"mu = {row['mu']:.1f}: slides from {row['value']:.1f} degrees on; atan(mu) is {expected:.1f}")

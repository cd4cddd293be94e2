"""Pours grains onto a plate and prints the angle of their heap, for three coefficients of friction."""

import numpy as np

import talus


def pour(mu, seed):
    """Returns the angle of repose of a small heap, degrees."""
    world = talus.World(threads=1)
    grain = world.add_material("grain", friction=mu, rolling=0.1 * mu, density=2600)
    world.add_bodies("plane", [0, 0, 0], fixed=True, material=grain)
    rng = np.random.default_rng(seed)
    layers = np.arange(60)
    at = np.column_stack([rng.uniform(-0.1, 0.1, (60, 2)), 0.06 + 0.11 * layers])
    world.add_bodies("sphere", at, radius=rng.uniform(0.04, 0.05, 60), material=grain)
    world.run(3.0)
    position = world.position[1:]
    radius = np.hypot(*(position[:, :2] - position[:, :2].mean(axis=0)).T)
    return np.degrees(np.arctan2(position[:, 2].max(), np.quantile(radius, 0.9)))


if __name__ == "__main__":
    table = talus.sweep(pour, {"mu": [0.2, 0.5, 0.8], "seed": [1, 2]})
    for row in talus.mean_error(table, "mu", "value"):
        print(f"mu = {row['mu']:.1f}: {row['mean']:5.1f} +- {row['error']:.1f} degrees")

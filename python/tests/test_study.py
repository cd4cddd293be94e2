import numpy as np
import pytest

import talus

G, SPEED = 9.81, 2.0


def slide(mu, angle=0.0):
    """Distance that a block slides to rest, its speed SPEED at the start."""
    tilt = np.radians(angle)
    world = talus.World(gravity=(G * np.sin(tilt), 0, -G * np.cos(tilt)), step=0.005, threads=1, tolerance=1e-3)
    world.set_pair(0, 0, friction=mu)
    world.add_bodies("plane", [0, 0, 0], fixed=True)
    world.add_bodies({"kind": "box", "half": (0.2, 0.2, 0.05)}, [0, 0, 0.05], velocity=[SPEED, 0, 0], mass=1.0)
    world.run(3.0, on_step=lambda world, info: world.velocity[1, 0] > 1e-4)
    return world.position[1, 0]


def test_sweep_and_means():
    table = talus.sweep(lambda mu, seed: {"a": mu * seed, "b": mu}, {"mu": [1.0, 2.0], "seed": [1, 2, 3]}, workers=2)
    assert table["a"].tolist() == [1, 2, 3, 2, 4, 6]
    means = talus.mean_error(table, "mu", "a")
    assert means["mean"].tolist() == [2, 4] and means["error"][0] == pytest.approx(1 / np.sqrt(3))


def test_the_friction_of_a_sliding_block_is_recovered():
    planted = 0.37
    target = SPEED**2 / (2 * planted * G)  # by the closed form, not by the simulation
    fit = talus.calibrate(slide, target, {"mu": (0.2, 0.7)}, target_error=0.01 * target, points=5)
    assert fit.value["mu"] == pytest.approx(planted, abs=0.01)
    assert fit.error["mu"] == pytest.approx(0.01 * planted, rel=0.2)  # d is in proportion to 1/mu
    assert fit.at_bound == []


def test_errors_cover_the_truth():
    """Of noisy calibrations, the value is within one error of the truth in 68 %, within two in 95 %."""
    hits = np.zeros(2)
    for trial in range(100):
        rng = np.random.default_rng(trial)

        def model(p, seed):
            return np.exp(p) + 0.05 * rng.normal()

        target = np.exp(0.3) + 0.03 * rng.normal()
        fit = talus.calibrate(model, target, {"p": (0, 1)}, 0.03, seeds=range(3), points=5, rounds=2)
        hits += abs(fit.value["p"] - 0.3) < np.array([1, 2]) * fit.error["p"]
    assert 0.58 < hits[0] / 100 < 0.78 and 0.90 < hits[1] / 100 <= 0.99


def test_two_parameters():
    def model(a, b):
        return [a + b, a * b, a - b]

    fit = talus.calibrate(model, model(0.7, 0.2), {"a": (0, 1), "b": (0, 1)}, target_error=0.01, points=4)
    assert fit.value["a"] == pytest.approx(0.7, abs=1e-6) and fit.value["b"] == pytest.approx(0.2, abs=1e-6)
    assert fit.covariance.shape == (2, 2) and "a = 0.7" in repr(fit)


def test_what_cannot_be_fitted_is_told():
    flat = talus.calibrate(lambda p: 1.0, 1.0, {"p": (0, 1)}, target_error=0.1)
    assert flat.error["p"] == np.inf
    beyond = talus.calibrate(lambda p: p, 2.0, {"p": (0, 1)}, target_error=0.1)
    assert beyond.at_bound == ["p"] and beyond.value["p"] == 1.0
    with pytest.raises(ValueError, match="returned 2 numbers, the target has 1"):
        talus.calibrate(lambda p: [p, p], 1.0, {"p": (0, 1)})
    with pytest.raises(ValueError, match="lower and a higher bound"):
        talus.calibrate(lambda p: p, 1.0, {"p": (1, 0)})
    with pytest.raises(ValueError, match="returned .*nan"):
        talus.calibrate(lambda p: float("nan"), 1.0, {"p": (0, 1)})


def test_plots():
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed (Debian: python3-matplotlib)")
    matplotlib.use("Agg")
    from talus import plots

    problem = talus.Problem.of_matrix([[2.0, 1.0], [1.0, 2.0]], [-1.0, -1.0], rows=1)
    solution = talus.solve(problem, "apgd", tol=1e-10, start="zero", history=True)
    assert len(plots.convergence({"apgd": solution}).lines[0].get_ydata()) == len(solution.history)
    fit = talus.calibrate(lambda p: p * p, 0.25, {"p": (0, 1)}, 0.01)
    plots.calibration(fit, 0.25).figure.savefig("fit.png")
    rows = talus.sweep(lambda p, seed: p + seed, {"p": [1.0, 2.0], "seed": [0, 1]})
    plots.study(rows, "p", "value").figure.savefig("study.png")
    world = talus.Scene("settle-box", set={"bodies": 30}).run(until=0.1, threads=1)
    plots.bodies(world.snapshot()).figure.savefig("bodies.png")
    with pytest.raises(ValueError, match="has no history"):
        plots.convergence({"apgd": talus.solve(problem)})

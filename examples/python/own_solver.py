"""A solver written here, projected gradients with momentum, drives a world; the world measures what it reaches."""

import numpy as np

import talus


def solve(problem, options):
    """Accelerated projected gradients (Nesterov 1983) for the convex relaxation of friction, in the metric of the blocks'
    scales; the momentum starts anew where it points uphill (O'Donoghue and Candes 2015)."""
    step = 0.25 / np.repeat(problem.scale, problem.rows)
    gamma = ahead = problem.gamma.copy()
    momentum, k = 1, 0
    for k in range(1, options.max_iterations + 1):
        gradient = problem.gradient(ahead)
        before, gamma = gamma, problem.project(ahead - step * gradient)
        momentum = 1 if gradient @ (gamma - before) > 0 else momentum + 1
        ahead = gamma + (momentum - 1) / (momentum + 2) * (gamma - before)
        if k % 5 == 0 and problem.residual(gamma).rms < options.tolerance:
            break
    return {"gamma": gamma, "iterations": k, "products": k}


if __name__ == "__main__":
    world = talus.Scene("settle-box", set={"bodies": 12, "defaults": "relaxed"}).build(threads=1)
    world.set_solver(solve)
    info = world.step(80)
    print(f"t = {info.time:g} s, {info.contacts} contacts, solver {info.solve.solver}: {info.solve.outcome}")
    print(f"{info.solve.iterations} iterations, residual {info.solve.residual.rms:.1e} of {info.tolerance:.1e} m/s allowed")

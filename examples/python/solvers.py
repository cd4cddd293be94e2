"""Compares solvers on the contact problem of one step of a bed, and checks the best solution by other code."""

import talus

if __name__ == "__main__":
    world = talus.Scene("settle-box", set={"bodies": 150}).run(until=1.0, threads=1)
    problem = world.problem()
    print(problem)
    for name in ("apgd", "gs-coulomb", "prox"):
        solution = talus.solve(problem, name, tol=1e-8, start="zero", history=True, keep=False)
        info = solution.info
        print(f"{name:11} {info.outcome}: {info.products} products, {info.seconds:.3f} s, residual {info.residual.rms:.1e} m/s")
    problem.gamma[:] = solution.gamma
    print(f"objective {problem.objective():.12g} J")

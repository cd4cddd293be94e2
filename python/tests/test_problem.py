import signal

import numpy as np
import pytest

import talus
from talus import Problem, solve

sparse = pytest.importorskip("scipy.sparse", reason="scipy is not installed (Debian: python3-scipy)")


def random_problem(blocks=6, seed=1, mu=0.4):
    """Blocks of three rows with a positive definite N."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(3 * blocks, 4 * blocks))
    q = rng.normal(size=3 * blocks)
    return root @ root.T / blocks, q, mu


def project(x, mu):
    """The nearest point of circular cones, block by block."""
    out = np.array(x, dtype=float).reshape(-1, 3)
    for b in out:
        t = np.hypot(b[1], b[2])
        if t <= mu * b[0]:
            continue
        if mu * t <= -b[0]:
            b[:] = 0
            continue
        n = (b[0] + mu * t) / (1 + mu * mu)
        b[:] = n, b[1] * mu * n / t, b[2] * mu * n / t
    return out.ravel()


@pytest.fixture
def settled():
    """The problem of a step of a bed of 100 balls."""
    world = talus.Scene("settle-box", set={"bodies": 100}).run(until=1.0, threads=1)
    return world.problem()


@pytest.mark.parametrize("form", ["dense", "csr", "coo", "csc"])
def test_matrices_come_in_as_they_are(form):
    N, q, mu = random_problem()
    problem = Problem.of_matrix(N if form == "dense" else sparse.csr_matrix(N).asformat(form), q, mu)
    assert (problem.blocks, problem.rows, problem.size) == (6, 3, 18)
    np.testing.assert_allclose(problem.matrix(), N, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(problem.q, q)
    np.testing.assert_allclose(problem.operator() @ q, N @ q)
    assert (problem.mu == 0.4).all()


def test_a_solution_satisfies_the_optimality_conditions():
    N, q, mu = random_problem()
    problem = Problem.of_matrix(N, q, mu, friction="ccp")
    solution = solve(problem, "apgd", tol=1e-10, max_iterations=20000)
    assert solution.converged
    gamma, g = solution.gamma, N @ solution.gamma + q
    np.testing.assert_allclose(gamma, project(gamma - g / np.trace(N), mu), atol=1e-8)
    # and the library's natural residual is what its definition says
    d = np.repeat(problem.scale, 3)
    rest = (d * (gamma + 0.01 - project(gamma + 0.01 - (N @ (gamma + 0.01) + q) / d, mu))).reshape(-1, 3)
    expected = np.sqrt((rest**2).sum(axis=1).mean())
    assert problem.residual(gamma + 0.01).rms == pytest.approx(expected, rel=1e-10)


def test_history_and_observer():
    N, q, mu = random_problem()
    problem = Problem.of_matrix(N, q, mu)
    seen = []
    solution = solve(problem, "apgd", tol=1e-9, start="zero", history=True, observer=lambda *at: seen.append(at))
    history = solution.history
    assert len(history) == len(seen) > 5 and history["iteration"][0] == 0
    assert history["residual"][-1] <= 1e-9 * 1.01 and (np.diff(history["products"]) >= 0).all()
    np.testing.assert_array_equal(seen[-1][3], solution.gamma)
    stopped = solve(problem, "apgd", tol=0, start="zero", observer=lambda i, *_: i < 5)
    assert stopped.info.outcome == "budget" and stopped.info.iterations <= 6
    with pytest.raises(ZeroDivisionError):
        solve(problem, "apgd", observer=lambda *_: 1 / 0)


def test_a_signal_ends_a_long_solve(settled):
    class Enough(BaseException):
        pass

    def stop(*_):
        raise Enough

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(Enough):
            solve(settled, "apgd", tol=0, max_iterations=2_000_000_000)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_impulses_are_those_of_the_program(settled, program):
    settled.gamma[:] = 0.0
    settled.write("p.talus")
    program("solve", "p.talus", "--solver", "apgd", "--tol", "1e-6", "--save", "s.talus", "--threads", "1")
    problem = Problem.read("p.talus")
    mine = solve(problem, "apgd", tol=1e-6 * problem.residual().rms)  # --tol is over the residual at zero
    np.testing.assert_array_equal(mine.gamma, Problem.read("s.talus").gamma)


def test_start_and_keep():
    N, q, mu = random_problem()
    problem = Problem.of_matrix(N, q, mu)
    problem.gamma[:] = 0.25
    solution = solve(problem, "apgd", tol=1e-9, keep=False)
    assert (problem.gamma == 0.25).all() and solution.converged
    assert solve(problem, "apgd", tol=1e-8, start=solution.gamma).info.iterations < solution.info.iterations
    with pytest.raises(ValueError, match="expected 18 numbers"):
        solve(problem, start=[1.0])


def test_the_law_changes_and_lent_impulses_are_safe():
    N, q, mu = random_problem()
    problem = Problem.of_matrix(N, q, mu)
    gamma = problem.gamma
    with pytest.raises(BufferError, match="gamma"):
        problem.set_friction("none")
    del gamma
    problem.set_friction("none")
    assert problem.rows == 1 and len(problem.gamma) == 6


def test_solvers_agree(settled):
    reference = solve(settled, "prox", tol=1e-9, start="zero", keep=False)
    assert reference.converged
    for name in ("apgd", "auto", "gs-coulomb"):
        other = solve(settled, name, tol=1e-8, start="zero", keep=False)
        assert other.converged, name
        np.testing.assert_allclose(settled.body_velocity(other.gamma), settled.body_velocity(reference.gamma), atol=1e-5)
    table = talus.solvers(settled)
    assert {"apgd", "prox"} <= set(table) and len(talus.solvers()) >= len(table)
    assert talus.parameters("apgd")
    with pytest.raises(ValueError, match="did you mean apgd"):
        talus.parameters("apdg")


def test_the_verifier_agrees(settled):
    solve(settled, "apgd", tol=1e-7)
    mine, theirs = settled.measure(), settled.verify()
    for key in ("objective", "complementarity_max", "duality_gap"):
        assert theirs[key] == pytest.approx(getattr(mine, key), rel=1e-6, abs=1e-18), key
    assert mine.open + mine.sliding + mine.sticking == settled.blocks
    assert np.bincount(settled.states(), minlength=3).tolist() == [mine.open, mine.sliding, mine.sticking]
    np.testing.assert_allclose(settled.project(settled.gamma), settled.gamma, atol=1e-9)


def test_files(settled, tmp_path):
    solve(settled, "apgd", tol=1e-7)
    settled.write("p.talus")
    again = Problem.read("p.talus")
    np.testing.assert_array_equal(again.gamma, settled.gamma)
    assert again.measure().objective == settled.measure().objective
    with pytest.raises(talus.FileError, match="missing.talus"):
        Problem.read("missing.talus")


def test_fclib(settled):
    if not talus._library.lib.talus_fclib_available():
        pytest.skip("this build has no HDF5, hence no FCLIB files")
    settled.write("p.hdf5", form="local", title="a bed")
    read = Problem.read("p.hdf5", friction="coulomb")
    assert read.blocks == settled.blocks and read.body_count == 0
    solution = solve(read, "prox", tol=1e-9)
    read.write("solved.hdf5")  # as it was read, with the solution
    np.testing.assert_allclose(
        solution.gamma.reshape(-1, 3)[:, 0].sum(), solve(settled, "prox", tol=1e-9).gamma.reshape(-1, 3)[:, 0].sum(), rtol=1e-4
    )
    assert Problem.read("solved.hdf5").blocks == settled.blocks


def test_to_scipy(settled):
    x = np.random.default_rng(1).normal(size=settled.size)
    N, q = settled.to_scipy()
    np.testing.assert_allclose(N @ x + q, settled.gradient(x), rtol=1e-9, atol=1e-9)
    again = Problem.of_matrix(N, q, settled.mu, friction="coulomb")
    np.testing.assert_allclose(again.gradient(x), settled.gradient(x), rtol=1e-9, atol=1e-9)


def test_threads_do_not_change_bits(settled):
    two = settled.copy(threads=2)
    one, other = (solve(problem, "apgd", tol=1e-8, start="zero").gamma for problem in (settled, two))
    np.testing.assert_array_equal(one, other)


def test_wrong_data():
    with pytest.raises(ValueError, match="N: expected shape"):
        Problem.of_matrix(np.eye(2), [0, 0, 0], mu=0.3)
    with pytest.raises(ValueError, match="mu: blocks of three rows"):
        Problem.of_matrix(np.eye(3), [0, 0, 0])
    with pytest.raises(ValueError, match="q: expected"):
        Problem.of_matrix(np.eye(4), [0, 0, 0, 0], mu=0.3)
    with pytest.raises(TypeError, match="Problem.read"):
        Problem()
    with pytest.raises(ValueError, match="N: is not symmetric"):
        Problem.of_matrix([[1.0, 2.0], [3.0, 4.0]], [1, 1], rows=1)
    with pytest.raises(talus.ArgumentError):
        Problem.of_matrix(np.full((3, 3), np.nan), [1, 1, 1], mu=0.3)

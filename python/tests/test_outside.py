"""Solvers written in Python drive a world."""

import numpy as np
import pytest

import talus


def heap():
    world = talus.World(threads=1, tolerance=1e-5)
    world.add_bodies("plane", [0, 0, 0], fixed=True)
    at = [[0, 0, 0.1], [0.2, 0, 0.1], [0.1, 0.17, 0.1], [0.1, 0.06, 0.27]]
    world.add_bodies("sphere", at, radius=0.1, mass=1.0)
    return world


def by_library(problem, options):
    """Solves by a solver of the library, in the problem's own impulses."""
    done = talus.solve(problem, "apgd", tol=options.tolerance, norm=options.norm, max_iterations=options.max_iterations)
    return {"iterations": done.info.iterations, "products": done.info.products}


def test_the_library_s_solver_called_from_python_moves_as_the_library_does():
    own, other = heap(), heap()
    own.set_solver("apgd")
    other.set_solver(by_library)
    for _ in range(40):
        a, b = own.step(), other.step()
        assert b.solve.solver == "outside" and b.solve.outcome == "converged" and b.solve.iterations > 0
        assert b.solve.residual.rms <= b.tolerance
    np.testing.assert_allclose(own.position, other.position, atol=1e-6)
    other.set_solver(None)
    assert other.step().solve.solver != "outside"


def test_a_solver_that_returns_impulses():
    world, calls = heap(), []

    def solve(problem, options):
        calls.append(problem.blocks)
        return talus.solve(problem, "prox", tol=1e-9, keep=False).gamma

    world.set_solver(solve)
    world.step(5)
    assert len(calls) >= 5 and world.position[1:, 2].min() > 0.0999


def test_zero_impulses_let_bodies_fall_and_are_told():
    world = heap()
    world.set_solver(lambda problem, options: np.zeros(problem.size))
    info = world.step()
    assert info.missed and world.velocity[1, 2] == pytest.approx(-9.81 * 0.005)


def test_exceptions_reach_the_caller_and_leave_the_world_as_it_was():
    world = heap()
    before = world.hash

    def fail(problem, options):
        raise ZeroDivisionError("mine")

    for solver, error in (
        (fail, ZeroDivisionError),
        (lambda problem, options: [1.0], ValueError),
        (lambda problem, options: {"iteration": 3}, TypeError),
        (lambda problem, options: kept.append(problem.gamma), BufferError),
    ):
        kept = []
        world.set_solver(solver)
        with pytest.raises(error):
            world.step()
        assert world.hash == before
    world.set_solver(None)
    world.step()
    assert world.hash != before


def test_a_lent_problem_is_of_no_use_afterwards():
    world, kept = heap(), []
    world.set_solver(lambda problem, options: kept.append(problem))
    world.step()
    with pytest.raises(TypeError):
        kept[0].residual()


def test_step_with():
    world, other = heap(), heap()
    problem = world.problem()
    solution = talus.solve(problem, "prox", tol=1e-9)
    world.step_with(solution.gamma)
    other.set_solver(lambda problem, options: talus.solve(problem, "prox", tol=1e-9) and None)
    other.step()
    np.testing.assert_allclose(world.velocity, other.velocity, atol=1e-7)
    with pytest.raises(RuntimeError, match="call problem"):
        world.step_with(solution.gamma)  # its problem is another one now
    world.problem()
    with pytest.raises(talus.ArgumentError):
        world.step_with([1.0])


def test_changes_of_bodies():
    world = heap()
    ids = world.id
    world.set_pose(ids[4], (5, 5, 5), (0, 0, 0, 1))
    assert world.body(ids[4]).position == (5, 5, 5) and world.body(ids[4]).orientation == (0, 0, 0, 1)
    world.set_state(ids[1:3], velocity=[[1, 0, 0], [2, 0, 0]], spin=[0, 0, 3])
    assert world.velocity[1:3, 0].tolist() == [1, 2] and world.bodies("spin").spin[2, 2] == 3
    world.add_impulse(ids[3], (0, 0, 2.0), world.position[3])
    assert world.velocity[3, 2] == pytest.approx(2.0)
    world.fix(ids[3])
    assert world.body(ids[3]).motion == "fixed"
    world.release(ids[3], mass=4.0)
    assert world.body(ids[3]).mass == 4.0 and ids[3] in world and 99 not in world
    world.set_gravity((0, 0, -1.62))
    world.set_step(0.004)
    assert world.gravity[2] == -1.62 and world.step_length == 0.004
    sand = world.add_material("sand", friction=0.1)
    world.set_material(sand, friction=0.6)
    assert world.material(world.find_material("sand")).friction == 0.6
    with pytest.raises(TypeError, match="did you mean velocity"):
        world.set_state(velocities=[0, 0, 0])
    with pytest.raises(talus.ArgumentError):
        world.find_material("sind")

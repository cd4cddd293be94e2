"""Contact problems and their solvers: minimise 1/2 gamma'(N + E)gamma + q'gamma over gamma in K."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Iterator, Sequence

import numpy as np

from . import _library as c
from ._library import Record, check, ffi, lib

Monitor = Callable[[int, int, float], Any]
Observer = Callable[[int, int, float, np.ndarray], Any]


class Problem:
    """One contact problem: blocks of 1, 3 or 6 rows, a matrix N and a vector q, and the impulses gamma.

    Problems come from a file (Problem.read), a world (World.problem), matrices (Problem.of_matrix) or contacts
    (Problem.of_contacts). `gamma` is the problem's own memory: write a starting point there. `threads`, wherever a problem
    is made: those of its products (0: one per processor); no result depends on them.

    >>> problem = Problem.of_matrix([[2.0, 0.0], [0.0, 4.0]], [-2.0, 1.0], rows=1)
    >>> solution = solve(problem, "apgd", tol=1e-12)
    >>> solution.gamma.round(9).tolist(), solution.info.outcome
    ([1.0, 0.0], 'converged')
    """

    def __init__(self) -> None:
        raise TypeError("use Problem.read, Problem.of_matrix, Problem.of_contacts or World.problem")

    @classmethod
    def _of(cls, pointer, pool, title: str = "") -> Problem:
        problem = cls.__new__(cls)
        problem._handle = ffi.gc(pointer, lambda own, pool=pool: lib.talus_problem_destroy(own))  # the pool goes after it
        problem._fclib, problem._loans = None, c.Loans()
        problem.title = title
        return problem

    @classmethod
    def _create(cls, definition, threads: int) -> Problem:
        pool = _pool(threads)
        return cls._of(c.create(lib.talus_problem_create, "TalusProblem", definition, pool), pool)

    @classmethod
    def _copy_of(cls, pointer, threads: int) -> Problem:
        """Copies a problem that somebody else owns, with its impulses."""
        definition = ffi.new("TalusProblemDef *")
        check(lib.talus_problem_export(pointer, definition))
        problem = cls._create(definition, threads)
        size = problem.size
        if size:
            ffi.memmove(lib.talus_problem_gamma(problem._handle), lib.talus_problem_gamma(pointer), 8 * size)
        return problem

    @classmethod
    @contextmanager
    def _lent(cls, pointer) -> Iterator[Problem]:
        """Lends a problem that somebody else owns: afterwards no array of it may be in use."""
        problem = cls.__new__(cls)
        problem._handle, problem._fclib, problem._loans, problem.title = pointer, None, c.Loans(), ""
        try:
            yield problem
            problem._loans.refuse("the impulses of a lent problem")
        finally:
            problem._handle = None

    @classmethod
    def read(cls, path: str | os.PathLike, friction: str | None = None, threads: int = 1) -> Problem:
        """Reads a problem file of Talus or an FCLIB file. `friction`: a law and a section ("coulomb", "ccp polygon:8") in
        place of the file's; an FCLIB file, which has none, is otherwise under the convex relaxation."""
        c.listen()
        model = ffi.NULL if friction is None else ffi.new("TalusFrictionModel *", c.friction_model(friction))
        out, fclib = ffi.new("TalusProblem **"), ffi.new("TalusFclib **")
        pool = _pool(threads)
        check(lib.talus_problem_open(os.fspath(path).encode(), model, pool, out, fclib))
        problem = cls._of(out[0], pool, Path(path).name)
        if fclib[0] != ffi.NULL:
            problem._fclib = ffi.gc(fclib[0], lib.talus_fclib_destroy)
        return problem

    @classmethod
    def of_matrix(
        cls,
        N: Any,
        q: Any,
        mu: Any = None,
        rows: int = 3,
        friction: str = "coulomb",
        threads: int = 1,
    ) -> Problem:
        """Makes a problem from a matrix N, dense or of scipy.sparse, and a vector q, in blocks of `rows` rows (1: normal;
        3: normal and two tangents). `mu`: friction coefficient of each block, or one for all; `friction`: law and section.

        >>> import numpy as np
        >>> problem = Problem.of_matrix(np.eye(3), [-1.0, 0.6, 0.0], mu=0.3)
        >>> solution = solve(problem, tol=1e-12)
        >>> [round(float(x), 6) for x in solution.gamma]
        [1.0, -0.3, 0.0]
        """
        q = np.ascontiguousarray(q, dtype=float)
        if rows not in (1, 3) or q.ndim != 1 or len(q) % rows:
            raise ValueError(f"q: expected a vector whose length is a multiple of rows, 1 or 3; got {q.shape} and {rows}")
        start, column, values = _compressed(N, len(q))
        if rows == 1 or not friction.startswith("coulomb"):
            _check_symmetry(N)
        blocks = len(q) // rows
        definition, arena = ffi.new("TalusProblemDef *"), c.Arena()
        fields = {
            "block_count": blocks,
            "rows": rows,
            "row_start": start,
            "column": column,
            "values": values,
            "offset": q,
        }
        if rows == 3:
            if mu is None:
                raise ValueError("mu: blocks of three rows need coefficients of friction")
            fields["mu"] = np.broadcast_to(np.asarray(mu, dtype=float), (blocks,))
        c.fill(definition, fields, arena)
        if rows == 3:
            models = arena.keep(ffi.new("TalusFrictionModel[]", [c.friction_model(friction)] * blocks))
            definition.model = models
        return cls._create(definition, threads)

    @classmethod
    def of_contacts(
        cls,
        inv_mass: Any,
        inv_inertia: Any,
        free_velocity: Any,
        contacts: Sequence[dict[str, Any]],
        radius: Any = None,
        friction: str = "coulomb",
        threads: int = 1,
    ) -> Problem:
        """Makes a matrix-free problem from bodies and contacts.

        `inv_mass` [n], `inv_inertia` [n, 6] (xx yy zz xy xz yz, world frame), `free_velocity` [n, 6] (linear, angular).
        A contact is a dictionary with the fields of TalusContactDef; b = -1 is the fixed world.

        >>> ball = dict(inv_mass=[1.0], inv_inertia=[[10, 10, 10, 0, 0, 0]], free_velocity=[[0, 0, -1, 0, 0, 0]])
        >>> up = dict(a=0, b=-1, normal=(0, 0, -1), arm_a=(0, 0, -0.5), mu=0.3)
        >>> solve(Problem.of_contacts(contacts=[up], **ball), tol=1e-12).gamma.round(9).tolist()
        [1.0, 0.0, 0.0]
        """
        arena, definition = c.Arena(), ffi.new("TalusProblemDef *")
        array = arena.keep(ffi.new("TalusContactDef[]", max(len(contacts), 1)))
        for place, contact in zip(array, contacts):
            c.fill(ffi.addressof(place), {"model": friction, **contact}, arena)
        inv_mass = np.asarray(inv_mass, dtype=float)
        fields = {
            "body_count": len(inv_mass),
            "inv_mass": inv_mass,
            "inv_inertia": np.reshape(np.asarray(inv_inertia, dtype=float), (len(inv_mass), 6)),
            "free_velocity": np.reshape(np.asarray(free_velocity, dtype=float), (len(inv_mass), 6)),
            "radius": radius,
            "contact_count": len(contacts),
        }
        c.fill(definition, fields, arena)
        definition.contacts = array
        return cls._create(definition, threads)

    def copy(self, threads: int = 1) -> Problem:
        """Returns a copy, with the impulses."""
        return Problem._copy_of(self._handle, threads)

    # ---- sizes and data ----

    @property
    def blocks(self) -> int:
        """Number of contacts and joint blocks."""
        return lib.talus_problem_blocks(self._handle)

    @property
    def rows(self) -> int:
        """Rows per block: 1, 3 or 6."""
        return lib.talus_problem_rows(self._handle)

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return lib.talus_problem_size(self._handle)

    @property
    def body_count(self) -> int:
        """Number of bodies; 0 for a problem given by a matrix."""
        return lib.talus_problem_bodies(self._handle)

    @property
    def gamma(self) -> np.ndarray:
        """The impulses, N s: the problem's own memory, which may be written."""
        data = lib.talus_problem_gamma(self._handle)
        return c.view_array(data, self.size, "double", self._loans.new(self), read_only=False)

    @gamma.setter
    def gamma(self, value: Any) -> None:
        self.gamma[:] = value

    @property
    def mu(self) -> np.ndarray:
        """Coefficient of friction of each block."""
        return np.array([lib.talus_problem_mu(self._handle, i) for i in range(self.blocks)])

    @property
    def scale(self) -> np.ndarray:
        """Scale d of each block, 1/kg: the mean of its diagonal entries of N + E."""
        return np.array([lib.talus_problem_diagonal(self._handle, i) for i in range(self.blocks)])

    @property
    def q(self) -> np.ndarray:
        """The offset q, m/s."""
        out = np.empty(self.size)
        lib.talus_problem_offset(self._handle, c.pointer(out, "double *"))
        return out

    def set_friction(self, friction: str) -> None:
        """Sets law and section of all contacts with friction, such as "ccp" or "coulomb square"; impulses become zero."""
        self._loans.refuse("gamma")
        check(lib.talus_problem_set_friction(self._handle, c.friction_model(friction)))

    # ---- operators ----

    def _map(self, function, x: Any) -> np.ndarray:
        x = self._impulses(x)
        out = np.empty(self.size)
        function(self._handle, c.pointer(x, "double *"), c.pointer(out, "double *"))
        return out

    def _impulses(self, gamma: Any) -> np.ndarray:
        if gamma is None:
            return self.gamma
        gamma = np.ascontiguousarray(gamma, dtype=float).reshape(-1)
        if len(gamma) != self.size:
            raise ValueError(f"expected {self.size} numbers, got {len(gamma)}")
        return gamma

    def apply(self, x: Any) -> np.ndarray:
        """Returns N x."""
        return self._map(lib.talus_problem_apply, x)

    def contact_velocity(self, gamma: Any = None) -> np.ndarray:
        """Returns u = N gamma + q, m/s; of the problem's own impulses if none are given, here and below."""
        return self._map(lib.talus_problem_velocity, gamma)

    def gradient(self, gamma: Any = None) -> np.ndarray:
        """Returns (N + E) gamma + q, m/s."""
        return self._map(lib.talus_problem_gradient, gamma)

    def body_velocity(self, gamma: Any = None) -> np.ndarray:
        """Returns the velocities of the bodies, [n, 6]: linear, then angular. For problems of bodies."""
        out = np.empty((self.body_count, 6))
        gamma = self._impulses(gamma)
        check(lib.talus_problem_body_velocity(self._handle, c.pointer(gamma, "double *"), c.pointer(out, "double *")))
        return out

    def operator(self):
        """Returns N as a scipy.sparse.linalg.LinearOperator."""
        from scipy.sparse.linalg import LinearOperator

        return LinearOperator((self.size, self.size), matvec=self.apply, rmatvec=self.apply, dtype=float)

    def matrix(self) -> np.ndarray:
        """Returns N as a dense array, column by column: for small problems."""
        return np.column_stack([self.apply(column) for column in np.eye(self.size)]) if self.size else np.empty((0, 0))

    def to_scipy(self):
        """Returns N + E as a sparse matrix of scipy, and q: for any problem that FCLIB's local form holds.

        >>> problem = Problem.of_matrix([[2.0, 0.0], [0.0, 4.0]], [-2.0, 1.0], rows=1)
        >>> N, q = problem.to_scipy()
        >>> N.toarray().tolist(), q.tolist()
        ([[2.0, 0.0], [0.0, 4.0]], [-2.0, 1.0])
        """
        from scipy.sparse import csr_matrix

        definition = ffi.new("TalusProblemDef *")
        check(lib.talus_problem_export(self._handle, definition))
        if definition.values != ffi.NULL:
            return csr_matrix(_stored(definition.row_start, definition.column, definition.values, self.size)), self.q
        out = ffi.new("TalusFclib **")
        check(lib.talus_fclib_from_problem_as(self._handle, lib.TALUS_FCLIB_LOCAL, ffi.NULL, out))
        fclib = ffi.gc(out[0], lib.talus_fclib_destroy)
        W = fclib.W
        matrix = csr_matrix(_stored(W.start, W.column, W.value, W.rows), shape=(W.rows, W.columns))
        return matrix, c.copy_array(fclib.q, W.rows, "double")

    def project(self, gamma: Any) -> np.ndarray:
        """Returns the nearest point of K, block by block: the cone of its friction model (under the law fixed, with bounds
        from its own normal impulse)."""
        out = self._impulses(gamma).copy().reshape(self.blocks, self.rows)
        if self.rows == 6:
            raise NotImplementedError("project: blocks with moments are not exposed by the library")
        for i, block in enumerate(out):
            model = lib.talus_problem_friction(self._handle, i)
            mu = lib.talus_problem_mu(self._handle, i)
            lib.talus_set_project(model, self.rows, mu, ffi.NULL, max(block[0], 0.0), c.pointer(block, "double *"))
        return out.reshape(-1)

    # ---- measures ----

    def residual(self, gamma: Any = None) -> Record:
        """Returns the natural residual, m/s: `rms` over blocks, and `max`."""
        out = ffi.new("TalusResidual *")
        gamma = self._impulses(gamma)
        lib.talus_problem_residual(self._handle, c.pointer(gamma, "double *"), out)
        return Record(out)

    def objective(self, gamma: Any = None) -> float:
        """Returns 1/2 gamma'(N + E)gamma + q'gamma, J."""
        out = ffi.new("double *")
        gamma = self._impulses(gamma)
        check(lib.talus_problem_objective(self._handle, c.pointer(gamma, "double *"), out))
        return out[0]

    def measure(self, gamma: Any = None) -> Record:
        """Returns every figure of docs/reference/metrics.md: fields of TalusMetrics."""
        out = ffi.new("TalusMetrics *")
        gamma = self._impulses(gamma)
        check(lib.talus_problem_measure(self._handle, c.pointer(gamma, "double *"), out))
        return Record(out)

    def verify(self, program: str | os.PathLike | None = None) -> dict[str, Any]:
        """Returns the figures of the problem's impulses as `talus verify` recomputes them from raw data, with code that it
        does not share with the solvers. `program`: the program talus; by default that of the variable TALUS, or of PATH."""
        program = program or os.environ.get("TALUS") or shutil.which("talus")
        if program is None:
            raise FileNotFoundError("verify: there is no program talus in PATH; give its path as `program`")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "problem.talus")
            self.write(path)
            done = subprocess.run([program, "verify", path, path, "--json"], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        return json.loads(done.stdout)

    def states(self, gamma: Any = None) -> np.ndarray:
        """Returns the state of each block: 0 open, 1 sliding, 2 sticking."""
        gamma = self._impulses(gamma)
        data = c.pointer(gamma, "double *")
        return np.array([lib.talus_problem_state(self._handle, i, data) for i in range(self.blocks)], dtype=int)

    # ---- files ----

    def write(self, path: str | os.PathLike, form: str = "auto", title: str | None = None) -> None:
        """Writes the problem with its impulses: as FCLIB if the name ends in .hdf5 or .h5, else as a problem file.
        `form`: "auto", "global" or "local", of FCLIB. A problem that came from an FCLIB file is written as it was read,
        with the impulses as its solution."""
        path = os.fspath(path)
        if not path.endswith((".hdf5", ".h5")):
            check(lib.talus_problem_write(path.encode(), self._handle))
            return
        if self._fclib is not None and form == "auto":
            check(lib.talus_fclib_set_solution(self._fclib, self._handle, lib.talus_problem_gamma(self._handle)))
            check(lib.talus_fclib_write(path.encode(), self._fclib))
            return
        number = c.enumerator(ffi.typeof("TalusFclibForm"), form)
        name = (self.title if title is None else title).encode()
        out = ffi.new("TalusFclib **")
        check(lib.talus_fclib_from_problem_as(self._handle, number, name, out))
        fclib = ffi.gc(out[0], lib.talus_fclib_destroy)
        check(lib.talus_fclib_write(path.encode(), fclib))

    def __repr__(self) -> str:
        return f"Problem({self.blocks} blocks of {self.rows}, {self.body_count} bodies)"


class Solution:
    """What a solver made of a problem: `gamma` (a copy), `info` (fields of TalusSolveInfo) and `history`, a structured
    array with iteration, products, seconds and residual, if it was asked for."""

    def __init__(self, gamma: np.ndarray, info: Record, history: np.ndarray | None) -> None:
        self.gamma, self.info, self.history = gamma, info, history

    @property
    def converged(self) -> bool:
        """Whether the residual is within the tolerance."""
        return self.info.outcome == "converged"

    def plot(self, axes=None):
        """Draws the residual over the products; needs matplotlib."""
        from . import plots

        return plots.convergence({self.info.solver: self}, axes)

    def __repr__(self) -> str:
        info = self.info
        return f"Solution({info.outcome}, {info.iterations} iterations, residual {info.residual.rms:.3e} m/s)"


HISTORY = np.dtype([("iteration", "i4"), ("products", "i4"), ("seconds", "f8"), ("residual", "f8")])


def solve(
    problem: Problem,
    solver: str = "auto",
    tol: float = 1e-6,
    norm: str = "rms",
    max_iterations: int = 100_000,
    max_seconds: float = 0.0,
    start: Any = "problem",
    history: bool = False,
    observer: Observer | None = None,
    keep: bool = True,
    **options: Any,
) -> Solution:
    """Solves a problem and returns the solution.

    `solver`: NAME or NAME:key=value,...; solvers() lists them. `tol`: of the natural residual, m/s, in `norm` ("rms",
    "max" or "siconos"); 0 runs the whole budget. `start`: "problem" (its impulses), "zero" or an array. `history`: whether
    the residual is recomputed as the solve goes on, at each iterate that an observer sees. `observer(iteration, products,
    seconds, gamma)` is called at these; False, and nothing else, stops the solve. Ctrl-C stops it there as well. `keep`: whether the result stays in the
    problem's impulses, too. Other keywords are fields of TalusSolveOptions, such as outer=dict(kind="tresca").

    >>> problem = Problem.of_matrix([[2.0, 1.0], [1.0, 2.0]], [-1.0, -1.0], rows=1)
    >>> solution = solve(problem, "apgd", tol=1e-10, start="zero", history=True)
    >>> bool(solution.history["residual"][0] > solution.history["residual"][-1])
    True
    >>> solve(problem, "apdg")
    Traceback (most recent call last):
    ...
    talus.errors.ArgumentError: solver: no solver 'apdg'; did you mean 'apgd'?
    """
    c.listen()
    values = {"tolerance": tol, "norm": norm, "max_iterations": max_iterations, "max_seconds": max_seconds, **options}
    settings = c.fill(ffi.new("TalusSolveOptions *", lib.talus_solve_options_default()), values, c.Arena())
    handle = ffi.gc(c.create(lib.talus_solver_create, "TalusSolver", solver.encode()), lib.talus_solver_destroy)
    before = None if keep else problem.gamma.copy()
    if isinstance(start, str):
        if start not in ("problem", "zero"):
            raise ValueError(f"start: expected 'problem', 'zero' or an array, got {start!r}")
        if start == "zero":
            problem.gamma[:] = 0.0
    else:
        problem.gamma[:] = problem._impulses(start)
    watch = _Watch(problem, norm, history, observer)
    settings.observer = watch.callback  # without anything to see, too: signals such as Ctrl-C are raised in it
    info = ffi.new("TalusSolveInfo *")
    status = lib.talus_solver_solve(handle, problem._handle, settings, info)
    gamma = problem.gamma.copy()
    if before is not None:
        problem.gamma[:] = before
    watch.reraise()
    check(status)
    return Solution(gamma, Record(info), np.array(watch.rows, dtype=HISTORY) if history else None)


class _Watch:
    """The observer of a solve: keeps rows of its history and passes iterates on. An exception ends the solve."""

    def __init__(self, problem: Problem, norm: str, history: bool, observer: Observer | None) -> None:
        self.problem, self.norm, self.history, self.observer = problem, norm, history, observer
        self.rows: list[tuple] = []
        self.error: BaseException | None = None
        self.callback = ffi.callback("TalusObserver", self._see, error=False, onerror=self._keep_error)

    def _see(self, user, seen) -> bool:
        if self.history:
            self.rows.append((seen.iteration, seen.products, seen.seconds, self._residual(seen.gamma)))
        if self.observer is None:
            return True
        gamma = c.copy_array(seen.gamma, self.problem.size, "double")
        return self.observer(seen.iteration, seen.products, seen.seconds, gamma) is not False

    def _keep_error(self, kind, error, trace) -> None:
        """Keeps an exception, which must not pass through C, for reraise."""
        self.error = error

    def _residual(self, gamma) -> float:
        if self.norm == "siconos":
            metrics = ffi.new("TalusMetrics *")
            check(lib.talus_problem_measure(self.problem._handle, gamma, metrics))
            return metrics.siconos
        out = ffi.new("TalusResidual *")
        lib.talus_problem_residual(self.problem._handle, gamma, out)
        return getattr(out, self.norm)

    def reraise(self) -> None:
        if self.error is not None:
            raise self.error


def solvers(problem: Problem | None = None) -> dict[str, Record]:
    """Returns the table of solvers, by name: summary, reference, `accepts` in words, and what this build lacks (`missing`,
    "" if the solver is there). With a problem: those alone that are there and take it.

    >>> solvers()["apgd"].accepts
    'nonneg, ccp, fixed, coulomb, moments, joints'
    """
    rows = [ffi.new("TalusSolverRow *", lib.talus_solver_row(i)) for i in range(lib.talus_solver_count())]
    table = {c.text(row.name): Record(row) for row in rows}
    if problem is None:
        return table
    return {name: row for name, row in table.items() if not row.missing and _takes(name, problem)}


def _takes(name: str, problem: Problem) -> bool:
    handle = ffi.gc(c.create(lib.talus_solver_create, "TalusSolver", name.encode()), lib.talus_solver_destroy)
    return lib.talus_solver_supports(handle, problem._handle) == 0


def parameters(solver: str) -> list[str]:
    """Returns the parameters of a solver, a line each.

    >>> any(line.startswith("omega") for line in parameters("gs"))
    True
    """
    index = lib.talus_solver_find(solver.encode())
    if index < 0:
        raise ValueError(f"there is no solver {solver!r}{c.nearest(solver, solvers())}")
    lines: list[str] = []
    add = ffi.callback("void(void *, const char *)", lambda user, line: lines.append(c.text(line).strip()))
    lib.talus_solver_describe(index, add, ffi.NULL)
    return lines


def _stored(start, column, value, rows: int):
    """Returns copies of the arrays of compressed rows, as scipy.sparse takes them."""
    count = start[rows]
    return (
        c.copy_array(value, count, "double"),
        c.copy_array(column, count, "int32_t"),
        c.copy_array(start, rows + 1, "int32_t"),
    )


def _pool(threads: int):
    """Returns a pool of threads; NULL for one."""
    if threads == 1:
        return ffi.NULL
    return ffi.gc(c.create(lib.talus_pool_create, "TalusPool", threads), lib.talus_pool_destroy)


def _check_symmetry(N: Any) -> None:
    """Raises ValueError if a matrix differs from its transpose by more than rounding."""
    matrix = N.tocsr() if hasattr(N, "tocsr") else np.asarray(N, dtype=float)
    largest = abs(matrix).max() if matrix.shape[0] else 0.0
    if largest and abs(matrix - matrix.T).max() > 1e-10 * largest:
        raise ValueError("N: is not symmetric, which it must be unless all friction is Coulomb's")


def _compressed(N: Any, size: int):
    """Returns the arrays of compressed rows of a matrix, dense or sparse."""
    if hasattr(N, "tocsr"):
        matrix = N.tocsr().copy()
        matrix.sum_duplicates()
        matrix.sort_indices()
        shape, arrays = matrix.shape, (matrix.indptr, matrix.indices, matrix.data)
    else:
        dense = np.asarray(N, dtype=float)
        shape = dense.shape
        row, column = np.nonzero(dense) if dense.ndim == 2 else ((), ())
        start = np.searchsorted(row, np.arange(size + 1)) if dense.ndim == 2 else ()
        arrays = (start, column, dense[row, column] if dense.ndim == 2 else ())
    if shape != (size, size):
        raise ValueError(f"N: expected shape ({size}, {size}), that of q; got {shape}")
    start, column, values = arrays
    return start.astype(np.int32), column.astype(np.int32), values.astype(float)

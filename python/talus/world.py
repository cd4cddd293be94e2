"""Worlds: bodies, materials and the time step."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from . import _library as c
from ._library import Record, check, ffi, lib
from .problem import Problem
from .snapshot import Snapshot

_BODY_FIELDS = {
    "id": "TalusBodyId",
    "position": "TalusVec3",
    "velocity": "TalusVec3",
    "spin": "TalusVec3",
    "orientation": "TalusQuat",
    "radius": "double",
    "mass": "double",
    "shape": "int",
    "material": "int",
    "tag": "int",
    "fixed": "_Bool",
    "dissipated": "double",
}
_VIEW_FIELDS = ("id", "position", "velocity", "spin", "orientation", "radius", "mass", "shape", "material", "tag")
_VIEW_TYPES = {**_BODY_FIELDS, "id": "uint64_t"}

StepCallback = Callable[["World", Record], Any]
SolveFunction = Callable[[Problem, Record], Any]


class Bodies:
    """Arrays over the living bodies: attributes `id`, `position`, `velocity`, `spin`, `orientation` (w, x, y, z), `radius`,
    `mass`, `shape`, `material`, `tag`, `fixed` and `dissipated`, as far as they were asked for."""

    def __init__(self, arrays: Mapping[str, np.ndarray]) -> None:
        self.__dict__.update(arrays)

    def __len__(self) -> int:
        return len(next(iter(self.__dict__.values()), ()))

    def as_frame(self):
        """Returns a table of pandas: a column per number, such as position_x."""
        import pandas

        columns: dict[str, np.ndarray] = {}
        for name, values in self.__dict__.items():
            if values.ndim == 1:
                columns[name] = values
            else:
                letters = "wxyz" if values.shape[1] == 4 else "xyz"
                columns.update({f"{name}_{letter}": values[:, i] for i, letter in enumerate(letters)})
        return pandas.DataFrame(columns)

    def __repr__(self) -> str:
        return f"Bodies({len(self)}: {', '.join(self.__dict__)})"


class _View:
    """The world's own arrays: `world.view().position` and so on. See World.view."""

    def __init__(self, world: World) -> None:
        self._world = world

    def __getattr__(self, name: str) -> np.ndarray:
        if name not in _VIEW_FIELDS:
            raise AttributeError(f"a view has {', '.join(_VIEW_FIELDS)}{c.nearest(name, _VIEW_FIELDS)}")
        rows = ffi.new("TalusBodyRows *")
        check(lib.talus_world_view_bodies(self._world._reading(), rows))
        loan = self._world._loans.new(self._world)
        return c.view_array(getattr(rows, name), rows.count, _VIEW_TYPES[name], loan)


class World:
    """Rigid bodies in frictional contact, and the step that moves them.

    Keywords are the fields of TalusWorldDef (include/talus/world.h); others keep the library's defaults. A friction law is
    a word or two: "coulomb", "ccp", "coulomb polygon:8", "none".

    >>> world = World(step=0.005, threads=1)
    >>> floor = world.add_bodies("plane", [0, 0, 0], fixed=True)
    >>> balls = world.add_bodies("sphere", [[0, 0, 0.1], [0, 0, 0.31]], radius=0.1)
    >>> info = world.run(0.5)
    >>> info.contacts, bool(abs(world.position[1][2] - 0.1) < 1e-3)
    (2, True)

    A wrong keyword or value is told by its name:

    >>> World(gravety=(0, 0, 0))
    Traceback (most recent call last):
    ...
    TypeError: there is no 'gravety' among gravity, ... did you mean gravity?
    """

    def __init__(self, *, relaxed: bool = False, **options: Any) -> None:
        """Creates a world with the default material. `relaxed`: defaults of talus_world_def_relaxed, rigid contacts under
        the convex relaxation."""
        c.listen()
        arena = c.Arena()
        make = lib.talus_world_def_relaxed if relaxed else lib.talus_world_def_default
        definition = c.fill(ffi.new("TalusWorldDef *", make()), options, arena)
        self._adopt(c.create(lib.talus_world_create, "TalusWorld", definition))

    def _adopt(self, pointer) -> None:
        self._handle = ffi.gc(pointer, lib.talus_world_destroy)
        self._loans = c.Loans()
        self._busy = False
        self._outside: _Outside | None = None
        self._built = -1  # number of steps when the last problem was built
        self.until: float | None = None
        self.names: dict[str, np.ndarray] = {}
        lib.talus_world_set_log(pointer, c.log_function, ffi.NULL)

    @classmethod
    def _of(cls, pointer) -> World:
        world = cls.__new__(cls)
        world._adopt(pointer)
        return world

    def _changing(self):
        """Returns the handle for a call that may move the arrays; refuses while an array of a view is in use."""
        self._loans.refuse("view()")
        return self._reading()

    def _reading(self):
        """Returns the handle for a call; refuses while another thread steps the world."""
        if self._busy:
            raise RuntimeError("a step of this world is going on, in another thread or around this callback")
        return self._handle

    # ---- what the world consists of ----

    def add_material(self, name: str = "", **properties: Any) -> int:
        """Adds a material and returns its index. Keywords: fields of TalusMaterialDef, such as friction and density.

        >>> World().add_material("steel", friction=0.2, density=7800)
        1
        """
        arena, index = c.Arena(), ffi.new("int *")
        definition = ffi.new("TalusMaterialDef *", lib.talus_material_def_default())
        c.fill(definition, {"name": name, **properties}, arena)
        check(lib.talus_world_add_material(self._handle, definition, index))
        return index[0]

    def material(self, index: int) -> Record:
        """Returns a material."""
        definition = lib.talus_world_material(self._handle, self._material_index(index))
        return Record(ffi.new("TalusMaterialDef *", definition), self)

    def _material_index(self, index: int) -> int:
        count = lib.talus_world_material_count(self._handle)
        if not 0 <= index < count:
            raise IndexError(f"there are {count} materials")
        return index

    def set_material(self, index: int, **properties: Any) -> None:
        """Changes properties of a material, from the next step on."""
        definition = ffi.new("TalusMaterialDef *", lib.talus_world_material(self._handle, self._material_index(index)))
        c.fill(definition, properties, c.Arena())
        check(lib.talus_world_set_material(self._handle, index, definition))

    def find_material(self, name: str) -> int:
        """Returns the index of the first material of a name."""
        index = ffi.new("int *")
        check(lib.talus_world_find_material(self._handle, name.encode(), index))
        return index[0]

    def set_gravity(self, gravity: Sequence[float]) -> None:
        """Sets gravity, m/s2, from the next step on."""
        check(lib.talus_world_set_gravity(self._handle, c.vec3(gravity)))

    def set_step(self, step: float) -> None:
        """Sets the length of steps, s."""
        check(lib.talus_world_set_step(self._handle, step))

    def set_pair(self, material_a: int, material_b: int, **properties: Any) -> None:
        """Sets properties of a pair of materials: friction, restitution, spinning, rolling, cohesion, model."""
        definition = ffi.new("TalusPairDef *", lib.talus_pair_def_default())
        definition.own_model = "model" in properties
        c.fill(definition, properties, c.Arena())
        check(lib.talus_world_set_pair(self._handle, material_a, material_b, definition))

    def add_shape(self, kind: str, **properties: Any) -> int:
        """Adds a shape and returns its index. Keywords: fields of TalusShapeDef; arrays bring their counts with them.

        >>> world = World()
        >>> world.add_shape("box", half=(0.1, 0.1, 0.2))
        0
        >>> world.add_shape("hull", vertex=[[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
        1
        """
        index = ffi.new("int *")
        arena = c.Arena()
        check(lib.talus_world_add_shape(self._handle, _shape_def({"kind": kind, **properties}, arena), index))
        return index[0]

    def add_bodies(self, shape: Any, position: Any, **properties: Any) -> np.ndarray:
        """Adds bodies, all or none, and returns their ids.

        `shape`: an index of add_shape, a kind ("sphere", "plane"), or a dictionary with the keywords of add_shape.
        `position`: one point, or an array of them. Keywords: fields of TalusBodyBatch; `velocity`, `spin`, `orientation`
        (w, x, y, z) and `radius` are one value for all bodies or an array of one for each.

        >>> world = World()
        >>> world.add_bodies({"kind": "box", "half": (0.1, 0.1, 0.1)}, [[0, 0, 1], [0, 0, 2]], density=2600)
        array([1, 2], dtype=uint64)
        """
        position = np.atleast_2d(np.asarray(position, dtype=float))
        if position.ndim != 2 or position.shape[1] != 3:
            raise ValueError(f"position: expected a point or an array of shape (n, 3), got {position.shape}")
        count = len(position)
        batch = ffi.new("TalusBodyBatch *", lib.talus_body_batch_default())
        arrays = {"position": position}
        for name, width in (("orientation", 4), ("velocity", 3), ("spin", 3), ("radius", None)):
            if properties.get(name) is not None:
                wanted = (count, width) if width else (count,)
                arrays[name] = _spread(name, properties.pop(name), wanted)
        if isinstance(shape, str):
            shape = {"kind": shape}
        if isinstance(shape, Mapping):
            if shape.get("kind") == "sphere" and "radius" not in shape and "radius" in arrays:
                shape = {**shape, "radius": float(arrays["radius"].flat[0]) if count else 1.0}
            shape = self.add_shape(**shape)
        ids = np.empty(count, dtype=np.uint64)
        arena = c.Arena()
        c.fill(batch, {**properties, **arrays, "count": count, "shape": shape}, arena)
        check(lib.talus_world_add_bodies(self._changing(), batch, c.pointer(ids, "TalusBodyId *")))
        return ids

    def remove_body(self, body: int) -> None:
        """Removes a body with its joints."""
        check(lib.talus_world_remove_body(self._changing(), (int(body),)))

    def set_velocity(self, body: int, velocity: Sequence[float], spin: Sequence[float] = (0, 0, 0)) -> None:
        """Sets velocity, m/s, and spin, rad/s, of a free or sleeping body."""
        check(lib.talus_world_set_velocity(self._handle, (int(body),), c.vec3(velocity), c.vec3(spin)))

    def body(self, body: int) -> Record:
        """Returns one body: fields of TalusBody.

        >>> world = World()
        >>> [ball] = world.add_bodies("sphere", [1, 2, 3], radius=0.1, tag=7)
        >>> world.body(ball).position, world.body(ball).motion, world.body(ball).tag
        ((1.0, 2.0, 3.0), 'free', 7)
        """
        out = ffi.new("TalusBody *")
        check(lib.talus_world_get_body(self._handle, (int(body),), out))
        return Record(out)

    def __contains__(self, body: int) -> bool:
        return lib.talus_world_has_body(self._handle, (int(body),))

    def set_pose(self, body: int, position: Sequence[float], orientation: Sequence[float] = (1, 0, 0, 0)) -> None:
        """Moves a body, fixed ones too, to a position, m, and an orientation, w, x, y, z; velocities stay."""
        quaternion = ffi.new("TalusQuat *", tuple(map(float, orientation)))[0]
        check(lib.talus_world_set_pose(self._handle, (int(body),), c.vec3(position), quaternion))

    def set_state(self, ids: Any = None, **arrays: Any) -> None:
        """Sets `position`, `velocity`, `spin` or `orientation` of many bodies, all or none: of those in `ids`, or of all in
        the order of bodies(). Driven bodies are refused; fixed ones keep velocity 0.

        >>> world = World()
        >>> ids = world.add_bodies("sphere", [[0, 0, 0], [1, 0, 0]], radius=0.1)
        >>> world.set_state(ids, velocity=[[0, 0, 1], [0, 0, 2]])
        >>> world.velocity[:, 2].tolist()
        [1.0, 2.0]
        """
        widths = {"position": 3, "velocity": 3, "spin": 3, "orientation": 4}
        count = len(self) if ids is None else len(ids)
        fields: dict[str, Any] = {} if ids is None else {"id": np.asarray(ids, dtype=np.uint64)}
        for name, values in arrays.items():
            if name not in widths:
                raise TypeError(f"there is no {name!r} among {', '.join(widths)}{c.nearest(name, widths)}")
            fields[name] = _spread(name, values, (count, widths[name]))
        arena = c.Arena()
        check(lib.talus_world_set_state(self._changing(), c.fill(ffi.new("TalusBodyState *"), fields, arena), count))

    def add_impulse(self, body: int, impulse: Sequence[float], point: Sequence[float]) -> None:
        """Changes the velocities of a free or sleeping body at once by an impulse, N s, at a point, m."""
        check(lib.talus_world_add_impulse(self._handle, (int(body),), c.vec3(impulse), c.vec3(point)))

    def fix(self, body: int) -> None:
        """Makes a body fixed where it is."""
        check(lib.talus_world_fix_body(self._handle, (int(body),)))

    def release(self, body: int, mass: float = 0.0) -> None:
        """Makes a fixed or driven body free; `mass`, kg, or 0: by the density of its material."""
        check(lib.talus_world_release_body(self._handle, (int(body),), mass))

    def set_force(self, body: int, force: Sequence[float], torque: Sequence[float] = (0, 0, 0)) -> None:
        """Sets the force, N, and the torque, N m, on a free or sleeping body, until they are set again."""
        check(lib.talus_world_set_force(self._handle, (int(body),), c.vec3(force), c.vec3(torque)))

    def set_drive(self, body: int, **motion: Any) -> None:
        """Gives a fixed body a prescribed motion: keywords are fields of TalusDriveDef. Without keywords it stops."""
        if not motion:
            check(lib.talus_world_set_drive(self._handle, (int(body),), ffi.NULL))
            return
        definition = c.fill(ffi.new("TalusDriveDef *", lib.talus_drive_def_default()), motion, c.Arena())
        check(lib.talus_world_set_drive(self._handle, (int(body),), definition))

    def add_joint(self, kind: str, a: int = 0, b: int = 0, **properties: Any) -> int:
        """Adds a joint of body a and body b (0: the fixed world) and returns its number. Keywords: fields of TalusJointDef.

        >>> world = World()
        >>> [bob] = world.add_bodies("sphere", [1, 0, 0], radius=0.1)
        >>> world.add_joint("ball", bob, point=(0, 0, 0))
        1
        """
        definition = ffi.new("TalusJointDef *", lib.talus_joint_def_default())
        joint = ffi.new("TalusJointId *")
        arena = c.Arena()
        c.fill(definition, {"kind": kind, "a": int(a), "b": int(b), **properties}, arena)
        check(lib.talus_world_add_joint(self._handle, definition, joint))
        return joint.number

    def find_joint(self, name: str) -> int:
        """Returns the number of the first joint of a name."""
        joint = ffi.new("TalusJointId *")
        check(lib.talus_world_find_joint(self._handle, name.encode(), joint))
        return joint.number

    def joint(self, number: int) -> Record:
        """Returns the state of a joint after the last step."""
        state = ffi.new("TalusJointState *")
        check(lib.talus_world_get_joint(self._handle, (number,), state))
        return Record(state)

    def set_motor(self, joint: int, kind: str = "none", **properties: Any) -> None:
        """Replaces the motor of a joint: keywords are fields of TalusMotorDef."""
        motor = ffi.new("TalusMotorDef *", {"max_effort": float("inf")})
        c.fill(motor, {"kind": kind, **properties}, c.Arena())
        check(lib.talus_world_set_motor(self._handle, (joint,), motor))

    def add_emitter(self, **properties: Any) -> None:
        """Adds a source of spheres: keywords are fields of TalusEmitterDef; `sizes` a dictionary for TalusSizeDef."""
        arena = c.Arena()
        definition = ffi.new("TalusEmitterDef *", lib.talus_emitter_def_default())
        sizes = properties.pop("sizes", None)
        if sizes is not None:
            size = arena.keep(ffi.new("TalusSizeDef *", lib.talus_size_def_default()))
            definition.sizes = c.fill(size, sizes, arena)
        check(lib.talus_world_add_emitter(self._changing(), c.fill(definition, properties, arena)))

    def add_sink(self, axis: int, below: float, name: str | None = None) -> None:
        """Adds a sink: bodies with a coordinate along `axis` below `below` are removed."""
        if name is None:
            check(lib.talus_world_add_sink(self._handle, axis, below))
        else:
            check(lib.talus_world_add_named_sink(self._handle, name.encode(), axis, below))

    def add_probe(self, name: str, kind: str, **properties: Any) -> int:
        """Adds a probe of kind "body", "region" or "plane" and returns its index; keywords: fields of TalusProbeDef."""
        arena, index = c.Arena(), ffi.new("int *")
        definition = c.fill(ffi.new("TalusProbeDef *"), {"name": name, "kind": kind, **properties}, arena)
        check(lib.talus_world_add_probe(self._handle, definition, index))
        return index[0]

    def probe(self, probe: int | str) -> Record:
        """Returns what a probe, by index or name, has measured in the last step: fields of TalusProbeValue."""
        count = lib.talus_world_probe_count(self._handle)
        names = [c.text(lib.talus_world_probe_name(self._handle, i)) for i in range(count)]
        if isinstance(probe, str):
            if probe not in names:
                raise KeyError(f"there is no probe {probe!r} among {', '.join(names)}{c.nearest(probe, names)}")
            probe = names.index(probe)
        if not 0 <= probe < count:
            raise IndexError(f"there are {count} probes")
        return Record(ffi.new("TalusProbeValue *", lib.talus_world_probe_value(self._handle, probe)))

    # ---- steps ----

    def step(self, count: int = 1) -> Record | None:
        """Makes `count` steps and returns what the last one did: fields of TalusStepInfo. Other threads of Python run
        meanwhile."""
        info = None
        for _ in range(count):
            info = self._advance(lib.talus_world_step)
        return None if info is None else Record(info)

    def _advance(self, make, *arguments):
        """Makes a step by a function of the library and returns its TalusStepInfo."""
        handle, info = self._changing(), ffi.new("TalusStepInfo *")
        self._busy = True
        try:
            status = make(handle, *arguments, info)
        finally:
            self._busy = False
        if status and self._outside is not None:
            self._outside.reraise()
        check(status)
        return info

    def step_to(self, time: float) -> Record:
        """Makes one step towards a time, shortened where whole steps would pass it."""
        return Record(self._advance(lib.talus_world_step_to, time))

    def run(self, until: float | None = None, on_step: StepCallback | None = None) -> Record | None:
        """Makes steps until a time, s, and returns what the last one did. `until` None: the end of the scene.

        `on_step(world, info)` is called after each step. It may change the world; False, and nothing else, ends the run.

        >>> world = World(gravity=(0, 0, -10), step=0.1)
        >>> ball = world.add_bodies("sphere", [0, 0, 0], radius=0.1)
        >>> heights = []
        >>> info = world.run(0.5, on_step=lambda world, info: heights.append(world.position[0, 2]))
        >>> [round(float(z), 3) for z in heights]
        [-0.1, -0.3, -0.6, -1.0, -1.5]
        """
        until = self.until if until is None else until
        if until is None:
            raise ValueError("until: this world is of no scene and has no end; give a time")
        info = None
        while lib.talus_world_next_length(self._handle, until) > 0:
            info = self.step_to(until)
            if on_step is not None and on_step(self, info) is False:
                break
        return info

    # ---- solvers ----

    def set_solver(self, solver: str | SolveFunction | None) -> None:
        """Sets what solves the problems of steps: a solver of the library, NAME or NAME:key=value,..., or a function.

        `function(problem, options)` is called for each contact problem of a step, with the impulses to start from in
        problem.gamma. It leaves the result there and returns None, or returns the impulses, or a dictionary that may have
        `gamma`, `iterations`, `products`, `updates` and `factorisations`. `options` has tolerance, norm and max_iterations.
        The problem is lent for the time of the call. An exception makes the step fail, with the world as before. None: the
        world's own solver again.

        >>> from talus import solve
        >>> world = World(threads=1)
        >>> floor = world.add_bodies("plane", [0, 0, 0], fixed=True)
        >>> ball = world.add_bodies("sphere", [0, 0, 0.1], radius=0.1, mass=1.0)
        >>> def jacobi(problem, options):
        ...     for k in range(options.max_iterations):
        ...         d = np.repeat(problem.scale, problem.rows)
        ...         problem.gamma[:] = problem.project(problem.gamma - 0.5 * problem.gradient() / d)
        ...         if problem.residual().rms < options.tolerance:
        ...             break
        ...     return {"iterations": k + 1}
        >>> world.set_solver(jacobi)
        >>> info = world.step(10)
        >>> info.solve.solver, info.solve.outcome, bool(abs(world.position[1, 2] - 0.1) < 1e-4)
        ('outside', 'converged', True)
        """
        if isinstance(solver, str):
            check(lib.talus_world_set_solver(self._handle, solver.encode()))
            solver = None
        outside = None if solver is None else _Outside(solver)
        function = ffi.NULL if outside is None else outside.callback
        check(lib.talus_world_set_outside_solver(self._handle, function, ffi.NULL))
        self._outside = outside

    def step_with(self, gamma: Any) -> Record:
        """Makes the step whose problem problem() gave, with these impulses as the result of its first solve. The world must
        not have changed since."""
        if self._built != self.steps:
            raise RuntimeError("step_with: the world has made steps since its problem was built: call problem() before")
        gamma = np.ascontiguousarray(gamma, dtype=float)
        return Record(self._advance(lib.talus_world_step_with, c.pointer(gamma, "double *"), gamma.size))

    def problem(self, threads: int = 1) -> Problem:
        """Returns a copy of the contact problem of the next step: bodies, contacts and the impulses at the start."""
        out = ffi.new("TalusProblem **")
        check(lib.talus_world_build(self._changing(), out))
        self._built = self.steps
        return Problem._copy_of(out[0], threads)

    def set_accuracy(self, tolerance: float, max_iterations: int) -> None:
        """Sets tolerance and budget from the next step on."""
        check(lib.talus_world_set_accuracy(self._handle, tolerance, max_iterations))

    # ---- what the world is like ----

    def __len__(self) -> int:
        return lib.talus_world_body_count(self._handle)

    def bodies(self, *names: str) -> Bodies:
        """Returns copies of the arrays of living bodies: of those named, or all.

        >>> world = World()
        >>> ids = world.add_bodies("sphere", [[0, 0, 0], [1, 0, 0]], radius=[0.1, 0.2])
        >>> world.bodies("id", "radius").radius
        array([0.1, 0.2])
        """
        names = names or tuple(_BODY_FIELDS)
        state, arrays = ffi.new("TalusBodyState *"), {}
        for name in names:
            if name not in _BODY_FIELDS:
                raise AttributeError(f"bodies have {', '.join(_BODY_FIELDS)}{c.nearest(name, _BODY_FIELDS)}")
            kind = _BODY_FIELDS[name]
            arrays[name] = np.empty(len(self), dtype=c.dtype_of(kind))
            setattr(state, name, c.pointer(arrays[name], f"{kind} *"))
        check(lib.talus_world_get_state(self._reading(), state))
        return Bodies(arrays)

    def view(self) -> _View:
        """Returns the world's own arrays of bodies, read only and without a copy: attributes as those of bodies(), but for
        `fixed` and `dissipated`. A row with shape < 0 is no body: there are such rows after bodies were removed.

        While an array of it is in use, the world refuses to step or to change (BufferError), because its memory may move.

        >>> world = World()
        >>> ids = world.add_bodies("sphere", [[0, 0, 1], [0, 0, 2]], radius=0.1)
        >>> float(world.view().position[:, 2].mean())
        1.5
        >>> z = world.view().position
        >>> world.step()
        Traceback (most recent call last):
        ...
        BufferError: an array of view() is still in use: copy it, or drop it by del, before it changes
        >>> del z
        >>> info = world.step()
        """
        return _View(self)

    @property
    def id(self) -> np.ndarray:
        """Ids of the living bodies."""
        return self.bodies("id").id

    @property
    def position(self) -> np.ndarray:
        """Positions of the living bodies, m: a copy."""
        return self.bodies("position").position

    @property
    def velocity(self) -> np.ndarray:
        """Velocities of the living bodies, m/s: a copy."""
        return self.bodies("velocity").velocity

    @property
    def orientation(self) -> np.ndarray:
        """Orientations of the living bodies, unit quaternions w, x, y, z: a copy."""
        return self.bodies("orientation").orientation

    def contacts(self, least: float | None = None) -> np.ndarray:
        """Returns the contacts of the last step, or of those only whose normal impulse exceeds `least`, N s: a structured
        array with the fields of TalusContactState.

        >>> world = World(threads=1)
        >>> floor = world.add_bodies("plane", [0, 0, 0], fixed=True)
        >>> ball = world.add_bodies("sphere", [0, 0, 0.1], radius=0.1, mass=2.0)
        >>> info = world.step(100)
        >>> contacts = world.contacts()
        >>> contacts.dtype.names
        ('a', 'b', 'point', 'normal', 'impulse', 'gap', 'branch_a', 'branch_b')
        >>> force = float(abs(contacts["impulse"][0, 2]) / info.length)
        >>> abs(force / (2.0 * 9.81) - 1) < 0.02
        True
        """
        least = -float("inf") if least is None else least
        count = lib.talus_world_get_strong_contacts(self._reading(), least, ffi.NULL, 0)
        out = np.empty(count, dtype=c.dtype_of("TalusContactState"))
        lib.talus_world_get_strong_contacts(self._handle, least, c.pointer(out, "TalusContactState *"), count)
        return out

    def forces(self) -> tuple[np.ndarray, np.ndarray]:
        """Returns, of each living body, the sum of the normal forces of its contacts, N, and the number of its loaded
        contacts."""
        force, touching = np.empty(len(self)), np.empty(len(self), dtype=np.int32)
        summary = ffi.new("TalusForceSummary *")
        arrays = c.pointer(force, "double *"), c.pointer(touching, "int *")
        check(lib.talus_world_get_forces(self._handle, *arrays, summary))
        return force, touching

    def watch(self) -> Watch:
        """Returns a watch, which tells contacts that begin, persist and end."""
        return Watch(self)

    # ---- rays ----

    def cast(
        self, start: Any, direction: Any, length: Any = np.inf, radius: Any = 0.0, **which: Any
    ) -> np.ndarray:
        """Returns the first body that each ray, or moving sphere of a radius, meets: a structured array with `body` (0:
        none), `distance`, `point` and `normal`. Points and directions are one, or arrays of shape (n, 3). Keywords say which
        bodies count: fields of TalusQueryFilter, such as ignore=5 or fixed=False.

        >>> world = World()
        >>> [ball] = world.add_bodies("sphere", [0, 0, 5], radius=1.0)
        >>> hit = world.cast([[0, 0, 0], [3, 0, 0]], (0, 0, 1))
        >>> hit["body"].tolist(), hit["distance"].round(5).tolist()
        ([1, 0], [4.0, 0.0])
        """
        start, direction = np.broadcast_arrays(np.atleast_2d(np.asarray(start, float)), np.asarray(direction, float))
        rays = np.zeros(len(start), dtype=c.dtype_of("TalusRay"))
        rays["from"], rays["direction"], rays["length"], rays["radius"] = start, direction, length, radius
        hits = np.zeros(len(rays), dtype=c.dtype_of("TalusHit"))
        arrays = c.pointer(rays, "TalusRay *"), len(rays), c.pointer(hits, "TalusHit *")
        check(lib.talus_world_cast(self._reading(), _filter(which), *arrays))
        return hits

    def overlapping(self, centre: Sequence[float], radius: float = 0.0, **which: Any) -> np.ndarray:
        """Returns the ids of the bodies that a sphere touches or overlaps; of radius 0, that contain the point. Keywords as
        of cast().

        >>> world = World()
        >>> balls = world.add_bodies("sphere", [[0, 0, 0], [3, 0, 0]], radius=1.0)
        >>> world.overlapping((1.4, 0, 0), 0.5).tolist()
        [1]
        """
        count, definition = ffi.new("int64_t *"), _filter(which)
        ids = np.empty(len(self), dtype=np.uint64)
        data = c.pointer(ids, "TalusBodyId *")
        check(lib.talus_world_overlap(self._reading(), definition, c.vec3(centre), radius, data, len(ids), count))
        return ids[: count[0]].copy()

    def snapshot(self) -> Snapshot:
        """Returns the present state, with contacts, to be measured: see talus.Snapshot."""
        return Snapshot._of_world(self)

    def overlap(self) -> Record:
        """Returns the worst overlap of two bodies in the present state: fields of TalusOverlap."""
        out = ffi.new("TalusOverlap *")
        check(lib.talus_world_worst_overlap(self._handle, out))
        return Record(out)

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return lib.talus_world_time(self._handle)

    @property
    def steps(self) -> int:
        """Steps completed."""
        return lib.talus_world_steps(self._handle)

    @property
    def step_length(self) -> float:
        """Length of a step, s."""
        return lib.talus_world_step_length(self._handle)

    @property
    def gravity(self) -> tuple[float, float, float]:
        """Gravity, m/s2."""
        g = lib.talus_world_gravity(self._handle)
        return g.x, g.y, g.z

    @property
    def threads(self) -> int:
        """Number of threads."""
        return lib.talus_world_threads(self._handle)

    @property
    def hash(self) -> str:
        """Hash of the dynamic state: 16 digits, as `talus run` prints it."""
        return f"{lib.talus_world_hash(self._handle):016x}"

    # ---- saved states ----

    def save(self, path: str | os.PathLike | None = None) -> bytes:
        """Returns the whole state as bytes, and writes them to a file if a path is given. A world loaded from them makes
        the same steps, bit for bit."""
        data, size = ffi.new("void **"), ffi.new("size_t *")
        check(lib.talus_world_save(self._handle, data, size))
        try:
            state = bytes(ffi.buffer(data[0], size[0]))
        finally:
            lib.talus_free(data[0])
        if path is not None:
            Path(path).write_bytes(state)
        return state

    @classmethod
    def load(cls, state: bytes | str | os.PathLike, threads: int = 0, backend: str | None = None) -> World:
        """Returns a world from the bytes of save(), or from a file that has them.

        >>> world = World()
        >>> ids = world.add_bodies("sphere", [0, 0, 1], radius=0.1)
        >>> again = World.load(world.save())
        >>> again.hash == world.hash
        True
        """
        c.listen()
        data = state if isinstance(state, (bytes, bytearray, memoryview)) else Path(state).read_bytes()
        name = ffi.NULL if backend is None else backend.encode()
        buffer = ffi.from_buffer(data)
        return cls._of(c.create(lib.talus_world_load, "TalusWorld", buffer, len(data), threads, name))

    def __repr__(self) -> str:
        return f"World({len(self)} bodies, t = {self.time:g} s, {self.steps} steps)"


class Watch:
    """Tells which contacts have begun, persisted or ended since it was last asked.

    >>> world = World(threads=1)
    >>> floor = world.add_bodies("plane", [0, 0, 0], fixed=True)
    >>> ball = world.add_bodies("sphere", [0, 0, 0.2], radius=0.1)
    >>> watch, seen = world.watch(), []
    >>> info = world.run(0.5, on_step=lambda world, info: seen.extend(watch.events()["change"].tolist()))
    >>> seen[0] == Watch.BEGINS, Watch.PERSISTS in seen
    (True, True)
    """

    BEGINS, PERSISTS, ENDS = 0, 1, 2

    def __init__(self, world: World) -> None:
        self._world = world
        self._handle = ffi.gc(c.create(lib.talus_watch_create, "TalusWatch"), lib.talus_watch_destroy)

    def events(self) -> np.ndarray:
        """Returns the changes since the last call: a structured array with `change` (BEGINS, PERSISTS or ENDS), `feature`
        and `state`, the contact."""
        event, count = ffi.new("TalusContactEvent **"), ffi.new("int64_t *")
        check(lib.talus_watch_update(self._handle, self._world._reading(), event, count))
        if not count[0]:
            return np.empty(0, dtype=c.dtype_of("TalusContactEvent"))
        return c.copy_array(event[0], count[0], "TalusContactEvent")


def _filter(which: Mapping[str, Any]):
    """Returns a TalusQueryFilter."""
    return c.fill(ffi.new("TalusQueryFilter *", lib.talus_query_filter_default()), which, c.Arena())


class _Outside:
    """A solver written in Python, as the library calls it."""

    def __init__(self, function: SolveFunction) -> None:
        self.function = function
        self.error: BaseException | None = None
        failed = lib.TALUS_ERR_CANCELLED
        self.callback = ffi.callback("TalusSolveFn", self._solve, error=failed, onerror=self._keep_error)

    def _solve(self, user, pointer, options, info) -> int:
        with Problem._lent(pointer) as problem:
            _take_result(problem, self.function(problem, Record(options)), info)
        return lib.TALUS_OK

    def _keep_error(self, kind, error, trace) -> None:
        """Keeps an exception, which must not pass through C, for reraise."""
        self.error = error

    def reraise(self) -> None:
        error, self.error = self.error, None
        if error is not None:
            raise error


_REPORTED = ("iterations", "products", "updates", "factorisations")


def _take_result(problem: Problem, result: Any, info) -> None:
    """Stores what a solver of Python returned: nothing, impulses, or a dictionary."""
    report = dict(result) if isinstance(result, Mapping) else {"gamma": result}
    gamma = report.pop("gamma", None)
    if gamma is not None:
        problem.gamma = problem._impulses(gamma)
    for name, value in report.items():
        if name not in _REPORTED:
            raise TypeError(f"a solver reports gamma, {', '.join(_REPORTED)}, not {name!r}{c.nearest(name, _REPORTED)}")
        setattr(info, name, int(value))


def _spread(name: str, value: Any, shape: tuple) -> np.ndarray:
    """Returns one value per body."""
    try:
        return np.ascontiguousarray(np.broadcast_to(np.asarray(value, dtype=float), shape))
    except ValueError:
        raise ValueError(f"{name}: expected one value or {shape[0]} of them, got shape {np.shape(value)}") from None


_COUNTS = {"profile": "point_count", "vertex": "vertex_count", "triangle": "triangle_count"}


def _shape_def(properties: Mapping[str, Any], arena: c.Arena):
    """Returns a TalusShapeDef, which lives as long as the arena."""
    values = dict(properties)
    definition = arena.keep(ffi.new("TalusShapeDef *"))
    for name, count in _COUNTS.items():
        if values.get(name) is not None:
            values[name] = np.asarray(values[name])
            values.setdefault(count, len(values[name]))
    if values.get("height") is not None:
        values["height"] = np.asarray(values["height"], dtype=float)
        values["rows"], values["columns"] = values["height"].shape
    parts = values.pop("part", None)
    if parts is not None:
        array = arena.keep(ffi.new("TalusShapePart[]", len(parts)))
        for place, part in zip(array, parts):
            part = dict(part)
            place.position = c.vec3(part.pop("position", (0, 0, 0)))
            place.orientation = tuple(part.pop("orientation", (1, 0, 0, 0)))
            place.shape = _shape_def(part, arena)
        definition.part, definition.part_count = array, len(parts)
    return c.fill(definition, values, arena)

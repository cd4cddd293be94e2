"""Snapshots: bodies and contacts at one time, from a world or from a run's frames, and what is measured of them."""

from __future__ import annotations

from typing import Any, Iterable, Sequence

import numpy as np

from . import _library as c
from ._library import Record, check, ffi, lib

_FIELDS = {
    "id": "uint64_t",
    "position": "TalusVec3",
    "velocity": "TalusVec3",
    "spin": "TalusVec3",
    "orientation": "TalusQuat",
    "speed": "double",
    "radius": "double",
    "mass": "double",
    "dissipated": "double",
    "force": "double",
    "touching": "int",
    "shape": "int",
    "material": "int",
    "tag": "int",
    "layer": "int",
    "fixed": "_Bool",
}
Box = Sequence[Sequence[float]]  # lowest and highest corner


class Snapshot:
    """Bodies and contacts at one time, as arrays: `id`, `position`, `velocity`, `spin`, `orientation`, `speed`, `radius`,
    `mass`, `force`, `touching`, `shape`, `material`, `tag`, `fixed`, `contacts`. An array that was not stored is None.

    The arrays are the library's memory, without a copy, and read only. World.snapshot() and Run give snapshots.

    >>> from talus import World
    >>> world = World(threads=1)
    >>> floor = world.add_bodies("plane", [0, 0, 0], fixed=True)
    >>> balls = world.add_bodies("sphere", [[0, 0, 0.1], [0, 0, 0.3]], radius=0.1, mass=1.0)
    >>> info = world.step(100)
    >>> snapshot = world.snapshot()
    >>> [round(float(z), 2) for z in snapshot.position[1:, 2]]
    [0.1, 0.3]
    >>> bulk = snapshot.bulk()
    >>> bulk.bodies, bulk.coordination
    (2, 1.5)
    """

    def __init__(self) -> None:
        raise TypeError("use World.snapshot, or the frames of talus.Run")

    @classmethod
    def _empty(cls) -> Snapshot:
        snapshot = cls.__new__(cls)
        snapshot._struct = ffi.gc(ffi.new("TalusSnapshot *"), lib.talus_snapshot_free)
        snapshot._arena = c.Arena()
        return snapshot

    @classmethod
    def _of_world(cls, world) -> Snapshot:
        snapshot = cls._empty()
        check(lib.talus_snapshot_take(snapshot._struct, world._handle, lib.TALUS_SNAPSHOT_ALL))
        head = _head_of_world(world, snapshot._arena)
        snapshot._head = lambda: head
        return snapshot

    def __getattr__(self, name: str) -> np.ndarray | None:
        if name not in _FIELDS:
            raise AttributeError(f"a snapshot has {', '.join(_FIELDS)}, contacts{c.nearest(name, _FIELDS)}")
        data = getattr(self._struct, name)
        if data == ffi.NULL and len(self):
            return None
        return c.view_array(data, len(self), _FIELDS[name], c.Loan(self._struct))

    def __len__(self) -> int:
        return self._struct.body_count

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return self._struct.time

    @property
    def step(self) -> int:
        """Number of the step."""
        return self._struct.step

    @property
    def length(self) -> float:
        """Length of the last step, s: a force is an impulse over this."""
        return self._struct.length

    @property
    def contacts(self) -> np.ndarray:
        """The contacts that were stored: a structured array with the fields of TalusContactState."""
        return c.view_array(self._struct.contact, self._struct.contact_count, "TalusContactState", c.Loan(self._struct))

    # ---- measures ----

    def _assembly(self, tag: int | None):
        out = ffi.gc(ffi.new("TalusAssembly *"), lib.talus_assembly_free)
        number = lib.TALUS_ANY_TAG if tag is None else tag
        check(lib.talus_assembly_take(self._struct, self._head(), number, out))
        return out

    def _bulk(self, function, kind: str, box: Box | None, axis: int, rattler_contacts: int, tag: int | None) -> Record:
        definition, out = _bulk_def(box, axis, rattler_contacts), ffi.new(f"{kind} *")
        check(function(self._assembly(tag), definition, out))
        return Record(out)

    def bulk(
        self, box: Box | None = None, axis: int = -1, rattler_contacts: int = 2, tag: int | None = None
    ) -> Record:
        """Returns bulk figures (TalusBulk): masses, energies, coordination, forces. `box`: lowest and highest corner;
        with `axis`, the round part of it around that axis. `tag`: of these bodies alone; all others are boundary."""
        return self._bulk(lib.talus_bulk_measure, "TalusBulk", box, axis, rattler_contacts, tag)

    def heap(self, box: Box | None = None, axis: int = -1, tag: int | None = None) -> Record:
        """Returns figures of the free surface (TalusHeap), such as `repose`, the angle of a conical heap, radians."""
        return self._bulk(lib.talus_heap_measure, "TalusHeap", box, axis, 2, tag)

    def mixing(self, box: Box | None = None, axis: int = -1, tag: int | None = None) -> Record:
        """Returns how two classes of bodies are mixed (TalusMixing)."""
        return self._bulk(lib.talus_mixing_measure, "TalusMixing", box, axis, 2, tag)

    def packing(self, box: Box, axis: int = -1, tag: int | None = None) -> float:
        """Returns the packing fraction of a box.

        >>> from talus import World
        >>> world = World()
        >>> ball = world.add_bodies("sphere", [0, 0, 0], radius=0.5)
        >>> round(world.snapshot().packing([(-0.5, -0.5, -0.5), (0.5, 0.5, 0.5)]), 6) # pi/6
        0.523599
        """
        region = _bulk_def(box, axis, 2)
        return lib.talus_packing_fraction(self._assembly(tag), ffi.addressof(region, "region"))

    def histogram(self, of: str = "force", box: Box | None = None, tag: int | None = None):
        """Returns counts and the edges of their bins, as numpy.histogram: of "force", normal forces over their mean, or of
        "gap", m."""
        number = c.enumerator(ffi.typeof("TalusDistribution"), of)
        out = ffi.new("TalusHistogram *")
        check(lib.talus_histogram_measure(self._assembly(tag), _bulk_def(box, -1, 2), number, out))
        return np.array(list(out.count)), np.linspace(out.lo, out.hi, lib.TALUS_HISTOGRAM_BINS + 1)

    def field(self, quantity: str, cells: Sequence[int] = (1, 1, 1), **where: Any) -> np.ndarray:
        """Returns a continuum field in cells, as talus.field does."""
        return field([self], quantity, cells, **where)

    def as_frame(self):
        """Returns the bodies as a table of pandas."""
        from .world import Bodies

        arrays = {name: getattr(self, name) for name in _FIELDS}
        return Bodies({name: values for name, values in arrays.items() if values is not None}).as_frame()

    def __repr__(self) -> str:
        return f"Snapshot(t = {self.time:g} s, {len(self)} bodies, {self._struct.contact_count} contacts)"


def field(
    snapshots: Iterable[Snapshot],
    quantity: str,
    cells: Sequence[int] = (1, 1, 1),
    box: Box | None = None,
    width: float | None = None,
    tag: int | None = None,
    threads: int = 1,
) -> np.ndarray:
    """Returns a continuum field as the mean over snapshots, in the cells of a box: shape (nx, ny, nz), with a last axis for
    the components of vectors and tensors (docs/how-to/measure.md). `box` None: the periods, else the bounds of the bodies
    of the first snapshot. `width`: half width of the kernel, m; None: 3 median radii.

    >>> from talus import World
    >>> world = World()
    >>> ball = world.add_bodies("sphere", [0, 0, 0], radius=0.5, mass=2.0, velocity=[1, 0, 0])
    >>> box = [(-4, -4, -4), (4, 4, 4)]
    >>> float(field([world.snapshot()], "density", box=box)[0, 0, 0] * 8**3) # all of its mass is in the box
    2.0
    """
    kind = ffi.typeof("TalusQuantity")
    number = c.enumerator(kind, quantity)
    continuum, pool = None, ffi.gc(c.create(lib.talus_pool_create, "TalusPool", threads), lib.talus_pool_destroy)
    for snapshot in snapshots:
        assembly = snapshot._assembly(tag)
        if continuum is None:
            grid = _grid(assembly, cells, box, width)
            continuum = ffi.gc(
                c.create(lib.talus_continuum_create, "TalusContinuum", grid, 1 << number), lib.talus_continuum_destroy
            )
        check(lib.talus_continuum_add(continuum, assembly, pool))
    if continuum is None:
        raise ValueError("field: there are no snapshots")
    components = lib.talus_quantity_row(number).components
    values, cell = np.empty((*cells, components)), ffi.new("double[]", lib.TALUS_QUANTITY_COMPONENTS)
    for at in np.ndindex(*cells):
        lib.talus_continuum_get(continuum, number, *at, cell)
        values[at] = ffi.unpack(cell, components)
    return values[..., 0] if components == 1 else values


def quantities() -> dict[str, Record]:
    """Returns the table of continuum fields, by name: unit, summary, components."""
    rows = [ffi.new("TalusQuantityRow *", lib.talus_quantity_row(i)) for i in range(lib.TALUS_QUANTITIES)]
    return {c.text(row.name): Record(row) for row in rows}


def _grid(assembly, cells, box, width):
    """Returns a TalusGridDef."""
    count = assembly.body_count
    if box is None:
        position = c.copy_array(assembly.position, count, "TalusVec3")
        radius = c.copy_array(assembly.radius, count, "double")[:, None]
        if not count:
            raise ValueError("box: there are no bodies whose bounds could be taken")
        lo, hi = (position - radius).min(axis=0), (position + radius).max(axis=0)
        period = assembly.period
        ends = zip(("x", "y", "z"), period.on)
        for axis, (name, on) in enumerate(ends):
            if on:
                lo[axis], hi[axis] = getattr(period.lo, name), getattr(period.hi, name)
        box = lo, hi
    if width is None:
        median = ffi.new("double *")
        check(lib.talus_assembly_median_radius(assembly, median))
        width = 3.0 * median[0]
    grid = ffi.new("TalusGridDef *")
    return c.fill(grid, {"lo": box[0], "hi": box[1], "cells": list(cells), "width": width}, c.Arena())


def _bulk_def(box: Box | None, axis: int, rattler_contacts: int):
    definition = ffi.new("TalusBulkDef *", lib.talus_bulk_def_default())
    definition.rattler_contacts = rattler_contacts
    definition.region.axis = axis
    if box is not None:
        definition.region.lo, definition.region.hi = c.vec3(box[0]), c.vec3(box[1])
    return definition


def _head_of_world(world, arena: c.Arena):
    """Returns what a frame's head has of a world, as far as measures need it."""
    handle = world._handle
    shapes = arena.keep(
        ffi.new("TalusShapeDef[]", [lib.talus_world_shape(handle, i) for i in range(lib.talus_world_shape_count(handle))])
    )
    count = lib.talus_world_material_count(handle)
    materials = arena.keep(ffi.new("TalusFramesMaterial[]", count))
    for i in range(count):
        material = lib.talus_world_material(handle, i)
        materials[i] = (material.name, material.friction, material.density)
    head = arena.keep(ffi.new("TalusFramesHead *"))
    head.gravity, head.period = lib.talus_world_gravity(handle), lib.talus_world_period(handle)
    head.flow = lib.talus_world_cell(handle).rate
    head.step, head.radius = lib.talus_world_step_length(handle), 1.0
    head.shapes, head.shape_count = shapes, len(shapes)
    head.materials, head.material_count = materials, count
    arena.keep(world)  # owns the arrays and names in the defs
    return head

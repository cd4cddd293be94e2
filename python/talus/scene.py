"""Scenes: JSON files of bodies, materials and measurements (docs/reference/scenes.md), as files or dictionaries."""

from __future__ import annotations

import copy
import json
import math
import os
import re
from pathlib import Path
from typing import Any, Mapping

import numpy as np

from . import _library as c
from ._library import Record, check, ffi, lib
from .world import StepCallback, World

_STRING = r'("(?:\\.|[^"\\])*")'
_COMMENT = re.compile(_STRING + r"|//[^\n]*|/\*.*?\*/", re.S)
_LAST_COMMA = re.compile(_STRING + r"|,(?=\s*[\]}])")


def parse(text: str) -> dict[str, Any]:
    """Returns the dictionary of a scene's text: JSON with comments and trailing commas.

    >>> parse('{"step": 0.01, // of [s]\\n "title": "a, // b",}')
    {'step': 0.01, 'title': 'a, // b'}
    """
    for pattern in (_COMMENT, _LAST_COMMA):
        text = pattern.sub(lambda found: found[1] or " ", text)
    return json.loads(text)


def shipped() -> list[str]:
    """Returns the names of the scenes that come with the package.

    >>> "hourglass" in shipped()
    True
    """
    return sorted(path.stem for path in _folder().glob("*.json") if path.stem != "schema")


def _folder() -> Path:
    given = os.environ.get("TALUS_SCENES")
    return Path(given) if given else Path(__file__).with_name("scenes")


class Scene:
    """A scene: `Scene("hourglass")` of those that come with the package, `Scene("my.json")`, or `Scene({...})`.

    `scene.data` is the scene as a dictionary, which may be changed. Overrides, by `set`, are those of `talus run --set`:
    a parameter's name, or a key path such as "solver.tolerance" or "bodies[grains].count".

    >>> scene = Scene("settle-box", set={"bodies": 50})
    >>> scene.params["bodies"], scene.until
    (50.0, 3.0)
    >>> scene.data["materials"]["grain"]["friction"] = 0.5
    >>> world = scene.build(threads=1)
    >>> len(world), world.material(1).friction
    (55, 0.5)

    Errors say where they are:

    >>> Scene({"bodies": [{"radius": -1, "at": [0, 0, 0]}]}).build()
    Traceback (most recent call last):
    ...
    talus.errors.FormatError: ...bodies[0].radius...
    """

    def __init__(
        self, source: str | os.PathLike | Mapping[str, Any], set: Mapping[str, Any] | None = None, folder: str = "."
    ) -> None:
        """`folder`: where relative paths in a dictionary begin."""
        self.overrides: dict[str, Any] = dict(set or {})
        self._data: dict[str, Any] | None = None
        self._text, self._read = None, None
        if isinstance(source, Mapping):
            self._data = copy.deepcopy(dict(source))
            self._name = os.path.join(folder, "scene")
        else:
            path = self._find(source)
            self._text, self._name = path.read_text(encoding="utf-8"), str(path)

    @staticmethod
    def _find(source: str | os.PathLike) -> Path:
        name = os.fspath(source)
        path = Path(name)
        if path.suffix == ".json" or os.sep in name:
            return path
        for own in (_folder() / f"{name}.json", Path("scenes") / f"{name}.json"):
            if own.exists():
                return own
        raise FileNotFoundError(f"there is no scene {name}{c.nearest(name, shipped())}")

    @property
    def data(self) -> dict[str, Any]:
        """The scene as a dictionary, before overrides; changes count."""
        if self._data is None:
            self._data = parse(self._text)
            self._read = copy.deepcopy(self._data)
        return self._data

    def _source(self) -> bytes:
        """The text to be read: the file's own unless the dictionary was changed, so that errors have its lines."""
        if self._text is not None and self._data == self._read:
            return self._text.encode()
        return json.dumps(self._data, indent=1, default=_as_json).encode()

    def _parse(self):
        c.listen()
        arena = c.Arena()
        words = [arena.string(f"{name}={_as_text(value)}") for name, value in self.overrides.items()]
        source = self._source()
        given = arena.keep(ffi.new("char *[]", words)) if words else ffi.NULL
        pointer = c.create(
            lib.talus_scene_parse, "TalusScene", source, len(source), self._name.encode(), given, len(words)
        )
        return ffi.gc(pointer, lib.talus_scene_destroy)

    def set(self, **values: Any) -> Scene:
        """Sets parameters of the scene; returns the scene.

        >>> Scene("settle-box").set(bodies=10, mu=0.1).params["mu"]
        0.1
        """
        self.overrides.update(values)
        return self

    @property
    def params(self) -> dict[str, float]:
        """The parameters, with overrides."""
        scene = self._parse()
        return {
            c.text(lib.talus_scene_param_name(scene, i)): lib.talus_scene_param_value(scene, i)
            for i in range(lib.talus_scene_param_count(scene))
        }

    @property
    def title(self) -> str:
        """The title."""
        return c.text(lib.talus_scene_title(self._parse()))

    @property
    def until(self) -> float:
        """Seconds to simulate."""
        return lib.talus_scene_until(self._parse())

    @property
    def every(self) -> float:
        """Seconds between frames."""
        return lib.talus_scene_every(self._parse())

    def build(
        self, threads: int = 0, solver: str | None = None, backend: str | None = None, allow_overlap: bool = False
    ) -> World:
        """Returns the scene's world. `threads`: 0 those of the scene, -1 one per processor. `world.names` has the ids of
        the bodies of each entry of `bodies`, and `world.until` the end of the scene."""
        scene = self._parse()
        return self._build(scene, threads, solver, backend, allow_overlap)[0]

    def _build(self, scene, threads, solver, backend, allow_overlap):
        arena = c.Arena()
        entries = ffi.gc(ffi.new("TalusSceneEntries *"), lib.talus_scene_entries_free)
        choice = ffi.new("TalusSceneChoice *", {"threads": threads, "allow_overlap": allow_overlap, "entries": entries})
        c.fill(choice, {"solver": solver, "backend": backend}, arena)
        world = World._of(c.create(lib.talus_scene_build, "TalusWorld", scene, choice))
        world.until = lib.talus_scene_until(scene)
        world.names = _names(entries, world)
        return world, entries

    def run(
        self,
        out: str | os.PathLike | None = None,
        until: float | None = None,
        every: float | None = None,
        frames: tuple[str, ...] = (),
        on_step: StepCallback | None = None,
        threads: int = 0,
        solver: str | None = None,
        backend: str | None = None,
    ) -> World:
        """Builds the scene's world and makes steps until `until`, s; returns the world at the end.

        With `out`, frames, tables and a checkpoint are written there as by `talus run`, for talus.Run, `talus view` and
        `talus measure`; `frames` are formats beyond frames.talus, such as ("exact", "vtkhdf"). `on_step(world, info)` is
        called after each step; False, and nothing else, ends the run.

        >>> world = Scene("settle-box", set={"bodies": 20}).run(until=0.1, threads=1)
        >>> world.steps
        20
        """
        scene = self._parse()
        world, entries = self._build(scene, threads, solver, backend, False)
        until = lib.talus_scene_until(scene) if until is None else until
        every = lib.talus_scene_every(scene) if every is None else every
        if out is None:
            world.run(until, on_step)
            return world
        with _Output(os.fspath(out), scene, self._name, entries, frames, world, every) as output:
            world.run(until, lambda world, info: output.step(info) or (on_step and on_step(world, info)))
        return world

    def __repr__(self) -> str:
        return f"Scene({Path(self._name).stem})"


class _Output:
    """The directory of a run, as `talus run` writes it."""

    def __init__(self, folder: str, scene, name: str, entries, kinds, world: World, every: float) -> None:
        Path(folder).parent.mkdir(parents=True, exist_ok=True)
        arena = c.Arena()
        count = lib.talus_scene_field_probe_count(scene)
        fields = arena.keep(
            ffi.new("TalusFieldProbe[]", [lib.talus_scene_field_probe(scene, i) for i in range(count)])
        )
        definition = ffi.new("TalusOutputDef *")
        c.fill(definition, {"title": c.text(lib.talus_scene_title(scene)), "scene": Path(name).stem}, arena)
        definition.entries, definition.entry_count = entries.entry, entries.count
        definition.fields, definition.field_count = fields, count
        if kinds:
            words = [arena.string(kind) for kind in kinds]
            definition.kinds, definition.kind_count = arena.keep(ffi.new("char *[]", words)), len(words)
        self.world, self.every, self.base = world, every, 0.0
        self._handle = c.create(lib.talus_output_open, "TalusOutput", folder.encode(), definition)

    def __enter__(self) -> _Output:
        check(lib.talus_output_frame(self._handle, self.world._handle))
        return self

    def step(self, info: Record) -> None:
        check(lib.talus_output_step(self._handle, self.world._handle, info._struct))
        before, now = self.base, info.time
        self.base = now
        if math.floor(now / self.every + 1e-6) > math.floor(before / self.every + 1e-6):
            check(lib.talus_output_frame(self._handle, self.world._handle))

    def __exit__(self, kind, error, trace) -> None:
        handle, self._handle = self._handle, None
        if kind is not None:
            lib.talus_output_abandon(handle)
            return
        status = lib.talus_output_checkpoint(handle, self.world._handle, ffi.NULL)
        if status:
            lib.talus_output_abandon(handle)
            check(status)
        check(lib.talus_output_close(handle))


def _names(entries, world: World) -> dict[str, np.ndarray]:
    """Returns the ids of the bodies of each entry that are in the world."""
    ids = world.id
    names: dict[str, list[np.ndarray]] = {}
    for i in range(entries.count):
        entry = entries.entry[i]
        last = entry.last or np.iinfo(np.int64).max
        own = ids[(ids >= entry.first) & (ids <= last)]
        for name in [c.text(entry.name)]:
            names.setdefault(name, []).append(own)
    return {name: np.concatenate(parts) for name, parts in names.items()}


def _as_text(value: Any) -> str:
    """Returns the value of an override as text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    return json.dumps(value, default=_as_json)


def _as_json(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"a scene cannot hold a {type(value).__name__}")

"""Directories of runs, as `talus run` writes them: frames, tables and checkpoints."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any, Iterator, Sequence, overload

import numpy as np

from . import _library as c
from ._library import check, ffi, lib
from .snapshot import Snapshot, field
from .world import World


class Run(Sequence):
    """A run: a sequence of snapshots, and tables. `Run("out/x")` may be made while the run goes on; refresh() sees more.

    >>> import talus
    >>> world = talus.Scene("settle-box", set={"bodies": 30}).run("out/doctest", until=0.2, every=0.05, threads=1)
    >>> run = talus.Run("out/doctest")
    >>> len(run), [round(float(t), 2) for t in run.times]
    (5, [0.0, 0.05, 0.1, 0.15, 0.2])
    >>> len(run[-1]), run[-1].position.shape
    (35, (35, 3))
    >>> steps = run.table("steps")
    >>> len(steps), round(float(steps["time"][-1]), 3)
    (40, 0.2)
    >>> run.world().hash == world.hash # of its last checkpoint
    True
    """

    def __init__(self, folder: str | os.PathLike) -> None:
        """Opens the directory of a run, or one file frames.talus."""
        path = Path(folder)
        self.folder = path if path.is_dir() else path.parent
        name = path / "frames.talus" if path.is_dir() else path
        self._handle = ffi.gc(c.create(lib.talus_frames_open, "TalusFrames", os.fspath(name).encode()), lib.talus_frames_close)

    def refresh(self) -> None:
        """Sees the frames that were added since."""
        check(lib.talus_frames_refresh(self._handle))

    # ---- frames ----

    def __len__(self) -> int:
        return lib.talus_frames_count(self._handle)

    @overload
    def __getitem__(self, index: int) -> Snapshot: ...
    @overload
    def __getitem__(self, index: slice) -> list[Snapshot]: ...
    def __getitem__(self, index):
        """Reads a frame: exact numbers where the run has them (frames=("exact",)), else those of the viewer."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        number = index + len(self) if index < 0 else index
        if not 0 <= number < len(self):
            raise IndexError(f"there are {len(self)} frames")
        snapshot = Snapshot._empty()
        exact = lib.talus_frames_exact(self._handle, number)
        read = lib.talus_frames_read_exact if exact else lib.talus_frames_read
        check(read(self._handle, number, snapshot._struct))
        snapshot._head = lambda: self._head(number)
        return snapshot

    def __iter__(self) -> Iterator[Snapshot]:
        return (self[i] for i in range(len(self)))

    def _head(self, number: int):
        head = lib.talus_frames_head(self._handle, number)
        if head == ffi.NULL:
            check(lib.talus_error_record().code)
        return head

    @property
    def times(self) -> np.ndarray:
        """Times of the frames, s."""
        return np.array([lib.talus_frames_info(self._handle, i).time for i in range(len(self))])

    def at(self, time: float) -> Snapshot:
        """Returns the last frame at or before a time."""
        return self[lib.talus_frames_at(self._handle, time)]

    @property
    def names(self) -> dict[str, list[tuple[int, int]]]:
        """Ranges of ids by the entry of the scene's `bodies`; last 0: all from first on."""
        head = self._head(len(self) - 1)
        names: dict[str, list[tuple[int, int]]] = {}
        for i in range(head.entry_count):
            entry = head.entries[i]
            names.setdefault(c.text(entry.name), []).append((entry.first, entry.last))
        return names

    def field(self, quantity: str, cells: Sequence[int] = (1, 1, 1), start: float = 0.0, **where: Any) -> np.ndarray:
        """Returns a continuum field as the mean over the frames from time `start` on; keywords as talus.field."""
        chosen = (self[i] for i, time in enumerate(self.times) if time >= start)
        return field(chosen, quantity, cells, **where)

    # ---- tables ----

    @property
    def tables(self) -> list[str]:
        """Names of the tables: "steps", and "probes", "flows", "joints", "cell" where the scene has such."""
        return sorted(path.stem for path in self.folder.glob("*.csv"))

    def table(self, name: str) -> np.ndarray:
        """Returns a table as a structured array: columns by their names."""
        path = self.folder / f"{name}.csv"
        if not path.exists():
            raise FileNotFoundError(f"{self.folder} has no table {name}: it has {', '.join(self.tables) or 'none'}")
        return read_table(path)

    def dataframe(self, name: str):
        """Returns a table as a DataFrame of pandas."""
        import pandas

        return pandas.DataFrame(self.table(name))

    # ---- checkpoints ----

    def world(self, threads: int = 0, backend: str | None = None) -> World:
        """Returns the world of the newest checkpoint, to go on with."""
        c.listen()
        world, note = ffi.new("TalusWorld **"), ffi.new("char **")
        name = ffi.NULL if backend is None else backend.encode()
        check(lib.talus_checkpoint_read(os.fspath(self.folder).encode(), threads, name, world, note))
        lib.talus_free(note[0])
        return World._of(world[0])

    def __repr__(self) -> str:
        return f"Run({os.fspath(self.folder)!r}, {len(self)} frames)"


def read_table(path: str | os.PathLike) -> np.ndarray:
    """Reads a table with a line of names: columns become integers, floating-point numbers or text.

    >>> import pathlib
    >>> written = pathlib.Path("table.csv").write_text("time,outcome\\n0.5,converged\\n1,budget\\n")
    >>> read_table("table.csv").tolist()
    [(0.5, 'converged'), (1.0, 'budget')]
    """
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    names, cells = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]  # a last row may be half written
    columns = [_column([row[i] for row in cells]) for i in range(len(names))]
    out = np.empty(len(cells), dtype=[(name, column.dtype) for name, column in zip(names, columns)])
    for name, column in zip(names, columns):
        out[name] = column
    return out


def _column(words: list[str]) -> np.ndarray:
    for kind in (np.int64, np.float64):
        try:
            return np.array(words, dtype=kind)
        except (ValueError, OverflowError):
            continue
    return np.array(words)

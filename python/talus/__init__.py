"""Talus: large systems of rigid bodies in frictional contact, and a laboratory of solvers for them.

    World, Scene            simulate
    Problem, solve, solvers    solve contact problems
    Run, Snapshot, field    read and measure runs
    sweep, calibrate        study a parameter, fit it to a measurement
    plots                   pictures, with matplotlib

>>> import talus
>>> world = talus.Scene("settle-box", set={"bodies": 20}).run(until=0.5, threads=1)
>>> world
World(25 bodies, t = 0.5 s, 100 steps)
"""

from ._library import Record, lib as _lib, text as _text
from .errors import (
    ArgumentError,
    Cancelled,
    FileError,
    FormatError,
    NumericError,
    OutOfMemory,
    TalusError,
    ToleranceError,
    UnsupportedError,
)
from .problem import Problem, Solution, parameters, solve, solvers
from .run import Run, read_table
from .scene import Scene, shipped
from .snapshot import Snapshot, field, quantities
from .study import Calibration, calibrate, mean_error, sweep
from .world import Bodies, Watch, World

__version__ = _text(_lib.talus_version())

__all__ = [
    "ArgumentError",
    "Bodies",
    "Calibration",
    "Cancelled",
    "FileError",
    "FormatError",
    "NumericError",
    "OutOfMemory",
    "Problem",
    "Record",
    "Run",
    "Scene",
    "Snapshot",
    "Solution",
    "TalusError",
    "ToleranceError",
    "UnsupportedError",
    "Watch",
    "World",
    "calibrate",
    "field",
    "mean_error",
    "parameters",
    "quantities",
    "read_table",
    "shipped",
    "solve",
    "solvers",
    "sweep",
]

"""Pictures with matplotlib, which is imported when one is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Mapping

import numpy as np

if TYPE_CHECKING:
    from .problem import Solution
    from .snapshot import Snapshot
    from .study import Calibration


def _axes(axes):
    if axes is not None:
        return axes
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib (Debian: python3-matplotlib)") from error
    return pyplot.subplots()[1]


def convergence(solutions: Mapping[str, Solution], axes=None, against: str = "products"):
    """Draws the residual of solutions, by name, over "products", "iteration" or "seconds". They need a history."""
    axes = _axes(axes)
    for name, solution in solutions.items():
        if solution.history is None:
            raise ValueError(f"{name} has no history: solve(..., history=True)")
        axes.semilogy(solution.history[against], solution.history["residual"], label=name)
    axes.set_xlabel(against)
    axes.set_ylabel("residual, m/s")
    axes.legend()
    return axes


def table(rows: np.ndarray, x: str, y: str, axes=None):
    """Draws column y of a table over column x."""
    axes = _axes(axes)
    axes.plot(rows[x], rows[y])
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    return axes


def study(rows: np.ndarray, by: str, value: str, axes=None):
    """Draws the means of a sweep with their standard errors."""
    from .study import mean_error

    axes, means = _axes(axes), mean_error(rows, by, value)
    axes.errorbar(means[by], means["mean"], yerr=np.nan_to_num(means["error"]), marker="o", capsize=3)
    axes.set_xlabel(by)
    axes.set_ylabel(value)
    return axes


def calibration(fit: Calibration, target: float, axes=None):
    """Draws the evaluations of a calibration of one parameter, the target, and the value with its error."""
    if len(fit.names) != 1 or fit.outputs.shape[1] != 1:
        raise ValueError("the picture is for one parameter and one output")
    axes, [name] = _axes(axes), fit.names
    axes.plot(fit.points[:, 0], fit.outputs[:, 0], "o", markersize=3)
    axes.axhline(target, color="black", linewidth=1)
    axes.errorbar(fit.value[name], target, xerr=fit.error[name], marker="s", color="red", capsize=4)
    axes.set_xlabel(name)
    axes.set_ylabel("output")
    return axes


def bodies(snapshot: Snapshot, axes=None, across: str = "y", colour: str = "speed"):
    """Draws the bodies that are not fixed as circles, seen along an axis; `colour`: an array of the snapshot."""
    from matplotlib.collections import EllipseCollection

    axes = _axes(axes)
    sides = [i for i in range(3) if i != "xyz".index(across)]
    free = ~snapshot.fixed
    order = np.argsort(-snapshot.position[free][:, "xyz".index(across)])
    size = 2 * snapshot.radius[free][order]
    values = getattr(snapshot, colour)
    if values is None:
        raise ValueError(f"the snapshot has no {colour}")
    circles = EllipseCollection(
        size, size, np.zeros(len(size)), units="xy", offsets=snapshot.position[free][order][:, sides],
        offset_transform=axes.transData, array=values[free][order],
    )
    axes.add_collection(circles)
    axes.figure.colorbar(circles, ax=axes, label=colour)
    axes.autoscale_view()
    axes.set_aspect("equal")
    axes.set_xlabel("xyz"[sides[0]] + ", m")
    axes.set_ylabel("xyz"[sides[1]] + ", m")
    return axes

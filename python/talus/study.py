"""Studies: sweeps over parameters, and calibration of parameters to measured targets."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Mapping, Sequence

import numpy as np


def sweep(
    function: Callable[..., Any], grid: Mapping[str, Sequence[Any]], workers: int = 1
) -> np.ndarray:
    """Calls function(**point) for each point of a grid; returns a structured array of the points and the results.

    The function returns a number, or a dictionary of numbers. `workers`: threads that call it at the same time; steps of
    worlds run beside each other, so give each world threads=1 then.

    >>> table = sweep(lambda mu, seed: {"angle": 10 * mu + seed}, {"mu": [0.1, 0.2], "seed": [0, 1]})
    >>> table.dtype.names, table["angle"].tolist()
    (('mu', 'seed', 'angle'), [1.0, 2.0, 2.0, 3.0])
    """
    points = [dict(zip(grid, values)) for values in itertools.product(*grid.values())]
    results = _evaluate(function, points, workers)
    rows = [
        {**point, **(result if isinstance(result, Mapping) else {"value": result})}
        for point, result in zip(points, results)
    ]
    if not rows:
        raise ValueError("sweep: the grid has no point")
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    table = np.empty(len(rows), dtype=[(name, values.dtype) for name, values in columns.items()])
    for name, values in columns.items():
        table[name] = values
    return table


def _evaluate(function, points, workers):
    if workers == 1:
        return [function(**point) for point in points]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda point: function(**point), points))


def mean_error(table: np.ndarray, by: str, value: str) -> np.ndarray:
    """Returns, for each value of column `by`, the mean of column `value`, its standard error and the count.

    >>> table = sweep(lambda mu, seed: mu + seed, {"mu": [1.0, 2.0], "seed": [-1, 0, 1]})
    >>> [(float(row["mu"]), float(row["mean"]), int(row["count"])) for row in mean_error(table, "mu", "value")]
    [(1.0, 1.0, 3), (2.0, 2.0, 3)]
    """
    keys = np.unique(table[by])
    out = np.empty(len(keys), dtype=[(by, keys.dtype), ("mean", "f8"), ("error", "f8"), ("count", "i4")])
    for row, key in zip(out, keys):
        values = table[value][table[by] == key]
        error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
        row[by], row["mean"], row["error"], row["count"] = key, values.mean(), error, len(values)
    return out


class Calibration:
    """What calibrate found.

    `value` and `error`: each parameter with its standard error; `covariance` of the parameters; `predicted`: the outputs
    of the fitted surface there; `scatter`: standard deviation of the model's outputs about the surface; `points` and
    `outputs`: all evaluations; `at_bound`: names of parameters whose value is at a bound, where the error means little.
    """

    def __init__(self, names: list[str], x, covariance, surface: _Surface, points, outputs, at_bound) -> None:
        self.names, self.covariance = names, covariance
        self.value = dict(zip(names, x.tolist()))
        self.error = dict(zip(names, np.sqrt(np.diag(covariance)).tolist()))
        self.predicted, self.scatter = surface.value(x), surface.scatter
        self.points, self.outputs, self.at_bound = points, outputs, at_bound

    def __repr__(self) -> str:
        words = [f"{name} = {self.value[name]:.4g} +- {self.error[name]:.2g}" for name in self.names]
        return f"Calibration({', '.join(words)}; {len(self.points)} evaluations)"


def calibrate(
    function: Callable[..., Any],
    target: Any,
    bounds: Mapping[str, tuple[float, float]],
    target_error: Any = 0.0,
    seeds: Sequence[int] | None = None,
    rounds: int = 3,
    points: int = 7,
    workers: int = 1,
) -> Calibration:
    """Fits parameters within bounds so that function(**parameters) meets a measured target; returns values and errors.

    The function returns one number or several, as many as `target`, which has standard errors `target_error`. With
    `seeds` it is called as function(..., seed=s) for each of them, and its scatter enters the error.

    Each round evaluates the function at `points` values of each parameter, evenly over the region, fits a quadratic
    surface to all evaluations in the region, finds the parameters whose outputs on the surface are nearest to the target,
    and shrinks the region around them. The covariance is that of weighted least squares: (J' V^-1 J)^-1, with J the slopes
    of the surface and V the variances of the target plus those of the surface. A parameter that the outputs do not depend
    on has an infinite error.

    >>> def distance(mu, seed):
    ...     return 1 / (2 * mu * 9.81) * (1 + 0.01 * (-1) ** seed) # of a block at 1 m/s that slides to rest
    >>> fit = calibrate(distance, 1 / (2 * 0.3 * 9.81), {"mu": (0.1, 0.9)}, seeds=[0, 1, 2, 3])
    >>> abs(fit.value["mu"] - 0.3) < 3 * fit.error["mu"] < 0.03
    True
    """
    target = np.atleast_1d(np.asarray(target, dtype=float))
    target_error = np.broadcast_to(np.asarray(target_error, dtype=float), target.shape)
    names, limits = list(bounds), np.array(list(bounds.values()), dtype=float)
    if not names or not (limits[:, 0] < limits[:, 1]).all():
        raise ValueError("bounds: expected a lower and a higher bound of each parameter")
    if points < 3:
        raise ValueError("points: a quadratic surface needs 3 or more values of each parameter")
    region, known, outputs = limits.copy(), [], []
    for _ in range(rounds):
        grid = [tuple(p) for p in itertools.product(*(np.linspace(*side, points) for side in region))]
        fresh = [(p, s) for p in grid for s in (seeds if seeds is not None else [None])]
        outputs += [_vector(y, target) for y in _evaluate(function, [_arguments(names, *p) for p in fresh], workers)]
        known += [p for p, _ in fresh]
        surface = _Surface(np.array(known), np.array(outputs), region)
        x = surface.nearest(target, np.hypot(target_error, surface.scatter))
        covariance = surface.covariance(x, target_error)
        width = region[:, 1] - region[:, 0]
        half = np.clip(3.0 * np.sqrt(np.diag(covariance)), 0.15 * width, 0.5 * width)
        region = np.clip(np.stack([x - half, x + half], axis=1), limits[:, :1], limits[:, 1:])
    span = limits[:, 1] - limits[:, 0]
    at_bound = [n for n, v, side, s in zip(names, x, limits, span) if min(v - side[0], side[1] - v) < 1e-6 * s]
    return Calibration(names, x, covariance, surface, np.array(known), np.array(outputs), at_bound)


def _arguments(names, point, seed):
    arguments = dict(zip(names, map(float, point)))
    return arguments if seed is None else {**arguments, "seed": seed}


def _vector(output, target):
    output = np.atleast_1d(np.asarray(output, dtype=float))
    if output.shape != target.shape:
        raise ValueError(f"calibrate: the function returned {len(output)} numbers, the target has {len(target)}")
    if not np.isfinite(output).all():
        raise ValueError(f"calibrate: the function returned {output}")
    return output


class _Surface:
    """A quadratic surface by least squares through the evaluations in a region; coordinates are -1 to 1 in the region."""

    def __init__(self, points: np.ndarray, outputs: np.ndarray, region: np.ndarray) -> None:
        slack = 1e-9 * (region[:, 1] - region[:, 0])
        inside = ((points >= region[:, 0] - slack) & (points <= region[:, 1] + slack)).all(axis=1)
        self.centre, self.half = region.mean(axis=1), 0.5 * (region[:, 1] - region[:, 0])
        A = self._terms(self._scaled(points[inside]))
        self.coefficients, _, rank, _ = np.linalg.lstsq(A, outputs[inside], rcond=None)
        rest = outputs[inside] - A @ self.coefficients
        self.scatter = np.sqrt((rest**2).sum(axis=0) / max(len(A) - rank, 1))
        self.inverse = np.linalg.pinv(A.T @ A)

    def _scaled(self, x):
        return (x - self.centre) / self.half

    @staticmethod
    def _terms(t):
        """1, all t_i, all t_i t_j."""
        t = np.atleast_2d(t)
        pairs = itertools.combinations_with_replacement(range(t.shape[1]), 2)
        return np.column_stack([np.ones(len(t)), t, *(t[:, i] * t[:, j] for i, j in pairs)])

    def value(self, x) -> np.ndarray:
        return (self._terms(self._scaled(x)) @ self.coefficients)[0]

    def slopes(self, x) -> np.ndarray:
        """J: [outputs, parameters]. Central differences are exact for a quadratic."""
        steps = np.diag(self.half)
        return np.stack([(self.value(x + d) - self.value(x - d)) / (2 * h) for d, h in zip(steps, self.half)], axis=1)

    def nearest(self, target, weight) -> np.ndarray:
        """Returns the parameters in the region whose outputs are nearest to the target: the best of a grid, improved by
        Gauss-Newton."""
        weight = np.where(weight > 0, weight, max(np.abs(target).max(), 1.0) * 1e-12)
        k = len(self.centre)
        grid = np.array(list(itertools.product(np.linspace(-1, 1, 41 if k == 1 else 11), repeat=k)))
        misfits = (((self._terms(grid) @ self.coefficients - target) / weight) ** 2).sum(axis=1)
        x = self.centre + self.half * grid[misfits.argmin()]
        for _ in range(50):
            J = self.slopes(x) / weight[:, None]
            step = np.linalg.lstsq(J, (target - self.value(x)) / weight, rcond=1e-12)[0]
            while np.abs(step / self.half).max() > 1e-12:
                trial = np.clip(x + step, self.centre - self.half, self.centre + self.half)
                if self._misfit(trial, target, weight) < self._misfit(x, target, weight):
                    break
                step = 0.5 * step
            else:
                break
            x = trial
        return x

    def _misfit(self, x, target, weight) -> float:
        return float((((self.value(x) - target) / weight) ** 2).sum())

    def covariance(self, x, target_error) -> np.ndarray:
        terms = self._terms(self._scaled(x))[0]
        variance = target_error**2 + self.scatter**2 * (terms @ self.inverse @ terms)
        variance = np.where(variance > 0, variance, np.finfo(float).tiny**0.5)
        J = self.slopes(x)
        J = np.where(np.abs(J * self.half) > 1e-10 * np.abs(self.coefficients).max(), J, 0.0)  # the rest is rounding
        information = J.T @ (J / variance[:, None])
        if np.linalg.matrix_rank(information) < len(x):
            return np.diag(np.full(len(x), np.inf))
        return np.linalg.inv(information)

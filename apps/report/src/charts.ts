// The charts of the page, from the runs in view.

import { type BarChart, type LineChart, points, type Series } from "./chart";
import type { Column, Cost, FreeFigure, Report, Run } from "./data";
import { profiles } from "./measure";
import { COST_LABELS, type Item, type State } from "./state";

// What the convergence plot can show.
export interface Quantity {
  key: string;
  label: string; // in the list and on the axis
  column: Column;
  log: boolean;
  value: (v: number, best: number) => number; // `best`: lowest objective known of the problem
}

const same = (v: number): number => v;

export const QUANTITIES: Quantity[] = [
  { key: "natural_relative", label: "natural residual, relative", column: "natural_relative", log: true, value: same },
  { key: "natural", label: "natural residual, m/s", column: "natural", log: true, value: same },
  { key: "projected_gradient", label: "projected gradient, m/s", column: "projected_gradient", log: true, value: same },
  { key: "gap", label: "objective above best, J", column: "objective", log: true, value: (v, best) => v - best },
  { key: "gap_relative", label: "objective above best, relative", column: "objective", log: true, value: (v, best) => (v - best) / Math.abs(best) },
  { key: "objective", label: "objective, normalised to −1", column: "objective", log: false, value: (v, best) => v / Math.abs(best) },
  { key: "complementarity_max", label: "complementarity, largest, J", column: "complementarity_max", log: true, value: same },
  { key: "velocity_error", label: "velocity error over |q|", column: "velocity_error", log: true, value: same },
];

const measured = (run: Run, column: Column): boolean => run.trace[column].some((v) => Number.isFinite(v));

// Those that at least one run of the report has.
export const available = (report: Report): Quantity[] =>
  QUANTITIES.filter((q) => report.runs.some((run) => measured(run, q.column)));

// Normalised objectives start far above zero when the first iterate is poor; what matters lies below.
function objectiveRange(series: Series[]): [number, number] | undefined {
  const values = series.flatMap((s) => s.y);
  if (!values.some((v) => v > 0.2)) return undefined;
  return [-1.05, 0.2];
}

// The costs of the trace. On a log axis the start, a microsecond from nothing, would take decades to
// itself: there it is left out.
export function coordinates(run: Run, cost: Cost, log: boolean): Float64Array {
  const { iteration } = run.trace;
  return log && iteration.some((k) => k > 0) ? run.trace[cost].map((v, k) => (iteration[k] === 0 ? NaN : v)) : run.trace[cost];
}

export function convergence(items: Item[], state: State, quantity: Quantity, best: number[], thresholds: number[]): LineChart {
  const series = items.filter((i) => measured(i.run, quantity.column)).map((i) => {
    const { trace, problem } = i.run, floor = best[problem.index]!;
    const y = trace[quantity.column].map((v) => quantity.value(v, floor));
    return { key: i.key, label: i.label, style: i.style, ...points(coordinates(i.run, state.cost, state.logX), y, state.logX, quantity.log) };
  });
  const chart: LineChart = {
    kind: "lines",
    x: { label: COST_LABELS[state.cost].axis, name: COST_LABELS[state.cost].short, log: state.logX },
    y: { label: quantity.label, name: quantity.key, log: quantity.log },
    series,
  };
  if (quantity.key === "natural_relative") chart.guides = thresholds;
  const bounds = quantity.key === "objective" ? objectiveRange(series) : undefined;
  if (bounds) chart.yRange = bounds;
  return chart;
}

export function activeSet(items: Item[], state: State, column: "active" | "active_changes"): LineChart {
  const label = column === "active" ? "contacts without impulse" : "contacts that changed state";
  return {
    kind: "lines",
    x: { label: "iterations", name: "iterations", log: state.logX },
    y: { label, name: column, log: false },
    series: items.filter((i) => measured(i.run, column)).map((i) => ({
      key: i.key, label: i.label, style: i.style, ...points(i.run.trace.iteration, i.run.trace[column], state.logX, false),
    })),
  };
}

export function impulses(items: Item[], log: boolean): LineChart {
  return {
    kind: "lines",
    x: { label: "contacts, by impulse", name: "rank", log: false },
    y: { label: "normal impulse, N s", name: "impulse", log },
    series: items.filter((i) => i.run.impulses.value.length).map((i) => ({
      key: i.key, label: i.label, style: i.style, ...points(i.run.impulses.rank, i.run.impulses.value, false, log),
    })),
  };
}

export function complementarity(items: Item[]): BarChart {
  const values = (run: Run) => [run.residual.complementarity_mean, run.residual.complementarity_std, run.residual.complementarity_max];
  return {
    kind: "bars",
    x: { label: "complementarity per contact, J", name: "complementarity", log: true },
    measures: ["mean", "std", "max"],
    rows: items.map((i) => ({ key: i.key, label: i.label, values: values(i.run) }))
      .filter((r) => r.values.some((v) => Number.isFinite(v)))
      .sort((a, b) => (a.values[2]! || 0) - (b.values[2]! || 0)),
  };
}

// Marks that share an x are put a hair apart: uPlot has one y for an x.
function apart(p: { x: number[]; y: number[] }): { x: number[]; y: number[] } {
  let last = -Infinity;
  return { x: p.x.map((v) => (last = v > last ? v : last + Math.abs(last) * 1e-9)), y: p.y };
}

// The half length of the error bar of point k, unless a log axis cannot hold its lower end.
const barOf = (c: FreeFigure["curves"][number], k: number, log: boolean): number => (log && !(c.y[k]! > c.bar[k]!) ? NaN : c.bar[k] ?? NaN);

export function freeFigure(figure: FreeFigure): LineChart {
  return {
    kind: "lines",
    x: { label: figure.x, name: figure.x, log: figure.xLog },
    y: { label: figure.y, name: figure.y, log: figure.yLog },
    points: figure.points,
    stepped: figure.steps,
    series: figure.curves.map((c, i) => {
      const p = points(c.x, c.y, figure.xLog, figure.yLog);
      const bar = c.bar.length ? { bar: p.at.map((k) => barOf(c, k, figure.yLog)) } : {};
      return { key: `problem:${c.name}`, label: c.name, style: figure.styles[i]!, ...(figure.points ? apart(p) : { x: p.x, y: p.y }), ...bar };
    }),
  };
}

// `order`: the solvers in that of the legend.
export function performance(report: Report, cost: Cost, threshold: number, order: number[]): LineChart {
  const { problems, solvers } = profiles(report, cost, threshold);
  const finite = solvers.flatMap((s) => s.ratios).filter((r) => Number.isFinite(r));
  const end = Math.max(2, ...finite) * 1.2;
  const series: Series[] = order.map((solver) => {
    const s = solvers[solver]!;
    const x = [1], y = [0];
    s.ratios.forEach((r, i) => {
      if (r > end) return;
      if (r !== x[x.length - 1]) x.push(r), y.push(0);
      y[y.length - 1] = (i + 1) / problems;
    });
    x.push(end);
    y.push(y[y.length - 1]!);
    return { key: `problem:${report.solvers[s.solver]}`, label: report.solvers[s.solver]!, style: report.styles[s.solver]!, x, y };
  });
  return {
    kind: "lines",
    x: { label: `τ: ${COST_LABELS[cost].short} over those of the best`, name: "tau", log: true },
    y: { label: "problems solved within τ", name: "fraction", log: false },
    stepped: true,
    yRange: [0, 1.02],
    series,
  };
}

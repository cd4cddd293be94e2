// What the page is given (docs/reference/report.md), brought into a form in which nothing is missing: numbers that
// were not measured are NaN, absent lists are empty. The rest of the page never meets a null.

import { type HeatMap, readMap } from "./heatmap";
import { solverStyles, type Style, styleOf } from "./palette";

export const COSTS = ["seconds", "applies", "iteration"] as const;
export type Cost = (typeof COSTS)[number];

export const RESIDUALS = [
  "projected_gradient", "natural", "natural_max", "natural_relative", "complementarity_mean",
  "complementarity_std", "complementarity_max", "primal_infeasibility", "duality_gap", "siconos",
  "siconos_over_q", "dilation", "bound_mismatch", "velocity_error",
] as const;
export type ResidualKey = (typeof RESIDUALS)[number];

// What the contacts do in the end.
export const CONTACTS = ["open", "sliding", "sticking"] as const;
export type ContactKey = (typeof CONTACTS)[number];

export const COLUMNS = [
  "iteration", "applies", "seconds", "objective", "natural", "natural_relative",
  "projected_gradient", "complementarity_max", "active", "active_changes", "velocity_error",
] as const;
export type Column = (typeof COLUMNS)[number];

const PROBLEM_NUMBERS = ["contacts", "rows", "bodies", "mu_min", "mu_max"] as const;

export interface Problem extends Record<(typeof PROBLEM_NUMBERS)[number], number> {
  index: number;
  name: string;
  source: string;
}

const RUN_NUMBERS = ["iterations", "applies", "seconds", "objective", "memory_bytes"] as const;

export interface Run extends Record<(typeof RUN_NUMBERS)[number], number> {
  problem: Problem;
  solver: number; // index into Report.solvers
  name: string; // of the solver
  ran: string; // what it chose, where it only chooses
  outcome: string;
  reason: string;
  residual: Record<ResidualKey, number>;
  contacts: Record<ContactKey, number>;
  trace: Record<Column, Float64Array>;
  impulses: { rank: Float64Array; value: Float64Array };
  reference: Record<string, string | number>;
  terms: Terms;
}

// When a run was to end, and where it started.
export interface Terms {
  tolerance: number;
  max_iterations: number;
  max_seconds: number; // NaN: no limit
  start: string; // "" : not told
  threads: number;
  measure: string; // what the tolerance is of: "siconos", or "" for the natural residual
  law: string; // of friction; "" : not told
  section: string;
  outer: string; // loop around the solver; "" : none, or by default
}

export interface FreeTable {
  title: string;
  columns: string[];
  rows: string[][];
  note: string;
}

// Curves of an experiment's own; `points`: marks that no line joins; `steps`: each value holds up to the next x; `bar`: half lengths of error
// bars, empty: none.
export interface FreeFigure {
  title: string;
  note: string;
  x: string; // label
  y: string;
  xLog: boolean;
  yLog: boolean;
  points: boolean;
  steps: boolean;
  curves: { name: string; x: Float64Array; y: Float64Array; bar: Float64Array }[];
  styles: Style[]; // of the curves
}

export interface Report {
  version: string;
  title: string;
  date: string;
  machine: string;
  notes: string[];
  thresholds: number[];
  problems: Problem[];
  solvers: string[]; // in order of appearance; those that ran nothing last
  styles: Style[]; // of the solvers
  runs: Run[];
  tables: FreeTable[];
  figures: FreeFigure[];
  maps: HeatMap[];
}

type Raw = Record<string, unknown>;

const object = (v: unknown): Raw => (v !== null && typeof v === "object" && !Array.isArray(v) ? (v as Raw) : {});
const list = (v: unknown): unknown[] => (Array.isArray(v) ? v : []);
const text = (v: unknown): string => (v === null || v === undefined ? "" : String(v));
const number = (v: unknown): number => (typeof v === "number" ? v : NaN);
const numbers = (v: unknown): Float64Array => Float64Array.from(list(v), number);

function record<K extends string, V>(keys: readonly K[], make: (key: K) => V): Record<K, V> {
  return Object.fromEntries(keys.map((k) => [k, make(k)])) as Record<K, V>;
}

function readProblem(v: unknown, index: number): Problem {
  const raw = object(v);
  return {
    index,
    name: text(raw.name) || `problem ${index + 1}`,
    source: text(raw.source),
    ...record(PROBLEM_NUMBERS, (k) => number(raw[k])),
  };
}

function readReference(v: unknown): Record<string, string | number> {
  const entries = Object.entries(object(v)).filter(([, x]) => typeof x === "number" || typeof x === "string");
  return Object.fromEntries(entries) as Record<string, string | number>;
}

const solverName = (run: Raw): string => text(run.solver) || "(unnamed)";

function solverNames(runs: unknown[]): string[] {
  const ran = runs.map(object).filter((run) => run.outcome !== "unsupported");
  return [...new Set([...ran, ...runs.map(object)].map(solverName))];
}

function readRun(v: unknown, problems: Problem[], solvers: string[]): Run {
  const raw = object(v);
  const name = solverName(raw);
  const wanted = Math.max(0, Math.trunc(number(raw.problem)) || 0);
  while (problems.length <= wanted) problems.push(readProblem(null, problems.length));
  const contacts = object(raw.contacts), residual = object(raw.residual), trace = object(raw.trace), impulses = object(raw.impulses);
  return {
    problem: problems[wanted]!,
    solver: solvers.indexOf(name),
    name,
    ran: text(raw.ran),
    outcome: text(raw.outcome) || "unknown",
    reason: text(raw.reason) || (raw.interrupted === true ? "interrupted" : ""),
    ...record(RUN_NUMBERS, (k) => number(raw[k])),
    residual: record(RESIDUALS, (k) => number(residual[k])),
    contacts: record(CONTACTS, (k) => number(contacts[k])),
    trace: record(COLUMNS, (k) => numbers(trace[k])),
    impulses: { rank: numbers(impulses.rank), value: numbers(impulses.value) },
    reference: readReference(raw.reference),
    terms: {
      tolerance: number(raw.tolerance), max_iterations: number(raw.max_iterations), max_seconds: number(raw.max_seconds),
      start: text(raw.start), threads: number(raw.threads),
      measure: text(raw.measure), law: text(raw.law), section: text(raw.section), outer: text(raw.outer),
    },
  };
}

function readTable(v: unknown): FreeTable {
  const raw = object(v);
  return {
    title: text(raw.title),
    columns: list(raw.columns).map(text),
    rows: list(raw.rows).map((row) => list(row).map(text)),
    note: text(raw.note),
  };
}

// `ordered`: curves have no names to go by, and take hues in order.
function readFigure(v: unknown, ordered: boolean): FreeFigure {
  const raw = object(v);
  const curves = list(raw.curves).map(object).map((c) => ({ name: text(c.name), x: numbers(c.x), y: numbers(c.y), bar: numbers(c.bar) }));
  return {
    title: text(raw.title), note: text(raw.note), x: text(raw.x), y: text(raw.y),
    xLog: raw.x_log === true, yLog: raw.y_log === true, points: raw.points === true, steps: raw.steps === true,
    curves, styles: ordered ? curves.map((_, i) => styleOf(i)) : solverStyles(curves.map((c) => c.name)),
  };
}

export function readReport(v: unknown): Report {
  const raw = object(v);
  const problems = list(raw.problems).map(readProblem);
  const solvers = solverNames(list(raw.runs));
  const runs = list(raw.runs).map((run) => readRun(run, problems, solvers));
  const thresholds = list(raw.thresholds).map(number).filter((t) => t > 0);
  return {
    version: text(object(raw.talus).version),
    title: text(raw.title) || "Talus report",
    date: text(raw.date).replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\dZ$/, "$1 $2 UTC"),
    machine: text(raw.machine),
    notes: list(raw.notes).map(text).filter(Boolean),
    thresholds: (thresholds.length ? thresholds : [1e-2, 1e-4, 1e-6, 1e-8]).sort((a, b) => b - a),
    problems,
    solvers,
    styles: solverStyles(solvers),
    runs,
    tables: list(raw.tables).map(readTable),
    figures: list(raw.figures).map((f) => readFigure(f, raw.kind === "measure")),
    maps: list(raw.maps).map(readMap),
  };
}

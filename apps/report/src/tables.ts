// The tables of the page, from the runs in view.

import { htmlElement, svgElement } from "../../look/dom";
import { formatInteger, formatGiven, formatPower, formatSignificant } from "../../look/format";
import type { Inks } from "../../look/inks";
import { points } from "./chart";
import { coordinates } from "./charts";
import { CONTACTS, type FreeTable, type Problem, type Report, type ResidualKey, type Run } from "./data";
import { sample } from "./figure";
import { limitsText, megabytes, termsText } from "./format";
import { costTo, geometricMean, profiles, sharedTerms } from "./measure";
import { colour } from "./palette";
import { COST_LABELS, type Item, type State } from "./state";
import type { TableColumn, TableSpec } from "./table";

const SIGNS: Record<string, string> = { converged: "●", budget: "◐", infeasible: "▲", diverged: "✕", unsupported: "○" };

function outcome(run: Run): Node {
  // That a budget is used up shows in the totals; for the rest the reason is news.
  const told = run.outcome !== "budget";
  return htmlElement("span", { class: `outcome ${run.outcome in SIGNS ? run.outcome : "unknown"}`, title: run.reason || null },
    htmlElement("span", { class: "sign", "aria-hidden": "true" }, SIGNS[run.outcome] ?? "?"), run.outcome,
    told && run.reason ? htmlElement("span", { class: "reason" }, run.reason) : null);
}

// A published figure under ours.
function withReference(text: string, run: Run, key: string): Node | string {
  const theirs = run.reference[key];
  if (theirs === undefined) return text;
  const shown = typeof theirs === "number" ? (Number.isInteger(theirs) ? formatInteger(theirs) : formatSignificant(theirs)) : theirs;
  return htmlElement("span", {}, text, htmlElement("span", { class: "ref", title: String(run.reference.source ?? "reference") }, shown));
}

function column(key: string, head: string, unit: string, value: (i: Item) => number, show: (v: number) => string): TableColumn<Item> {
  return { key, head, unit, value, show: (i) => withReference(show(value(i)), i.run, key) };
}

const nameColumn = (state: State, inks: Inks): TableColumn<Item> => ({
  key: "name", head: state.view === "problem" ? "Solver" : "Problem", value: (i) => i.label,
  show: (i) => htmlElement("span", { class: "series" }, sample(i.style, inks),
    htmlElement("span", {}, i.label, i.run.ran ? htmlElement("span", { class: "ran" }, ` (${i.run.ran})`) : null)),
});

// ---- runs ----

function thresholdColumn(state: State, thresholds: number[], t: number): TableColumn<Item> {
  const reached = (i: Item, k: number) => costTo(i.run, state.cost, thresholds[k]!);
  const show = state.cost === "seconds" ? formatSignificant : formatInteger;
  // Among runs that never got there the one that got further comes first.
  const compare = (a: Item, b: Item): number => {
    for (let k = t; k >= 0; k--) {
      const x = reached(a, k), y = reached(b, k);
      if (x && y) return x.value - y.value;
      if (x || y) return x ? -1 : 1;
    }
    const end = (i: Item) => (Number.isNaN(i.run.residual.natural_relative) ? Infinity : i.run.residual.natural_relative);
    return end(a) - end(b) || 0;
  };
  return {
    key: `to-${t}`,
    head: formatPower(thresholds[t]!),
    group: `${COST_LABELS[state.cost].head} until the relative natural residual is below`,
    best: state.view === "problem",
    value: (i) => reached(i, t)?.value ?? NaN,
    compare,
    show: (i) => {
      const r = reached(i, t);
      if (r) return (r.bound ? "≤ " : "") + show(r.value);
      return i.run.outcome === "unsupported" ? "" : "-";
    },
  };
}

// The course of the residual in a word-sized picture; all rows of a table share its axes.
function sparkColumn(items: Item[], state: State, inks: Inks): TableColumn<Item> {
  const lines = new Map(items.map((i) => [i, points(coordinates(i.run, state.cost, true), i.run.trace.natural_relative, true, true)]));
  const width = 84, height = 18;
  const limits = (lists: number[][]) => {
    const logs = lists.flat().map(Math.log);
    const low = logs.reduce((a, b) => Math.min(a, b), Infinity), high = logs.reduce((a, b) => Math.max(a, b), -Infinity);
    return { low, span: high - low || 1 };
  };
  const all = [...lines.values()], x = limits(all.map((p) => p.x)), y = limits(all.map((p) => p.y));
  const draw = (i: Item): Node => {
    const p = lines.get(i)!, every = Math.max(1, Math.ceil(p.x.length / 120));
    const at = p.x.flatMap((v, k) => (k % every === 0 || k === p.x.length - 1
      ? [`${(1 + ((Math.log(v) - x.low) / x.span) * (width - 2)).toFixed(1)},${(1 + (1 - (Math.log(p.y[k]!) - y.low) / y.span) * (height - 2)).toFixed(1)}`] : []));
    return svgElement("svg", { class: "spark", width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
      svgElement("polyline", { points: at.join(" "), fill: "none", stroke: colour(i.style, inks.dark), "stroke-width": 1.2 }));
  };
  return {
    key: "final", head: "Course and end", title: "Relative natural residual: its course, and where it ended",
    value: (i) => i.run.residual.natural_relative,
    show: (i) => htmlElement("span", { class: "course" }, draw(i),
      htmlElement("span", { class: "end" }, withReference(formatSignificant(i.run.residual.natural_relative), i.run, "natural_relative"))),
  };
}

const limitsColumn: TableColumn<Item> = {
  key: "limits", head: "Limits", title: "Tolerance, iterations and seconds at which the run was to end",
  value: (i) => i.run.terms.max_iterations, show: (i) => htmlElement("span", { title: termsText(i.run.terms) || null }, limitsText(i.run.terms)),
};

export function runsTable(items: Item[], state: State, report: Report, inks: Inks): TableSpec<Item> {
  const { thresholds } = report;
  const reach = thresholds.map((t) => items.some((i) => costTo(i.run, state.cost, t))).lastIndexOf(true);
  return {
    title: state.view === "problem" ? "Runs" : `Runs of ${report.solvers[state.solver] ?? ""}`,
    rows: items,
    sort: { key: `to-${Math.max(0, reach)}`, down: false },
    rowClass: (i) => i.run.outcome,
    columns: [
      nameColumn(state, inks),
      { key: "outcome", head: "Outcome", value: (i) => i.run.outcome, show: (i) => outcome(i.run) },
      ...thresholds.map((_, t) => thresholdColumn(state, thresholds, t)),
      sparkColumn(items, state, inks),
      column("iterations", "Iterations", "", (i) => i.run.iterations, formatInteger),
      column("applies", "Products", "", (i) => i.run.applies, formatInteger),
      column("seconds", "Time", "s", (i) => i.run.seconds, formatSignificant),
      column("objective", "Objective", "J", (i) => i.run.objective, objectiveText),
      column("memory_bytes", "Memory", "MB", (i) => i.run.memory_bytes, megabytes),
      ...(sharedTerms(report) ? [] : [limitsColumn]),
    ],
  };
}

// Solvers agree in the first digits of the objective, so it gets more of them.
function objectiveText(v: number): string {
  if (!Number.isFinite(v)) return "";
  return v === 0 ? "0" : Math.abs(v) >= 1e-3 && Math.abs(v) < 1e6 ? v.toPrecision(7) : v.toExponential(6).replace("e+", "e");
}

// ---- residuals ----

const RESIDUAL_HEADS: Record<ResidualKey, [group: string, head: string, unit: string]> = {
  natural: ["Natural residual", "rms", "m/s"],
  natural_max: ["Natural residual", "max", "m/s"],
  natural_relative: ["Natural residual", "relative", ""],
  projected_gradient: ["", "Projected gradient", "m/s"],
  complementarity_mean: ["Complementarity", "mean", "J"],
  complementarity_std: ["Complementarity", "std", "J"],
  complementarity_max: ["Complementarity", "max", "J"],
  primal_infeasibility: ["", "Primal infeasibility", "m/s"],
  duality_gap: ["", "Duality gap", "J"],
  siconos: ["Siconos", "relative", ""],
  siconos_over_q: ["Siconos", "over |q|", ""],
  dilation: ["", "Dilation that ccp would add", "m/s"],
  bound_mismatch: ["", "Mismatch of bounds", "m/s"],
  velocity_error: ["", "Velocity error", "over |q|"],
};

// Zero wherever the law has no such thing.
const OF_LAWS: ResidualKey[] = ["dilation", "bound_mismatch"];

export function residualTable(items: Item[], state: State, inks: Inks): TableSpec<Item> {
  const keys = (Object.keys(RESIDUAL_HEADS) as ResidualKey[])
    .filter((k) => items.some((i) => Number.isFinite(i.run.residual[k]) && (i.run.residual[k] !== 0 || !OF_LAWS.includes(k))));
  return {
    title: "Residuals at the end",
    rows: items.filter((i) => keys.some((k) => Number.isFinite(i.run.residual[k]))),
    sort: { key: "natural_relative", down: false },
    columns: [nameColumn(state, inks), ...keys.map((k) => {
      const [group, head, unit] = RESIDUAL_HEADS[k];
      return { ...column(k, head, unit, (i: Item) => i.run.residual[k], formatSignificant), ...(group && { group }), best: state.view === "problem" };
    }), ...CONTACTS.filter((k) => items.some((i) => Number.isFinite(i.run.contacts[k]))).map((k) => (
      { ...column(`contacts-${k}`, k, "", (i: Item) => i.run.contacts[k], formatInteger), group: "Contacts" }))],
  };
}

// ---- across problems ----

export interface SolverRow {
  solver: number;
  name: string;
  solved: number;
  mean: number;
  costs: Map<number, number>;
}

export function acrossTable(report: Report, state: State, inks: Inks): TableSpec<SolverRow> {
  const threshold = report.thresholds[state.threshold]!;
  const { problems, solvers } = profiles(report, state.cost, threshold);
  const rows: SolverRow[] = solvers.map((s) => ({
    solver: s.solver, name: report.solvers[s.solver]!, solved: s.solved, mean: s.ratios.length ? geometricMean(s.ratios) : NaN, costs: new Map(),
  }));
  for (const run of report.runs) rows[run.solver]!.costs.set(run.problem.index, costTo(run, state.cost, threshold)?.value ?? NaN);
  const show = state.cost === "seconds" ? formatSignificant : formatInteger;
  const unit = COST_LABELS[state.cost].head;
  return {
    title: "Across problems",
    rows,
    sort: { key: "solved", down: true },
    columns: [
      { key: "name", head: "Solver", value: (r) => r.name, show: (r) => htmlElement("span", { class: "series" }, sample(report.styles[r.solver]!, inks), htmlElement("span", {}, r.name)) },
      { key: "solved", head: "Solved", unit: `of ${problems}`, value: (r) => r.solved, compare: (a, b) => a.solved - b.solved || (b.mean || Infinity) - (a.mean || Infinity) || 0 },
      { key: "mean", head: "Over best", unit: "geom. mean", title: "Geometric mean, over the problems it solved, of its cost over the best solver's", value: (r) => r.mean, show: (r) => formatSignificant(r.mean) },
      ...report.problems.map((p): TableColumn<SolverRow> => ({
        key: `p${p.index}`, head: p.name, group: `${unit} until the relative natural residual is below ${formatPower(threshold)}`, best: true,
        value: (r) => r.costs.get(p.index) ?? NaN,
        show: (r) => (r.costs.has(p.index) ? show(r.costs.get(p.index)!) || "-" : ""),
      })),
    ],
  };
}

// ---- problems, free tables ----

export function problemTable(report: Report): TableSpec<Problem> {
  const friction = (p: Problem) => (p.mu_max > p.mu_min ? `${formatGiven(p.mu_min)} to ${formatGiven(p.mu_max)}` : formatGiven(p.mu_max));
  const count = (key: "contacts" | "rows" | "bodies", head: string): TableColumn<Problem> => ({ key, head, value: (p) => p[key], show: (p) => formatInteger(p[key]) });
  return {
    title: "Problems",
    rows: report.problems,
    columns: [
      { key: "name", head: "Problem", value: (p) => p.name },
      count("contacts", "Contacts"), count("rows", "Rows"), count("bodies", "Bodies"),
      { key: "mu", head: "Friction", unit: "µ", value: (p) => p.mu_max, show: friction },
      { key: "source", head: "Source", value: (p) => p.source },
    ],
  };
}

// Texts that are numbers sort as such.
const sortable = (s: string): number | string => (/^[-+]?[\d.,]+(e[-+]?\d+)?$/i.test(s) ? Number(s.replace(/,/g, "")) : s);

export function freeTable(table: FreeTable): TableSpec<string[]> {
  const width = Math.max(table.columns.length, ...table.rows.map((r) => r.length));
  return {
    title: table.title || "Table",
    rows: table.rows,
    columns: Array.from({ length: width }, (_, c) => {
      const numeric = table.rows.every((r) => !r[c] || r[c] === "-" || typeof sortable(r[c]!) === "number");
      return {
        key: String(c), head: table.columns[c] ?? "",
        prose: table.rows.some((r) => (r[c] ?? "").length > 48),
        value: (r: string[]) => (numeric ? (r[c] && r[c] !== "-" ? sortable(r[c]!) : NaN) : (r[c] ?? "")),
        show: (r: string[]) => r[c] ?? "",
      };
    }),
  };
}

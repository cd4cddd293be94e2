// What the reader has chosen. It is kept in the address after '#', so that a view can be linked to.

import { chooseWord, type Theme, THEMES } from "../../look/choices";
import { type Cost, COSTS, type Report, type Run } from "./data";
import { styleOf, type Style } from "./palette";

export const COST_LABELS: Record<Cost, { short: string; axis: string; head: string }> = {
  seconds: { short: "seconds", axis: "time, s", head: "Seconds" },
  applies: { short: "products", axis: "operator products", head: "Products" },
  iteration: { short: "iterations", axis: "iterations", head: "Iterations" },
};

export interface State {
  view: "problem" | "solver"; // what is held fixed: one problem, or one solver
  problem: number;
  solver: number;
  cost: Cost;
  y: string; // key of a quantity of charts.ts
  logX: boolean;
  logImpulses: boolean;
  threshold: number; // index
  theme: Theme;
}

export function firstState(report: Report): State {
  // A problem that somebody ran; the middle threshold is the one most runs reach and tell apart by.
  return {
    view: "problem", problem: report.runs[0]?.problem.index ?? 0, solver: 0, cost: "seconds", y: "",
    logX: true, logImpulses: false, threshold: Math.floor((report.thresholds.length - 1) / 2), theme: "auto",
  };
}

const within = (v: string | null, count: number, otherwise: number): number => {
  const n = Number(v);
  return v !== null && Number.isInteger(n) && n >= 0 && n < count ? n : otherwise;
};

export function readState(hash: string, report: Report): State {
  const s = firstState(report), given = new URLSearchParams(hash.replace(/^#/, ""));
  return {
    view: chooseWord(given.get("view"), ["problem", "solver"], s.view),
    problem: within(given.get("problem"), report.problems.length, s.problem),
    solver: within(given.get("solver"), report.solvers.length, s.solver),
    cost: chooseWord(given.get("cost"), COSTS, s.cost),
    y: given.get("y") ?? s.y,
    logX: (given.get("logx") ?? "1") === "1",
    logImpulses: given.get("logimpulses") === "1",
    threshold: within(given.get("threshold"), report.thresholds.length, s.threshold),
    theme: chooseWord(given.get("theme"), THEMES, s.theme),
  };
}

// Only what differs from the first state.
export function writeState(s: State, report: Report): string {
  const flat = (t: State): Record<string, string> => ({
    view: t.view, problem: String(t.problem), solver: String(t.solver), cost: t.cost, y: t.y,
    logx: t.logX ? "1" : "0", logimpulses: t.logImpulses ? "1" : "0", threshold: String(t.threshold), theme: t.theme,
  });
  const first = flat(firstState(report));
  return new URLSearchParams(Object.entries(flat(s)).filter(([k, v]) => v !== first[k])).toString();
}

// A run under the name it has in the present view.
export interface Item {
  run: Run;
  key: string;
  label: string;
  style: Style;
}

export function chosen(report: Report, state: State): Item[] {
  const seen = new Map<string, number>();
  return report.runs
    .filter((r) => (state.view === "problem" ? r.problem.index === state.problem : r.solver === state.solver))
    .map((run) => {
      const name = state.view === "problem" ? run.name : run.problem.name;
      const times = (seen.get(name) ?? 0) + 1;
      seen.set(name, times);
      const label = times > 1 ? `${name} (${times})` : name;
      return { run, key: `${state.view}:${label}`, label, style: state.view === "problem" ? report.styles[run.solver]! : styleOf(run.problem.index) };
    });
}

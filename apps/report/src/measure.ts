// Figures drawn from runs: cost to a tolerance, the best objective of a problem, performance profiles.

import type { Cost, Report, Run, Terms } from "./data";
import { termsText } from "./format";

export interface Reached {
  value: number;
  bound: boolean; // only known to be at most this: no trace point shows it, the final residual does
}

export const total = (run: Run, cost: Cost): number => (cost === "iteration" ? run.iterations : run[cost]);

// The cost at the first trace point whose relative natural residual is at or below the threshold.
export function costTo(run: Run, cost: Cost, threshold: number): Reached | null {
  const residual = run.trace.natural_relative, costs = run.trace[cost];
  for (let i = 0; i < residual.length && i < costs.length; i++)
    if (residual[i]! <= threshold && !Number.isNaN(costs[i]!)) return { value: costs[i]!, bound: false };
  const end = total(run, cost);
  if (run.residual.natural_relative <= threshold && !Number.isNaN(end)) return { value: end, bound: true };
  return null;
}

// The lowest objective that any run of each problem has seen; NaN where none was measured.
export function bestObjectives(report: Report): number[] {
  const best = report.problems.map(() => NaN);
  for (const run of report.runs) {
    const p = run.problem.index;
    const take = (v: number) => {
      if (Number.isFinite(v) && !(best[p]! <= v)) best[p] = v;
    };
    if (run.outcome === "diverged") continue;
    take(run.objective);
    run.trace.objective.forEach(take);
  }
  return best;
}

export interface Profile {
  solver: number;
  solved: number;
  ratios: number[]; // to the best of each problem it solved, ascending
}

export interface Profiles {
  problems: number; // with at least one run
  solvers: Profile[];
}

// Dolan and More: per solver, the share of problems solved within tau times the cost of the best.
export function profiles(report: Report, cost: Cost, threshold: number): Profiles {
  const byProblem = new Map<number, { solver: number; value: number }[]>();
  for (const run of report.runs) {
    const row = byProblem.get(run.problem.index) ?? [];
    byProblem.set(run.problem.index, row);
    const reached = costTo(run, cost, threshold);
    if (reached) row.push({ solver: run.solver, value: reached.value });
  }
  const solvers: Profile[] = report.solvers.map((_, solver) => ({ solver, solved: 0, ratios: [] }));
  for (const row of byProblem.values()) {
    const best = Math.min(...row.map((r) => r.value));
    for (const { solver, value } of row) {
      solvers[solver]!.solved++;
      solvers[solver]!.ratios.push(value === best ? 1 : value / Math.max(best, Number.MIN_VALUE));
    }
  }
  for (const s of solvers) s.ratios.sort((a, b) => a - b);
  return { problems: byProblem.size, solvers };
}

export function geometricMean(values: number[]): number {
  return Math.exp(values.reduce((sum, v) => sum + Math.log(v), 0) / values.length);
}

// The terms of all runs; null where they differ.
export function sharedTerms(report: Report): Terms | null {
  const texts = new Set(report.runs.map((run) => termsText(run.terms)));
  return texts.size < 2 ? (report.runs[0]?.terms ?? null) : null;
}

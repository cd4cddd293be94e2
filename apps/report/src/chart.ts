// What a figure shows, apart from how it is drawn: plot.ts draws lines on the screen, vector.ts as SVG.

import { axisRange, drawnIndices } from "../../look/ticks";
import { csv } from "./format";
import type { Style } from "./palette";

export interface Series {
  key: string; // what the legend toggles, the same in every figure
  label: string;
  style: Style;
  x: number[]; // ascending
  y: number[];
  bar?: number[]; // half length of the error bar of each point; NaN: none
}

// The ends of the error bar of point i; null: it has none.
export function barEnds({ y, bar }: Series, i: number): [number, number] | null {
  const half = bar?.[i];
  return half !== undefined && Number.isFinite(half) ? [y[i]! - half, y[i]! + half] : null;
}

// What the axis of y is to hold of a series.
export const heights = (s: Series): number[] => [...s.y, ...s.y.flatMap((_, i) => barEnds(s, i) ?? [])];

export interface Axis {
  label: string;
  name: string; // in CSV
  log: boolean;
}

export interface LineChart {
  kind: "lines";
  x: Axis;
  y: Axis;
  stepped?: boolean;
  points?: boolean; // marks that no line joins
  guides?: number[]; // values of y with a line across
  yRange?: [number, number];
  series: Series[];
}

export interface BarRow {
  key: string;
  label: string;
  values: number[]; // one per measure, longest bar last
}

export interface BarChart {
  kind: "bars";
  x: Axis;
  measures: string[];
  rows: BarRow[];
}

export type Chart = LineChart | BarChart;

// What the axes can show, in the order of x; `at` are the indices of these points.
export function points(x: ArrayLike<number>, y: ArrayLike<number>, xLog: boolean, yLog: boolean): { x: number[]; y: number[]; at: number[] } {
  const at: number[] = [];
  let sorted = true;
  for (let i = 0; i < Math.min(x.length, y.length); i++) {
    const a = x[i]!, b = y[i]!;
    if (!Number.isFinite(a) || !Number.isFinite(b) || (xLog && a <= 0) || (yLog && b <= 0)) continue;
    if (at.length && a < x[at[at.length - 1]!]!) sorted = false;
    at.push(i);
  }
  if (!sorted) at.sort((i, j) => x[i]! - x[j]!);
  return { x: at.map((i) => x[i]!), y: at.map((i) => y[i]!), at };
}

const POINTS = 1600; // per series, about four for every second pixel of a wide plot

// What the eye can tell apart.
export function drawable({ x, y }: Series, log: boolean): { x: number[]; y: number[] } {
  if (x.length <= POINTS) return { x, y };
  const place = (i: number) => (log ? Math.log(x[i]!) : x[i]!);
  const start = place(0), span = place(x.length - 1) - start || 1;
  const kept = drawnIndices(x.length, (i) => Math.floor(((place(i) - start) / span) * (POINTS / 4 - 1)), y);
  return { x: kept.map((i) => x[i]!), y: kept.map((i) => y[i]!) };
}

export type Range = [number, number];

function extent(lists: number[][]): Range {
  let min = Infinity, max = -Infinity;
  for (const values of lists)
    for (const v of values) {
      if (v < min) min = v;
      if (v > max) max = v;
    }
  return [min, max];
}

// The range of an axis: never empty, on a log axis positive, `whole` decades where asked.
export function range(lists: number[][], log: boolean, whole: boolean): Range {
  const [min, max] = extent(lists);
  if (min > max) return log ? [0.1, 10] : [0, 1];
  if (!log || whole) return axisRange(min, max, log, 0.03);
  return min === max ? [min / 2, max * 2] : [min * (min / max) ** 0.01, max * (max / min) ** 0.01];
}

export function chartCsv(chart: Chart): string {
  if (chart.kind === "bars")
    return csv([["solver", ...chart.measures], ...chart.rows.map((r) => [r.label, ...r.values])]);
  const barred = chart.series.some((s) => s.bar);
  const rows: (string | number)[][] = [["series", chart.x.name, chart.y.name, ...(barred ? ["bar"] : [])]];
  for (const s of chart.series) s.x.forEach((x, i) => rows.push([s.label, x, s.y[i]!, ...(barred ? [s.bar?.[i] ?? NaN] : [])]));
  return csv(rows);
}

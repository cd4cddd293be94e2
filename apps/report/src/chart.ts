// What a figure shows, apart from how it is drawn: plot.ts draws lines on the screen, vector.ts as SVG.

import { csv, power } from "./format";
import type { Style } from "./palette";

export interface Series {
  key: string; // what the legend toggles, the same in every figure
  label: string;
  style: Style;
  x: number[]; // ascending
  y: number[];
}

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

// What the axes can show, in the order of x.
export function points(x: ArrayLike<number>, y: ArrayLike<number>, xLog: boolean, yLog: boolean): { x: number[]; y: number[] } {
  const at: number[] = [];
  let sorted = true;
  for (let i = 0; i < Math.min(x.length, y.length); i++) {
    const a = x[i]!, b = y[i]!;
    if (!Number.isFinite(a) || !Number.isFinite(b) || (xLog && a <= 0) || (yLog && b <= 0)) continue;
    if (at.length && a < x[at[at.length - 1]!]!) sorted = false;
    at.push(i);
  }
  if (!sorted) at.sort((i, j) => x[i]! - x[j]!);
  return { x: at.map((i) => x[i]!), y: at.map((i) => y[i]!) };
}

const POINTS = 1600; // per series, about four for every second pixel of a wide plot

// What the eye can tell apart: of each narrow strip of x the first, lowest, highest and last point.
export function thinned(series: Series, log: boolean): { x: number[]; y: number[] } {
  const { x, y } = series;
  if (x.length <= POINTS) return { x, y };
  const place = (i: number) => (log ? Math.log(x[i]!) : x[i]!);
  const start = place(0), span = place(x.length - 1) - start || 1;
  const strip = (i: number) => Math.floor(((place(i) - start) / span) * (POINTS / 4 - 1));
  const kept: number[] = [];
  for (let from = 0; from < x.length; ) {
    let to = from, low = from, high = from;
    for (const here = strip(from); to < x.length && strip(to) === here; to++) {
      if (y[to]! < y[low]!) low = to;
      if (y[to]! > y[high]!) high = to;
    }
    kept.push(...[...new Set([from, low, high, to - 1])].sort((a, b) => a - b));
    from = to;
  }
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
  if (log) {
    if (whole) {
      const low = Math.floor(Math.log10(min) + 1e-9), high = Math.ceil(Math.log10(max) - 1e-9);
      return [10 ** low, 10 ** Math.max(high, low + 1)];
    }
    return min === max ? [min / 2, max * 2] : [min * (min / max) ** 0.01, max * (max / min) ** 0.01];
  }
  const pad = max > min ? 0.03 * (max - min) : Math.abs(max) * 0.1 || 1;
  return [min >= 0 && min < 0.3 * max ? 0 : min - pad, max + pad];
}

export function ticks(min: number, max: number, log: boolean, most: number): number[] {
  if (!log || max / min < 8) return linearTicks(min, max, most);
  const low = Math.ceil(Math.log10(min) - 1e-9), high = Math.floor(Math.log10(max) + 1e-9);
  const out: number[] = [];
  if (high - low < 2) {
    for (let d = low - 1; d <= high; d++)
      for (const m of [1, 2, 5]) {
        const v = Number(`${m}e${d}`);
        if (v >= min * (1 - 1e-9) && v <= max * (1 + 1e-9)) out.push(v);
      }
    return out;
  }
  const step = Math.ceil((high - low + 1) / Math.max(2, most));
  for (let d = low; d <= high; d++) if (d % step === 0) out.push(Number(`1e${d}`));
  return out;
}

function linearTicks(min: number, max: number, most: number): number[] {
  const rough = (max - min) / Math.max(2, most);
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = size * ([1, 2, 5, 10].find((m) => m * size >= rough) ?? 10);
  const out: number[] = [];
  for (let k = Math.ceil(min / step - 1e-9); k * step <= max + 1e-9 * step; k++)
    out.push(Number((k * step).toPrecision(12)));
  return out;
}

export function tickTexts(values: number[], log: boolean): string[] {
  const sizes = values.filter((v) => v !== 0).map(Math.abs);
  const wide = sizes.some((v) => v < 1e-3 || v >= 1e5);
  if (log && wide) return values.map(power);
  if (wide) return values.map((v) => (v === 0 ? "0" : String(Number(v.toPrecision(4)).toExponential()).replace("e+", "e")));
  return values.map((v) => (Math.abs(v) >= 1e3 ? String(v).replace(/\B(?=(\d{3})+$)/g, ",") : String(v)));
}

export function chartCsv(chart: Chart): string {
  if (chart.kind === "bars")
    return csv([["solver", ...chart.measures], ...chart.rows.map((r) => [r.label, ...r.values])]);
  const rows: (string | number)[][] = [["series", chart.x.name, chart.y.name]];
  for (const s of chart.series) s.x.forEach((x, i) => rows.push([s.label, x, s.y[i]!]));
  return csv(rows);
}

// Axes: their ranges, the round numbers along them and their texts; and which values belong to a position on an axis.

import { formatPower } from "./format";

// Round numbers from min to max, about `most` of them; on a log axis powers of ten, or 1, 2 and 5 times these.
export function tickValues(min: number, max: number, log: boolean, most: number): number[] {
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

// The texts of the numbers along an axis, all in the same form.
export function tickTexts(values: number[], log: boolean): string[] {
  const sizes = values.filter((v) => v !== 0).map(Math.abs);
  const wide = sizes.some((v) => v < 1e-3 || v >= 1e5);
  if (log && wide) return values.map(formatPower);
  if (wide) return values.map((v) => (v === 0 ? "0" : String(Number(v.toPrecision(4)).toExponential()).replace("e+", "e")));
  return values.map((v) => (Math.abs(v) >= 1e3 ? String(v).replace(/\B(?=(\d{3})+$)/g, ",") : String(v)));
}

// The range of an axis for values from min to max. On a log axis: whole decades. Else: wider by the share `margin` at both ends,
// but from 0 if min is positive and below 0.3 max.
export function axisRange(min: number, max: number, log: boolean, margin: number): [number, number] {
  if (log) {
    const low = Math.floor(Math.log10(min) + 1e-9), high = Math.ceil(Math.log10(max) - 1e-9);
    return [10 ** low, 10 ** Math.max(high, low + 1)];
  }
  const pad = max > min ? margin * (max - min) : Math.abs(max) * 0.1 || 1;
  return [min >= 0 && min < 0.3 * max ? 0 : min - pad, max + pad];
}

// The number of the `count` ascending values value(k) that are at or below x.
export function countUpTo(count: number, value: (k: number) => number, x: number): number {
  let low = 0, high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (value(middle) <= x) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Indices of the values that a plot must draw: of consecutive values in the same strip of pixels the first, lowest, highest and
// last. strip(k) is the strip of value k, y[k] its height.
export function drawnIndices(count: number, strip: (k: number) => number, y: ArrayLike<number>): number[] {
  const kept: number[] = [];
  for (let from = 0, to = 0; from < count; from = to) {
    let low = from, high = from;
    for (const here = strip(from); to < count && strip(to) === here; to++) {
      if (y[to]! < y[low]! || Number.isNaN(y[low]!)) low = to;
      if (y[to]! > y[high]! || Number.isNaN(y[high]!)) high = to;
    }
    kept.push(...[...new Set([from, low, high, to - 1])].sort((a, b) => a - b));
  }
  return kept;
}

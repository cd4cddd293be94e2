// One number per body to colour by, and the scale that turns it into a colour.

import type { ColourBy, Frame, Scale } from "../types";
import { entriesOf } from "./styles";
import { IDS, rgb, sequentialAt, type Theme } from "./palette";

export const FIXED = -1; // the value of bodies that are not coloured: no value shown is negative

export const isCategory = (by: ColourBy): boolean => by === "id" || by === "material" || by === "tag" || by === "rank" || by === "entry";

// The k-th smallest of values[0..n), which are put into another order.
export function select(values: Float32Array, n: number, k: number): number {
  let low = 0, high = n - 1;
  while (low < high) {
    const pivot = values[(low + high) >> 1]!;
    let i = low, j = high;
    while (i <= j) {
      while (values[i]! < pivot) i++;
      while (values[j]! > pivot) j--;
      if (i <= j) {
        const t = values[i]!;
        values[i++] = values[j]!;
        values[j--] = t;
      }
    }
    if (k <= j) high = j;
    else if (k >= i) low = i;
    else break;
  }
  return values[k] ?? 0;
}

// Rounded up to a number that reads well.
export function nice(x: number): number {
  if (!(x > 0) || !Number.isFinite(x)) return 0;
  const ten = 10 ** Math.floor(Math.log10(x));
  for (const m of [1, 1.5, 2, 3, 4, 5, 6, 8, 10]) if (m * ten >= x * (1 - 1e-9)) return Number((m * ten).toPrecision(3));
  return 10 * ten;
}

function percentile99(values: Float32Array, fixed: Uint8Array): number {
  const moving = new Float32Array(values.length);
  let n = 0;
  for (let i = 0; i < values.length; i++) if (!fixed[i] && Number.isFinite(values[i]!)) moving[n++] = values[i]!;
  return n === 0 ? 0 : select(moving, n, Math.ceil(0.99 * n) - 1);
}

// Where the scale of a frame ends; 0 where nothing has a value above 0 yet.
export function endOf(frame: Frame, by: ColourBy): number {
  let high = 0;
  switch (by) {
    case "speed": return nice(Math.max(percentile99(frame.speed, frame.fixed), 0.25 * Math.sqrt(Math.hypot(...frame.head.gravity) * 2 * frame.head.radius)));
    case "force": return nice(percentile99(frame.force, frame.fixed));
    case "dissipated": return frame.dissipated ? nice(percentile99(frame.dissipated, frame.fixed)) : 0;
    case "touching": return 12;
    case "radius":
      for (let i = 0; i < frame.count; i++) if (!frame.fixed[i] && frame.radius[i]! > high) high = frame.radius[i]!;
      return nice(high);
    default:
      for (let i = 0; i < frame.count; i++) if (!frame.fixed[i] && frame.layer[i]! > high) high = frame.layer[i]!;
      return Math.max(1, high);
  }
}

export function scaleOf(frame: Frame, by: ColourBy): Scale | null {
  return isCategory(by) ? null : { low: 0, high: endOf(frame, by) || 1, log: false };
}

export function colourValues(frame: Frame, by: ColourBy, out: Float32Array): void {
  const n = frame.count;
  switch (by) {
    case "speed": out.set(frame.speed); break;
    case "force": out.set(frame.force); break;
    case "dissipated": // a contact that is pushed apart gives energy back
      for (let i = 0; i < n; i++) out[i] = Math.max(0, frame.dissipated?.[i] ?? 0);
      break;
    case "layer": out.set(frame.layer); break;
    case "radius": out.set(frame.radius); break;
    case "touching": if (frame.touching) out.set(frame.touching); else out.fill(0, 0, n); break;
    case "id":
      for (let i = 0; i < n; i++) out[i] = (Math.imul(frame.id[i]!, 2654435761) + 1640572038) >>> 27;
      break;
    case "material": for (let i = 0; i < n; i++) out[i] = frame.material[i]! % 7; break;
    case "rank": for (let i = 0; i < n; i++) out[i] = frame.rank && frame.rank[i]! >= 0 ? frame.rank[i]! % 7 : FIXED; break;
    case "entry": {
      const of = entriesOf(frame);
      for (let i = 0; i < n; i++) out[i] = of[i]! >= 0 ? of[i]! % 7 : FIXED;
      break;
    }
    case "tag": for (let i = 0; i < n; i++) out[i] = ((frame.tag[i]! % 7) + 7) % 7; break;
  }
  for (let i = 0; i < n; i++) if (frame.fixed[i]) out[i] = FIXED;
}

export const MAP_WIDTH = 256;

// The texels of a map; categories fill as many as they are. What shaders need beside it: where the middle of
// the first and the last texel lie, and from which value to which.
export interface ColourMap { texels: Uint8Array<ArrayBuffer>; smooth: boolean; first: number; last: number; low: number; high: number; log: boolean }

export function colourMap(by: ColourBy, scale: Scale | null, theme: Theme): ColourMap {
  const texels = new Uint8Array(4 * MAP_WIDTH).fill(255);
  if (!isCategory(by)) {
    for (let k = 0; k < MAP_WIDTH; k++) texels.set(sequentialAt(k / (MAP_WIDTH - 1)), 4 * k);
    const s = scale ?? { low: 0, high: 1, log: false };
    return { texels, smooth: true, first: 0.5 / MAP_WIDTH, last: 1 - 0.5 / MAP_WIDTH, low: s.low, high: s.high, log: s.log };
  }
  const colours = by === "id" ? IDS : theme.categories;
  colours.forEach((c, k) => texels.set(rgb(c), 4 * k));
  return { texels, smooth: false, first: 0.5 / MAP_WIDTH, last: (colours.length - 0.5) / MAP_WIDTH, low: 0, high: colours.length - 1, log: false };
}

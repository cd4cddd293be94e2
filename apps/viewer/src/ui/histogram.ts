// How the values that colours show are spread over the moving bodies of a frame: bars above the colour scale.

import { htmlElement } from "../../../look/dom";
import { formatInteger, formatSignificant } from "../../../look/format";
import { colourValues } from "../engine/colour";
import { sequentialCss } from "../engine/palette";
import type { ColourBy, Frame, Scale } from "../types";

const BINS = 50, HEIGHT = 34;

export interface Spread { counts: number[]; bodies: number; mean: number; above: number; below: number }

// Counts of values in equal parts of the scale; values beyond its ends count in the outermost parts, and are told.
export function spreadOf(values: ArrayLike<number>, moving: (i: number) => boolean, count: number, { low, high, log }: Scale, bins = BINS): Spread {
  const out: Spread = { counts: new Array<number>(bins).fill(0), bodies: 0, mean: 0, above: 0, below: 0 };
  const along = (v: number): number => (log ? Math.log(Math.max(v, 1e-30) / low) / Math.log(high / low) : (v - low) / (high - low));
  for (let i = 0; i < count; i++) {
    const v = values[i]!;
    if (!moving(i) || !Number.isFinite(v)) continue;
    if (v > high) out.above++;
    if (v < low) out.below++;
    out.counts[Math.min(bins - 1, Math.max(0, Math.floor(bins * along(v))))]!++;
    out.bodies++;
    out.mean += v;
  }
  out.mean = out.bodies > 0 ? out.mean / out.bodies : 0;
  return out;
}

export class Histogram {
  readonly node: HTMLElement;
  spread: Spread | null = null; // that is shown
  private canvas = htmlElement("canvas", { width: BINS * 4, height: HEIGHT });
  private says = htmlElement("span", {});
  private values = new Float32Array(0);

  constructor() {
    this.node = htmlElement("div", { class: "histogram", role: "img" }, this.says, this.canvas);
  }

  // No scale: categories, which have none.
  show(frame: Frame, by: ColourBy, scale: Scale | null, unit: string, on: boolean): void {
    this.node.hidden = !on || scale === null;
    this.spread = null;
    if (!on || !scale) return;
    if (this.values.length < frame.count) this.values = new Float32Array(frame.count);
    colourValues(frame, by, this.values);
    const spread = this.spread = spreadOf(this.values, (i) => !frame.fixed[i], frame.count, scale);
    const ctx = this.canvas.getContext("2d")!, most = Math.max(1, ...spread.counts);
    ctx.clearRect(0, 0, this.canvas.width, HEIGHT);
    spread.counts.forEach((n, k) => {
      const high = n > 0 ? Math.max(1, Math.round((n / most) * HEIGHT)) : 0;
      ctx.fillStyle = sequentialCss((k + 0.5) / BINS);
      ctx.fillRect(4 * k, HEIGHT - high, 3, high);
    });
    const part = (n: number, where: string): string => (n > 0 ? `, ${formatInteger(n)} ${where}` : "");
    this.says.textContent = `mean ${formatSignificant(spread.mean)}${unit ? ` ${unit}` : ""}${part(spread.above, "above")}${part(spread.below, "below")}`;
    this.node.setAttribute("aria-label", `Spread over ${formatInteger(spread.bodies)} moving bodies: ${this.says.textContent}`);
  }
}

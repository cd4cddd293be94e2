// The corner of the picture that says how large things are and where the axes point.

import { htmlElement, svgElement } from "../../../look/dom";
import { formatGiven } from "../../../look/format";

const LONGEST = 110, ARM = 22, SIZE = 70; // CSS pixels

// A length of 1, 2 or 5 times a power of ten that takes at most `most`.
export function roundLength(most: number): number {
  const ten = 10 ** Math.floor(Math.log10(most));
  return Number(([5, 2, 1].find((m) => m * ten <= most * (1 + 1e-9))! * ten).toPrecision(3));
}

// As a reader would say it: in m, mm, µm or km.
export function lengthText(m: number): string {
  const [unit, size] = m >= 1000 ? ["km", 1e3] as const : m >= 0.1 || m === 0 ? ["m", 1] as const : m >= 1e-4 ? ["mm", 1e-3] as const : ["µm", 1e-6] as const;
  return `${formatGiven(m / size)} ${unit}`;
}

export class Gauge {
  readonly node: HTMLElement;
  private bar = htmlElement("div", { class: "length" });
  private text = htmlElement("span", {});
  private axes = svgElement("svg", { viewBox: `${-SIZE / 2} ${-SIZE / 2} ${SIZE} ${SIZE}`, width: SIZE, height: SIZE, "aria-hidden": "true" });
  private drawn = "";

  constructor() {
    this.node = htmlElement("div", { class: "gauge", role: "img" }, this.axes, htmlElement("div", { class: "bar-length" }, this.text, this.bar));
  }

  // `pixel`: length of a CSS pixel at the middle of the view.
  show({ pixel, axes }: { pixel: number; axes: [number, number][] }): void {
    const length = roundLength(LONGEST * pixel), key = JSON.stringify([length, Math.round((4 * length) / pixel), axes.flat().map((v) => Math.round(200 * v))]);
    if (key === this.drawn) return;
    this.drawn = key;
    this.bar.style.width = `${length / pixel}px`;
    this.text.textContent = lengthText(length);
    this.node.setAttribute("aria-label", `Scale bar: ${this.text.textContent} at the middle of the view`);
    const arms = axes.map(([x, y], k) => ({ x: ARM * x, y: -ARM * y, name: "xyz"[k]!, long: Math.hypot(x, y) })).sort((a, b) => b.long - a.long);
    this.axes.replaceChildren(...arms.flatMap(({ x, y, name, long }) => {
      const far = long > 0.12 ? 1 + 10 / (ARM * long) : 0;
      return long > 0.12 ? [svgElement("line", { x2: x, y2: y }), svgElement("text", { x: far * x, y: far * y }, name)] : [svgElement("circle", { r: 1.8 })];
    }));
  }
}

// What the colours mean.

import { htmlElement } from "../../../look/dom";
import { tickValues, tickTexts } from "../../../look/ticks";
import { DARK, LIGHT, sequentialCss } from "../engine/palette";
import type { ColourBy, Frame, Scale } from "../types";
import { COLOUR_LABELS } from "./panel";

const UNITS: Partial<Record<ColourBy, string>> = { speed: "m/s", force: "N" };
const WIDTH = 200, MOST = 8;

export class Legend {
  readonly node = htmlElement("div", { class: "legend", role: "img" });
  private drawn = "";

  show(by: ColourBy, scale: Scale | null, frame: Frame, dark: boolean): void {
    const entries = scale ? [] : this.entries(by, frame);
    const key = JSON.stringify([by, scale, entries, dark]);
    if (key === this.drawn) return;
    this.drawn = key;
    const unit = UNITS[by], title = COLOUR_LABELS[by] + (unit ? `, ${unit}` : "");
    this.node.replaceChildren(htmlElement("div", { class: "title" }, title), scale ? this.scale(scale) : by === "id" ? htmlElement("p", {}, "each body its own") : this.categories(entries, dark));
    this.node.setAttribute("aria-label", `Colours: ${title}${scale ? ` from ${scale.low} to ${scale.high}` : ""}`);
  }

  private scale(scale: Scale): HTMLElement {
    const strip = htmlElement("canvas", { width: WIDTH, height: 1 });
    const ctx = strip.getContext("2d")!;
    for (let x = 0; x < WIDTH; x++) {
      ctx.fillStyle = sequentialCss(x / (WIDTH - 1));
      ctx.fillRect(x, 0, 1, 1);
    }
    const { low, high, log } = scale;
    const at = (v: number) => (log ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low));
    const values = tickValues(low, high, log, 5), texts = tickTexts(values, log);
    const numbers = htmlElement("div", { class: "numbers" }, ...values.map((v, k) => {
      const mark = htmlElement("span", {}, texts[k]!);
      mark.style.left = `${100 * at(v)}%`;
      return mark;
    }));
    return htmlElement("div", { class: "scale" }, strip, numbers);
  }

  private entries(by: ColourBy, frame: Frame): { label: string; hue: number }[] {
    if (by !== "material" && by !== "tag" && by !== "rank") return [];
    const seen = new Set<number>(), values = frame[by];
    if (!values) return [];
    for (let i = 0; i < frame.count && seen.size <= MOST; i++) if (!frame.fixed[i] && (by !== "rank" || values[i]! >= 0)) seen.add(values[i]!);
    const label = (v: number): string => (by !== "material" ? String(v) : frame.head.materials[v]?.name ?? "");
    return [...seen].sort((a, b) => a - b).map((v) => ({ label: label(v), hue: ((v % 7) + 7) % 7 }));
  }

  private categories(entries: { label: string; hue: number }[], dark: boolean): HTMLElement {
    const hues = (dark ? DARK : LIGHT).categories;
    const rows = entries.slice(0, MOST).map(({ label, hue }) => {
      const swatch = htmlElement("i", { "aria-hidden": "true" });
      swatch.style.background = hues[hue]!;
      return htmlElement("li", {}, swatch, label);
    });
    return htmlElement("ul", {}, ...rows, ...(entries.length > MOST ? [htmlElement("li", {}, "and more")] : []));
  }
}

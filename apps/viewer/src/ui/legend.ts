// What the colours mean.

import { htmlElement } from "../../../look/dom";
import { formatGiven, formatSignificant } from "../../../look/format";
import { tickValues, tickTexts } from "../../../look/ticks";
import { unitOf } from "../data/fields";
import { DARK, LIGHT, sequentialCss } from "../engine/palette";
import { groupOf } from "../engine/styles";
import type { ColourBy, Frame, Scale } from "../types";
import { Histogram } from "./histogram";
import { COLOUR_LABELS } from "./panel";

export const UNITS: Partial<Record<ColourBy, string>> = { speed: "m/s", force: "N", radius: "m", dissipated: "J" };
const WIDTH = 200, MOST = 8;

export interface ChainScale { high: number; least: number }
export interface FieldScale { name: string; low: number; high: number; time: number }

const THICK = 12;

// A tag with the entries that bear it, where these are known and few.
function tagText(frame: Frame, tag: number): string {
  const { values, name } = groupOf(frame, "entry"), found = new Set<number>();
  for (let i = 0; i < frame.count && found.size <= 2; i++) if (!frame.fixed[i] && frame.tag[i] === tag && values[i]! >= 0) found.add(values[i]!);
  return found.size === 0 || found.size > 2 ? String(tag) : `${tag} (${[...found].map(name).join(", ")})`;
}

export class Legend {
  readonly node = htmlElement("div", { class: "legend", role: "img" });
  readonly histogram = new Histogram();
  private drawn = "";

  show(by: ColourBy, scale: Scale | null, frame: Frame, dark: boolean, histogram: boolean, chains: ChainScale | null, field: FieldScale | null): void {
    this.histogram.show(frame, by, scale, UNITS[by] ?? "", histogram);
    const entries = scale ? [] : this.entries(by, frame);
    const key = JSON.stringify([by, scale, entries, dark, chains, field]);
    if (key === this.drawn) return;
    this.drawn = key;
    const unit = UNITS[by], title = COLOUR_LABELS[by] + (unit ? `, ${unit}` : "");
    this.node.replaceChildren(...(field ? [this.field(field)] : []), ...(chains ? [this.chains(chains)] : []), htmlElement("div", { class: "title" }, title), this.histogram.node, scale ? this.scale(scale) : by === "id" ? htmlElement("p", {}, "each body its own") : this.categories(entries, dark));
    this.node.setAttribute("aria-label", `Colours: ${title}${scale ? ` from ${scale.low} to ${scale.high}` : ""}`);
  }

  // Of force chains: a wedge as thick as they are.
  private chains({ high, least }: ChainScale): HTMLElement {
    const strip = htmlElement("canvas", { width: WIDTH, height: THICK, class: "wedge" }), ctx = strip.getContext("2d")!;
    for (let x = 0; x < WIDTH; x++) {
      const force = (x + 0.5) / WIDTH, thick = THICK * Math.sqrt(force);
      ctx.globalAlpha = force * high < least ? 0.25 : 1; // not drawn: too weak
      ctx.fillStyle = sequentialCss(force);
      ctx.fillRect(x, 0.5 * (THICK - thick), 1, thick);
    }
    return htmlElement("div", { class: "chains", title: "Those weaker than the mean force, or than chosen, are not drawn" },
      htmlElement("div", { class: "title" }, "force chains, N"), this.axis(strip, { low: 0, high, log: false }));
  }

  // Of the slice of a field, which may be of an earlier time than the frame.
  private field({ name, low, high, time }: FieldScale): HTMLElement {
    const unit = unitOf(name), ends = high > low ? this.scale({ low, high, log: false }) : htmlElement("p", {}, Number.isFinite(low) ? formatSignificant(low) || "0" : "no value");
    return htmlElement("div", { class: "field" }, htmlElement("div", { class: "title" }, `${name}${unit ? `, ${unit}` : ""}, at ${formatGiven(time)} s`), ends);
  }

  private scale(scale: Scale): HTMLElement {
    const strip = htmlElement("canvas", { width: WIDTH, height: 1 });
    const ctx = strip.getContext("2d")!;
    for (let x = 0; x < WIDTH; x++) {
      ctx.fillStyle = sequentialCss(x / (WIDTH - 1));
      ctx.fillRect(x, 0, 1, 1);
    }
    return this.axis(strip, scale);
  }

  private axis(strip: HTMLElement, scale: Scale): HTMLElement {
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
    if (by !== "material" && by !== "tag" && by !== "rank" && by !== "entry") return [];
    const group = by === "rank" ? null : groupOf(frame, by), values = group ? group.values : frame.rank;
    const seen = new Set<number>();
    if (!values) return [];
    for (let i = 0; i < frame.count && seen.size <= MOST; i++) if (!frame.fixed[i] && (by === "tag" || values[i]! >= 0)) seen.add(values[i]!);
    const label = (v: number): string => (by === "tag" ? tagText(frame, v) : group ? group.name(v) : String(v));
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

// A figure of a field over a plane of cells: colours with their scale, the value under the pointer, a choice of frames where
// there are several. All frames share one scale. The drawing is SVG with one pixel of an image per cell.

import { download, dropDown, htmlElement, parseSvg } from "../../look/dom";
import { fileName, formatSignificant } from "../../look/format";
import { type Inks, LIGHT_INKS } from "../../look/inks";
import { tickTexts, tickValues } from "../../look/ticks";
import { csv } from "./format";

export interface MapFrame {
  name: string;
  values: Float64Array; // rows one after the other, the lowest first; NaN: no value
}

export interface HeatMap {
  title: string;
  note: string;
  x: string; // labels
  y: string;
  value: string;
  xRange: [number, number];
  yRange: [number, number];
  columns: number;
  rows: number;
  frames: MapFrame[];
}

type Raw = Record<string, unknown>;
const text = (v: unknown): string => (v === null || v === undefined ? "" : String(v));
const number = (v: unknown): number => (typeof v === "number" ? v : NaN);
const list = (v: unknown): unknown[] => (Array.isArray(v) ? v : []);

function pair(v: unknown): [number, number] {
  const [a, b] = list(v).map(number);
  return a! < b! ? [a!, b!] : [0, 1];
}

export function readMap(v: unknown): HeatMap {
  const raw = (v !== null && typeof v === "object" ? v : {}) as Raw;
  const columns = Math.max(1, Math.trunc(number(raw.columns)) || 1), rows = Math.max(1, Math.trunc(number(raw.rows)) || 1);
  return {
    title: text(raw.title), note: text(raw.note), x: text(raw.x), y: text(raw.y), value: text(raw.value),
    xRange: pair(raw.x_range), yRange: pair(raw.y_range), columns, rows,
    frames: list(raw.frames).map((frame) => {
      const f = (frame ?? {}) as Raw, given = list(f.values);
      return { name: text(f.name), values: Float64Array.from({ length: columns * rows }, (_, i) => number(given[i])) };
    }),
  };
}

// ---- colours ----

const SEQUENCE = [[252, 246, 222], [240, 187, 110], [214, 105, 62], [141, 42, 82], [40, 16, 62]]; // light to dark
const TWO_SIDES = [[0, 72, 140], [110, 165, 210], [244, 243, 238], [232, 150, 100], [165, 48, 0]]; // below and above 0

interface Scale {
  low: number;
  high: number;
  colours: number[][];
}

// From the least to the largest value or, where there is much of both signs, as far below 0 as above.
function scaleOf(map: HeatMap): Scale {
  let low = Infinity, high = -Infinity;
  for (const frame of map.frames)
    for (const v of frame.values) {
      if (v < low) low = v;
      if (v > high) high = v;
    }
  if (low > high) return { low: 0, high: 1, colours: SEQUENCE };
  const most = Math.max(-low, high);
  if (Math.min(-low, high) > 0.1 * most) {
    return { low: -most, high: most, colours: TWO_SIDES };
  }
  if (low === high) return { low, high: low + (Math.abs(low) || 1), colours: SEQUENCE };
  return { low, high, colours: high <= 0 ? [...SEQUENCE].reverse() : SEQUENCE };
}

function colourOf({ low, high, colours }: Scale, v: number): number[] {
  const at = Math.min(1, Math.max(0, (v - low) / (high - low))) * (colours.length - 1);
  const i = Math.min(colours.length - 2, Math.floor(at)), t = at - i;
  return colours[i]!.map((c, k) => Math.round(c + t * (colours[i + 1]![k]! - c)));
}

// The picture of a grid of values, one pixel each, as a data URL; the first row is the lowest.
function image(columns: number, rows: number, values: ArrayLike<number>, scale: Scale): string {
  const canvas = htmlElement("canvas", { width: columns, height: rows });
  const context = canvas.getContext("2d")!, pixels = context.createImageData(columns, rows);
  for (let j = 0; j < rows; j++)
    for (let i = 0; i < columns; i++) {
      const v = values[j * columns + i]!, to = 4 * ((rows - 1 - j) * columns + i);
      if (!Number.isFinite(v)) continue;
      const [r, g, b] = colourOf(scale, v);
      pixels.data.set([r!, g!, b!, 255], to);
    }
  context.putImageData(pixels, 0, 0);
  return canvas.toDataURL();
}

// ---- drawing ----

interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

const round = (v: number): string => String(Math.round(v * 100) / 100);
const escape = (s: string): string => s.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]!);

// Where the cells are drawn: lengths along x and y in proportion, as far as the page allows.
function boxOf(map: HeatMap, width: number): Box {
  const across = width - 62 - 92, ratio = (map.yRange[1] - map.yRange[0]) / (map.xRange[1] - map.xRange[0]);
  const height = Math.min(Math.max(across * ratio, 120), 460);
  return { left: 62, top: 10, width: Math.max(40, Math.min(across, height / ratio > 60 ? height / ratio : 60)), height };
}

function label(x: number, y: number, s: string, inks: Inks, anchor: string): string {
  return `<text x="${round(x)}" y="${round(y)}" fill="${inks.text}" text-anchor="${anchor}">${escape(s)}</text>`;
}

function svg(map: HeatMap, frame: MapFrame, width: number, inks: Inks): string {
  const box = boxOf(map, width), scale = scaleOf(map), bottom = box.top + box.height, right = box.left + box.width;
  const out: string[] = [];
  const picture = (x: number, y: number, w: number, h: number, url: string) =>
    out.push(`<image x="${round(x)}" y="${round(y)}" width="${round(w)}" height="${round(h)}" preserveAspectRatio="none" image-rendering="pixelated" href="${url}"/>`,
      `<rect x="${round(x)}" y="${round(y)}" width="${round(w)}" height="${round(h)}" fill="none" stroke="${inks.axis}"/>`);
  picture(box.left, box.top, box.width, box.height, image(map.columns, map.rows, frame.values, scale));
  const ramp = Array.from({ length: 64 }, (_, i) => scale.low + (scale.high - scale.low) * (i + 0.5) / 64);
  picture(right + 16, box.top, 12, box.height, image(1, 64, ramp, scale));

  const xTicks = tickValues(...map.xRange, false, Math.max(2, Math.floor(box.width / 60))), xTexts = tickTexts(xTicks, false);
  const yTicks = tickValues(...map.yRange, false, Math.max(2, Math.floor(box.height / 34))), yTexts = tickTexts(yTicks, false);
  const vTicks = tickValues(scale.low, scale.high, false, Math.max(2, Math.floor(box.height / 34))), vTexts = tickTexts(vTicks, false);
  const place = (v: number, [a, b]: [number, number]) => (v - a) / (b - a);
  xTicks.forEach((t, i) => out.push(label(box.left + place(t, map.xRange) * box.width, bottom + 14, xTexts[i]!, inks, "middle")));
  yTicks.forEach((t, i) => out.push(label(box.left - 6, bottom - place(t, map.yRange) * box.height + 3.5, yTexts[i]!, inks, "end")));
  vTicks.forEach((t, i) => out.push(label(right + 32, bottom - place(t, [scale.low, scale.high]) * box.height + 3.5, vTexts[i]!, inks, "start")));
  out.push(label(box.left + box.width / 2, bottom + 30, map.x, inks, "middle"));
  const middle = round(box.top + box.height / 2);
  out.push(`<text transform="translate(12 ${middle}) rotate(-90)" text-anchor="middle" fill="${inks.text}">${escape(map.y)}</text>`);
  out.push(`<text transform="translate(${round(right + 84)} ${middle}) rotate(-90)" text-anchor="middle" fill="${inks.text}">${escape(map.value)}</text>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${round(width)}" height="${round(bottom + 38)}" viewBox="0 0 ${round(width)} ${round(bottom + 38)}" ` +
    `font-family="Inter, Helvetica, Arial, sans-serif" font-size="10" role="img"><title>${escape(map.title)}</title>\n${out.join("\n")}\n</svg>\n`;
}

// ---- the figure ----

export class MapFigure {
  readonly node = htmlElement("figure", { class: "map" });
  private host = htmlElement("div", { class: "plot" });
  private tip = htmlElement("div", { class: "tip" });
  private at: number;
  private width = 0;

  constructor(private map: HeatMap, private inks: () => Inks) {
    this.at = map.frames.length - 1;
    this.host.addEventListener("mousemove", (e) => this.move(e));
    this.host.addEventListener("mouseleave", () => this.tip.replaceChildren());
    new ResizeObserver(() => this.resize()).observe(this.host);
  }

  show(): void {
    const { map } = this;
    const choices = map.frames.map((f, i) => ({ value: String(i), label: f.name }));
    const controls = map.frames.length < 2 ? [] : [dropDown("at", choices, String(this.at), (v) => {
      this.at = Number(v);
      this.draw();
    })];
    const button = (title: string, name: string, click: () => void) => htmlElement("button", { type: "button", class: "button small", title, click }, name);
    this.node.replaceChildren(
      htmlElement("div", { class: "head" }, htmlElement("h3", {}, map.title), ...controls, htmlElement("span", { class: "actions" },
        button("Save as a drawing", "SVG", () => download(fileName(map.title) + ".svg", "image/svg+xml", this.svg(640, LIGHT_INKS))),
        button("Save the numbers", "CSV", () => download(fileName(map.title) + ".csv", "text/csv", this.csv())))),
      this.host, htmlElement("figcaption", {}, map.note));
    this.width = 0;
    this.resize();
  }

  // Adds the drawing that paper gets; the next show() takes it away.
  forPrint(): void {
    this.host.after(htmlElement("div", { class: "print-only" }, parseSvg(this.svg(480, LIGHT_INKS))));
  }

  private svg(width: number, inks: Inks): string {
    const frame = this.map.frames[this.at];
    return svg(this.map, frame ?? { name: "", values: new Float64Array(this.map.columns * this.map.rows).fill(NaN) }, width, inks);
  }

  // The middle of a cell, along one axis.
  private middle([a, b]: [number, number], i: number, count: number): number {
    return a + (b - a) * (i + 0.5) / count;
  }

  private csv(): string {
    const { map } = this, rows: (string | number)[][] = [["frame", map.x, map.y, map.value]];
    for (const f of map.frames)
      f.values.forEach((v, k) => rows.push([f.name, this.middle(map.xRange, k % map.columns, map.columns), this.middle(map.yRange, Math.floor(k / map.columns), map.rows), v]));
    return csv(rows);
  }

  private draw(): void {
    if (this.width > 0) this.host.replaceChildren(parseSvg(this.svg(this.width, this.inks())), this.tip);
  }

  private resize(): void {
    const width = this.host.clientWidth;
    if (width === 0 || width === this.width) return;
    this.width = width;
    this.draw();
  }

  // Names the value under the pointer.
  private move(e: MouseEvent): void {
    const { map, tip } = this, box = boxOf(map, this.width), frame = map.frames[this.at];
    const bounds = this.host.getBoundingClientRect(), x = e.clientX - bounds.left, y = e.clientY - bounds.top;
    const i = Math.floor((x - box.left) / box.width * map.columns), j = Math.floor((box.top + box.height - y) / box.height * map.rows);
    if (!frame || i < 0 || j < 0 || i >= map.columns || j >= map.rows) return tip.replaceChildren();
    const value = frame.values[j * map.columns + i]!;
    tip.replaceChildren(htmlElement("b", {}, formatSignificant(value) || "no value"), htmlElement("br"),
      `at ${formatSignificant(this.middle(map.xRange, i, map.columns))}, ${formatSignificant(this.middle(map.yRange, j, map.rows))}`);
    tip.style.left = `${x + 12}px`;
    tip.style.top = `${y + 12}px`;
  }
}

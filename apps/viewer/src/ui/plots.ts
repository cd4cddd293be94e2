// What the run measured at every step, against time: a line marks the frame shown, a click goes to a time.

import uPlot from "uplot";
import { htmlElement } from "../../../look/dom";
import { formatInteger, formatSignificant } from "../../../look/format";
import { DARK_HUES, DARK_INKS, LIGHT_HUES, LIGHT_INKS } from "../../../look/inks";
import { axisRange, countUpTo, drawnIndices, tickValues, tickTexts } from "../../../look/ticks";
import type { Column, StepsTable } from "../data/steps";

interface Line { column: Column; label: string; hue: number; dash?: number[] }
interface Chart { title: string; unit: string; log?: boolean; whole?: boolean; lines: Line[] } // whole: numbers that count

const CHARTS: Chart[] = [
  { title: "Energy", unit: "J", lines: [{ column: "kinetic", label: "kinetic", hue: 0 }, { column: "potential", label: "potential", hue: 1 }] },
  { title: "Contacts", unit: "", whole: true, lines: [{ column: "contacts", label: "contacts", hue: 2 }] },
  { title: "Residual", unit: "m/s", log: true, lines: [{ column: "residual", label: "residual", hue: 0 }, { column: "tolerance", label: "tolerance", hue: 6, dash: [4, 3] }] },
  { title: "Overlap/size", unit: "", log: true, lines: [{ column: "overlap_max", label: "max", hue: 6, dash: [4, 3] }, { column: "overlap_p99", label: "99 %", hue: 1 }, { column: "overlap_mean", label: "mean", hue: 0 }] },
  { title: "Iterations", unit: "", whole: true, lines: [{ column: "iterations", label: "iterations", hue: 3 }] },
];
const HEIGHT = 104, LEFT = 46, POINTS = 2000;
const FONT = '10.5px Inter, system-ui, "Helvetica Neue", "Liberation Sans", Arial, sans-serif';

type Values = (number | null)[];

// Rows that the width of a plot can tell apart.
function kept({ rows }: StepsTable, column: Float64Array): number[] {
  return rows <= POINTS ? Array.from({ length: rows }, (_, i) => i) : drawnIndices(rows, (i) => Math.floor((i * POINTS) / 4 / rows), column);
}

class Plot {
  readonly node: HTMLElement;
  private u: uPlot | null = null;
  private mark = htmlElement("div", { class: "now", "aria-hidden": "true" });
  private keys: HTMLElement[];
  private values: HTMLElement[];
  private host = htmlElement("div", { class: "plot" });
  private rows: number[] = [];
  private shown: Float64Array | null = null; // the times that were plotted: others come with every change of the table
  private hover: number | null = null;

  constructor(private chart: Chart, private steps: StepsTable, private seek: (time: number) => void, private now: () => number) {
    this.values = chart.lines.map(() => htmlElement("b", {}));
    this.keys = chart.lines.map((line, k) => htmlElement("span", { class: "key" }, line.label === chart.title.toLowerCase() ? "" : line.label + " ", this.values[k]!));
    this.node = htmlElement("figure", { class: "chart" },
      htmlElement("figcaption", {}, htmlElement("span", { class: "name" }, chart.title + (chart.unit ? `, ${chart.unit}` : "")), ...this.keys), this.host);
  }

  // Whether the run has anything to show here; lines without values have no name either.
  get empty(): boolean {
    const { rows } = this.steps;
    this.keys.forEach((key, k) => {
      const column = this.steps[this.chart.lines[k]!.column].subarray(0, rows);
      key.hidden = !column.some((v) => Number.isFinite(v) && (!this.chart.log || v > 0));
    });
    return this.keys.every((key) => key.hidden);
  }

  build(dark: boolean): void {
    this.u?.destroy();
    this.shown = null;
    const width = this.host.clientWidth;
    this.u = width > 0 ? new uPlot(this.options(width, dark), [[0], ...this.chart.lines.map(() => [null])] as uPlot.AlignedData, this.host) : null;
    const hues = dark ? DARK_HUES : LIGHT_HUES;
    this.chart.lines.forEach((line, k) => (this.values[k]!.style.color = hues[line.hue]!));
    if (!this.u) return;
    this.u.over.append(this.mark);
    this.u.over.setAttribute("role", "img");
    this.u.over.setAttribute("aria-label", `${this.chart.title} against time; a click goes to a time`);
    this.u.over.addEventListener("pointerdown", (e) => this.drag(e));
    this.update();
  }

  resize(): void {
    const width = this.host.clientWidth;
    if (width > 0 && this.u && width !== this.u.width) this.u.setSize({ width, height: HEIGHT });
    this.place();
  }

  update(): void {
    const { u, steps, chart } = this;
    if (!u || this.shown === steps.time) return;
    this.shown = steps.time;
    this.rows = kept(steps, steps[chart.lines[0]!.column]);
    const values = (column: Float64Array): Values =>
      this.rows.map((i) => (Number.isFinite(column[i]!) && (!chart.log || column[i]! > 0) ? column[i]! : null));
    u.setData([this.rows.map((i) => steps.time[i]!), ...chart.lines.map((line) => values(steps[line.column]))] as uPlot.AlignedData);
    this.place();
  }

  // The line at the frame shown, and the numbers there or under the pointer.
  place(): void {
    const { u, steps, chart } = this;
    if (!u || steps.rows === 0) return;
    this.mark.style.transform = `translateX(${Math.round(u.valToPos(this.now(), "x"))}px)`;
    const row = Math.max(0, countUpTo(steps.rows, (k) => steps.time[k]!, this.hover ?? this.now()) - 1);
    chart.lines.forEach((line, k) => {
      const text = (chart.whole ? formatInteger : formatSignificant)(steps[line.column][row]!);
      if (this.values[k]!.textContent !== text) this.values[k]!.textContent = text;
    });
  }

  private drag(e: PointerEvent): void {
    const { over } = this.u!;
    const go = (p: PointerEvent): void => this.seek(this.u!.posToVal(p.clientX - over.getBoundingClientRect().left, "x"));
    over.setPointerCapture(e.pointerId);
    go(e);
    over.addEventListener("pointermove", go);
    over.addEventListener("lostpointercapture", () => over.removeEventListener("pointermove", go), { once: true });
  }

  private options(width: number, dark: boolean): uPlot.Options {
    const { chart } = this, inks = dark ? DARK_INKS : LIGHT_INKS, hues = dark ? DARK_HUES : LIGHT_HUES, log = chart.log === true;
    const axis = (scale: "x" | "y"): uPlot.Axis => ({
      scale, font: FONT, gap: 3, size: scale === "y" ? LEFT : 20, stroke: inks.muted,
      grid: { stroke: inks.grid, width: 1 }, ticks: { show: false }, border: { show: scale === "x", stroke: inks.axis, width: 1 },
      splits: (u, _axis, min, max) => tickValues(min, max, log && scale === "y", scale === "y" ? 4 : Math.max(2, Math.floor(u.bbox.width / devicePixelRatio / 48)))
        .filter((v) => scale === "x" || !chart.whole || Number.isInteger(v)),
      filter: (_u, splits) => splits,
      values: (_u, splits) => tickTexts(splits, log && scale === "y"),
    });
    return {
      width, height: HEIGHT, padding: [6, 10, 0, 0], legend: { show: false },
      scales: {
        x: { time: false, range: (_u, min, max) => (max > min ? [min, max] : [min ?? 0, (min ?? 0) + 1]) },
        y: { distr: log ? 3 : 1, range: (_u, min, max) => this.yRange(min, max) },
      },
      axes: [axis("x"), axis("y")],
      series: [{}, ...chart.lines.map((line) => ({ stroke: hues[line.hue]!, width: 1.25, dash: line.dash ?? [], points: { show: false }, spanGaps: false }))],
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      hooks: { setCursor: [(u) => this.point(u)] },
    };
  }

  private point(u: uPlot): void {
    this.hover = (u.cursor.left ?? -1) >= 0 ? u.posToVal(u.cursor.left!, "x") : null;
    this.place();
  }

  private yRange(min: number | null, max: number | null): [number, number] {
    if (min === null || max === null) return this.chart.log ? [0.1, 10] : [0, 1];
    if (min === 0 && max === 0) return [0, 1];
    return axisRange(min, max, this.chart.log === true, 0.05);
  }
}

export class Plots {
  readonly node = htmlElement("div", { class: "plots" });
  private nothing = htmlElement("p", { class: "note" }, "This run kept no figures of its steps.");
  private plots: Plot[];
  private dark = false;
  private built = false;
  private visible = false; // asking for a width at every frame would cost a layout

  constructor(private steps: StepsTable, seek: (time: number) => void, private time: () => number) {
    this.plots = CHARTS.map((chart) => new Plot(chart, steps, seek, () => this.time()));
    this.node.append(this.nothing, ...this.plots.map((p) => p.node));
    new ResizeObserver(([entry]) => {
      this.visible = entry!.contentRect.width > 0;
      this.resized();
    }).observe(this.node);
  }

  setTheme(dark: boolean): void {
    this.dark = dark;
    this.built = false;
    this.refresh();
  }

  // Data have come.
  refresh(): void {
    this.nothing.hidden = this.steps.rows > 0;
    for (const plot of this.plots) plot.node.hidden = plot.empty;
    if (!this.visible) return;
    if (this.built) for (const plot of this.plots) plot.update();
    else for (const plot of this.plots) plot.build(this.dark);
    this.built = true;
  }

  place(): void {
    if (this.visible) for (const plot of this.plots) plot.place();
  }

  private resized(): void {
    if (!this.visible) return;
    if (!this.built) this.refresh();
    for (const plot of this.plots) plot.resize();
  }
}

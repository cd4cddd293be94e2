// A figure of the page: heading with its own controls, the plot, the legend, SVG and CSV for elsewhere,
// and for print a drawing in lines instead of pixels.

import { download, htmlElement, parseSvg, svgElement } from "../../look/dom";
import { fileName } from "../../look/format";
import { type Inks, LIGHT_INKS } from "../../look/inks";
import { type Chart, chartCsv, type LineChart } from "./chart";
import { colour, type Style } from "./palette";
import { Plot } from "./plot";
import { barSvg, chartSvg } from "./vector";

export interface FigureText {
  title: string;
  caption: string;
  controls?: HTMLElement[];
}

// What all figures share: which series are hidden, and what to do when that changes.
export interface Legend {
  hidden: Set<string>;
  changed(): void;
}

export function sample(style: Style, inks: Inks): SVGElement {
  return svgElement("svg", { class: "sample", width: 24, height: 8, viewBox: "0 0 24 8", "aria-hidden": "true" },
    svgElement("line", { x1: 0, x2: 24, y1: 4, y2: 4, stroke: colour(style, inks.dark), "stroke-width": 2,
      "stroke-dasharray": style.dash.join(" ") || "none" }));
}

export class Figure {
  readonly node = htmlElement("figure");
  private plot: Plot | null = null;
  private host = htmlElement("div", { class: "plot" });
  private values = new Map<string, HTMLElement>();
  private shown: Chart | null = null;
  private title = "";
  private width = 0;

  constructor(private legend: Legend, private inks: () => Inks, private wide = false) {
    if (wide) this.node.classList.add("wide");
    new ResizeObserver(() => this.resize()).observe(this.host);
  }

  // `chart` has all series; the hidden ones stay in the legend.
  show(chart: Chart, { title, caption, controls = [] }: FigureText): void {
    this.plot?.destroy();
    this.plot = null;
    this.title = title;
    this.shown = chart.kind === "lines" ? { ...chart, series: chart.series.filter((s) => !this.legend.hidden.has(s.key)) }
      : { ...chart, rows: chart.rows.filter((r) => !this.legend.hidden.has(r.key)) };
    const actions = htmlElement("span", { class: "actions" },
      htmlElement("button", { type: "button", class: "button small", title: "Save as a vector drawing", click: () => this.saveSvg() }, "SVG"),
      htmlElement("button", { type: "button", class: "button small", title: "Save the numbers", click: () => this.saveCsv() }, "CSV"));
    const legend = chart.kind === "lines" ? this.legendList(chart) : null;
    const controlsNow = () => [...this.node.querySelectorAll<HTMLElement>(".head select, .head input")];
    const focused = controlsNow().indexOf(document.activeElement as HTMLElement);
    this.node.replaceChildren(
      htmlElement("div", { class: "head" }, htmlElement("h3", {}, title), ...controls, actions),
      htmlElement("div", { class: "body" }, this.host, legend),
      htmlElement("figcaption", {}, caption));
    controlsNow()[focused]?.focus();
    this.host.replaceChildren();
    this.width = 0;
    this.resize();
  }

  // A vector drawing in the light colours, whatever the screen has.
  svg(width = 640): string {
    return chartSvg(this.shown!, this.title, width, LIGHT_INKS);
  }

  // Adds the drawing that paper gets in place of the plot; the next show() takes it away.
  forPrint(): void {
    if (this.shown)
      this.host.after(htmlElement("div", { class: "print-only" }, parseSvg(this.svg(this.wide ? 680 : 480))));
  }

  private saveSvg(): void {
    download(fileName(this.title) + ".svg", "image/svg+xml", this.svg());
  }

  private saveCsv(): void {
    download(fileName(this.title) + ".csv", "text/csv", chartCsv(this.shown!));
  }

  private resize(): void {
    const width = this.host.clientWidth;
    if (!this.shown || width === 0 || width === this.width) return;
    this.width = width;
    if (this.shown.kind === "bars") {
      this.host.replaceChildren(parseSvg(barSvg(this.shown, this.title, width, this.inks())));
      return;
    }
    const height = Math.round(Math.min(this.wide ? 440 : 300, Math.max(230, width * 0.62)));
    if (this.plot) this.plot.resize(width, height);
    else if (!this.shown.series.some((s) => s.x.length))
      this.host.replaceChildren(htmlElement("p", { class: "empty" }, "Nothing to draw: no series is shown, or none has values that these axes can hold."));
    else this.plot = new Plot(this.host, this.shown, this.inks(), height, { values: (at) => this.liveValues(at) });
  }

  // ---- legend ----

  private legendList(chart: LineChart): HTMLElement {
    this.values.clear();
    const { hidden } = this.legend;
    const items = chart.series.map((s) => {
      const value = htmlElement("span", { class: "value" });
      this.values.set(s.key, value);
      return htmlElement("button", {
        type: "button", class: "entry", "aria-pressed": hidden.has(s.key) ? "false" : "true",
        title: "Show or hide in every figure; with Shift: only this one",
        "data-key": s.key,
        click: (e) => this.toggle(chart, s.key, (e as MouseEvent).shiftKey),
        mouseenter: () => this.plot?.focus(s.key), mouseleave: () => this.plot?.focus(null),
      }, sample(s.style, this.inks()), htmlElement("span", { class: "name" }, s.label), value);
    });
    const all = htmlElement("button", { type: "button", class: "all button small", click: () => this.showAll() }, "show all");
    all.hidden = hidden.size === 0;
    return htmlElement("div", { class: "legend", role: "group", "aria-label": "Series" }, ...items, all);
  }

  private toggle(chart: LineChart, key: string, only: boolean): void {
    const { hidden } = this.legend;
    if (only) {
      hidden.clear();
      for (const s of chart.series) if (s.key !== key) hidden.add(s.key);
    } else if (!hidden.delete(key)) hidden.add(key);
    this.legend.changed();
    this.node.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.focus();
  }

  private showAll(): void {
    this.legend.hidden.clear();
    this.legend.changed();
  }

  private liveValues(at: Map<string, string> | null): void {
    for (const [key, node] of this.values) node.textContent = at?.get(key) ?? "";
  }
}

// A line chart on the screen, drawn by uPlot: zoom by dragging, the nearest point under the pointer.

import uPlot from "uplot";
import { htmlElement } from "../../look/dom";
import { formatSignificant } from "../../look/format";
import type { Inks } from "../../look/inks";
import { countUpTo, tickValues, tickTexts } from "../../look/ticks";
import { barEnds, drawable, type LineChart, type Range, type Series } from "./chart";
import { colour } from "./palette";
import { lineRanges } from "./vector";

export interface PlotEvents {
  // The values at the pointer per series key, or null when it left.
  values(at: Map<string, string> | null): void;
}

const REACH = 40; // pixels within which the nearest point is named
const FONT = '11px Inter, system-ui, "Helvetica Neue", "Liberation Sans", Arial, sans-serif';

export class Plot {
  private u: uPlot;
  private marker = htmlElement("div", { class: "marker" });
  private tip = htmlElement("div", { class: "tip" });

  constructor(host: HTMLElement, private chart: LineChart, private inks: Inks, height: number, private events: PlotEvents) {
    const tables = chart.series.map((s) => {
      const p = drawable(s, chart.x.log);
      return [p.x, p.y] as [number[], number[]];
    });
    const data = (tables.length ? uPlot.join(tables as uPlot.AlignedData[]) : [[], []]) as uPlot.AlignedData;
    this.u = new uPlot(this.options(host.clientWidth, height, lineRanges(chart)), data, host);
    this.u.over.append(this.marker, this.tip);
    this.u.over.tabIndex = 0;
    this.u.over.setAttribute("role", "img");
    this.u.over.setAttribute("aria-label", `${chart.y.label} against ${chart.x.label}; arrow keys move the cursor`);
    this.u.over.addEventListener("keydown", (e) => this.key(e));
    this.u.over.addEventListener("blur", () => this.leave());
    this.u.over.addEventListener("mouseleave", () => this.leave());
  }

  resize(width: number, height: number): void {
    this.u.setSize({ width, height });
  }

  destroy(): void {
    this.u.destroy();
  }

  // Fades all series but one; null: none.
  focus(key: string | null): void {
    const at = this.chart.series.findIndex((s) => s.key === key);
    this.u.setSeries(at < 0 ? (null as unknown as number) : at + 1, { focus: true });
  }

  private axis(which: "x" | "y"): uPlot.Axis {
    const { log, label } = this.chart[which];
    const vertical = which === "y";
    return {
      scale: which,
      label,
      font: FONT,
      labelFont: FONT,
      labelSize: 18,
      size: vertical ? 52 : 28,
      gap: 4,
      stroke: this.inks.muted,
      grid: { stroke: this.inks.grid, width: 1 },
      ticks: { stroke: this.inks.axis, width: 1, size: 3 },
      border: { show: true, stroke: this.inks.axis, width: 1 },
      splits: (u, _axis, min, max) => {
        const length = vertical ? u.bbox.height : u.bbox.width;
        return tickValues(min, max, log, Math.max(2, Math.floor(length / devicePixelRatio / (vertical ? 34 : 72))));
      },
      filter: (_u, splits) => splits,
      values: (_u, splits) => tickTexts(splits, log),
    };
  }

  private options(width: number, height: number, full: { x: Range; y: Range }): uPlot.Options {
    const { chart } = this;
    const xs = chart.series.flatMap((s) => (s.x.length ? [s.x[0]!, s.x[s.x.length - 1]!] : []));
    const ends = [Math.min(...xs), Math.max(...xs)];
    // uPlot asks for the x range with the ends of the data, or with those of a zoom.
    const xRange = (_u: uPlot, min: number | null, max: number | null): Range =>
      min === null || max === null || (min <= ends[0]! && max >= ends[1]!) || !(min < max) ? full.x : [min, max];
    return {
      width: Math.max(width, 120),
      height,
      padding: [8, 24, 0, 0], // right: half a label, as a tick may stand at the end of the axis
      legend: { show: false },
      focus: { alpha: 0.15 },
      scales: {
        x: { time: false, distr: chart.x.log ? 3 : 1, range: xRange },
        y: { distr: chart.y.log ? 3 : 1, range: () => full.y },
      },
      axes: [this.axis("x"), this.axis("y")],
      series: [{}, ...(chart.series.length ? chart.series.map((s) => this.line(s)) : [{ show: false }])],
      cursor: { points: { show: false }, y: false, drag: { x: true, y: true, uni: 24 } },
      hooks: {
        setCursor: [() => this.move()],
        drawAxes: [(u) => this.guides(u)],
        drawSeries: [(u, index) => this.errorBars(u, index)],
      },
    };
  }

  private line(s: Series): uPlot.Series {
    const ink = colour(s.style, this.inks.dark);
    return {
      label: s.label,
      stroke: ink,
      width: 1.5,
      dash: s.style.dash,
      points: { show: this.chart.points || (s.x.length <= 12 && !this.chart.stepped), size: this.chart.points ? 3 : 5, fill: ink },
      paths: this.chart.points ? () => null : this.chart.stepped ? uPlot.paths.stepped!({ align: 1 }) : uPlot.paths.linear!(),
    };
  }

  private guides(u: uPlot): void {
    const { ctx } = u;
    ctx.save();
    ctx.strokeStyle = this.inks.axis;
    ctx.setLineDash([1 * devicePixelRatio, 3 * devicePixelRatio]);
    ctx.lineWidth = devicePixelRatio;
    for (const g of this.chart.guides ?? []) {
      if (g <= u.scales.y!.min! || g >= u.scales.y!.max!) continue;
      const y = Math.round(u.valToPos(g, "y", true));
      ctx.beginPath();
      ctx.moveTo(u.bbox.left, y);
      ctx.lineTo(u.bbox.left + u.bbox.width, y);
      ctx.stroke();
    }
    ctx.restore();
  }

  // The error bars of series `index` of uPlot, whose first one is x.
  private errorBars(u: uPlot, index: number): void {
    const s = this.chart.series[index - 1];
    if (!s?.bar) return;
    const { ctx } = u, cap = 3 * devicePixelRatio;
    const place = (v: number): number => u.valToPos(v, "y", true);
    ctx.save();
    ctx.beginPath();
    ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
    ctx.clip();
    ctx.globalAlpha = u.series[index]!.alpha ?? 1;
    ctx.strokeStyle = colour(s.style, this.inks.dark);
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([]);
    ctx.beginPath();
    s.x.forEach((v, i) => {
      const ends = barEnds(s, i), x = u.valToPos(v, "x", true);
      if (!ends) return;
      const [a, b] = ends.map(place) as [number, number];
      for (const [x1, y1, x2, y2] of [[x, a, x, b], [x - cap, a, x + cap, a], [x - cap, b, x + cap, b]] as const) {
        ctx.moveTo(x1, y1);
        ctx.lineTo(x2, y2);
      }
    });
    ctx.stroke();
    ctx.restore();
  }

  // ---- pointer and keys ----

  private leave(): void {
    this.marker.hidden = this.tip.hidden = true;
    this.events.values(null);
  }

  private key(e: KeyboardEvent): void {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[e.key];
    if (step === undefined) return;
    e.preventDefault();
    const { width, height } = this.u.over.getBoundingClientRect();
    const left = Math.min(width - 1, Math.max(0, (this.u.cursor.left ?? -10) < 0 ? 0 : this.u.cursor.left! + 6 * step));
    this.u.setCursor({ left, top: height / 2 });
  }

  // The point of a series whose x is nearest to the pointer's, on the screen.
  private nearest(s: Series, left: number): number {
    const { u } = this;
    const x = u.posToVal(left, "x");
    const low = Math.min(s.x.length - 1, countUpTo(s.x.length, (k) => s.x[k]!, x));
    const off = (i: number) => Math.abs(u.valToPos(s.x[i]!, "x") - left);
    return low > 0 && (this.chart.stepped || off(low - 1) < off(low)) && s.x[low]! > x ? low - 1 : low;
  }

  private move(): void {
    const { u } = this;
    const left = u.cursor.left ?? -10, top = u.cursor.top ?? -10;
    if (left < 0) return this.leave();
    const at = new Map<string, string>();
    let best: { s: Series; i: number; x: number; y: number } | null = null, distance = REACH;
    for (const s of this.chart.series) {
      if (!s.x.length) continue;
      const i = this.nearest(s, left);
      at.set(s.key, formatSignificant(s.y[i]!));
      const x = u.valToPos(s.x[i]!, "x"), y = u.valToPos(s.y[i]!, "y"), d = Math.hypot(x - left, y - top);
      if (d < distance) [best, distance] = [{ s, i, x, y }, d];
    }
    this.events.values(at);
    this.marker.hidden = this.tip.hidden = !best;
    if (best) this.point(best.s, best.i, best.x, best.y);
  }

  private point(s: Series, i: number, x: number, y: number): void {
    const { chart, marker, tip, u } = this;
    marker.style.background = colour(s.style, this.inks.dark);
    marker.style.left = `${x}px`;
    marker.style.top = `${y}px`;
    tip.replaceChildren(htmlElement("b", {}, s.label), htmlElement("br"),
      `${formatSignificant(s.y[i]!)}${barEnds(s, i) ? ` ± ${formatSignificant(s.bar![i]!)}` : ""} at ${formatSignificant(s.x[i]!)} ${chart.x.name}`);
    const flip = x > u.over.clientWidth / 2, below = y < 60;
    tip.style.left = flip ? "auto" : `${x + 10}px`;
    tip.style.right = flip ? `${u.over.clientWidth - x + 10}px` : "auto";
    tip.style.top = below ? `${y + 10}px` : "auto";
    tip.style.bottom = below ? "auto" : `${u.over.clientHeight - y + 8}px`;
  }
}

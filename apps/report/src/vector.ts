// Charts as SVG text: for papers, for print, and on the screen for bars. Presentation attributes only,
// so that the files need no style sheet and the page's policy on styles does not touch them.

import { formatSignificant } from "../../look/format";
import type { Inks } from "../../look/inks";
import { tickValues, tickTexts } from "../../look/ticks";
import { type BarChart, barEnds, type Chart, drawable, heights, type LineChart, type Range, range, type Series } from "./chart";
import { colour } from "./palette";

const escape = (s: string): string =>
  s.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]!)
    // Control characters are not allowed in XML, not even escaped.
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");
const f = (v: number): string => String(Math.round(v * 100) / 100);

// An estimate good enough to keep texts apart; nothing is clipped by it.
const textWidth = (s: string, size: number): number => s.length * size * 0.56;

function label(x: number, y: number, s: string, inks: Inks, more = ""): string {
  return `<text x="${f(x)}" y="${f(y)}" fill="${inks.text}" ${more}>${escape(s)}</text>`;
}

function line(x1: number, y1: number, x2: number, y2: number, stroke: string, more = ""): string {
  return `<line x1="${f(x1)}" y1="${f(y1)}" x2="${f(x2)}" y2="${f(y2)}" stroke="${stroke}" ${more}/>`;
}

const dashes = (dash: number[]): string => (dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : "");

function frame(width: number, height: number, title: string, size: number, body: string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${f(width)}" height="${f(height)}" ` +
    `viewBox="0 0 ${f(width)} ${f(height)}" font-family="Inter, Helvetica, Arial, sans-serif" font-size="${size}" ` +
    `role="img"><title>${escape(title)}</title>\n${body.join("\n")}\n</svg>\n`;
}

type Scale = (v: number) => number;

function scale([min, max]: Range, log: boolean, from: number, to: number): Scale {
  const g = log ? Math.log : (v: number) => v;
  const a = g(min), b = g(max);
  return (v) => from + ((g(v) - a) / (b - a)) * (to - from);
}

// ---- lines ----

export function lineRanges(chart: LineChart): { x: Range; y: Range } {
  const y = chart.yRange ?? range(chart.series.map(heights), chart.y.log, true);
  return { x: range(chart.series.map((s) => s.x), chart.x.log, false), y };
}

function path(chart: LineChart, x: number[], y: number[], sx: Scale, sy: Scale): string {
  const out: string[] = [];
  for (let i = 0; i < x.length; i++) {
    if (i > 0 && chart.stepped) out.push(`H${f(sx(x[i]!))}V${f(sy(y[i]!))}`);
    else out.push(`${i ? "L" : "M"}${f(sx(x[i]!))} ${f(sy(y[i]!))}`);
  }
  return out.join("");
}

// The error bars of a series, each with a cross line at its ends.
function errorBars(s: Series, sx: Scale, sy: Scale, stroke: string): string[] {
  return s.x.flatMap((v, i) => {
    const ends = barEnds(s, i), x = sx(v);
    if (!ends) return [];
    const [a, b] = ends.map(sy) as [number, number];
    return [line(x, a, x, b, stroke), line(x - 3, a, x + 3, a, stroke), line(x - 3, b, x + 3, b, stroke)];
  });
}

// The legend in columns under the plot; returns its height.
function lineLegend(chart: LineChart, left: number, top: number, width: number, size: number, inks: Inks, out: string[]): number {
  const widest = Math.max(0, ...chart.series.map((s) => textWidth(s.label, size)));
  const columns = Math.max(1, Math.floor(width / (widest + 44)));
  const pitch = width / columns, row = size * 1.5;
  chart.series.forEach((s, i) => {
    const x = left + (i % columns) * pitch, y = top + Math.floor(i / columns) * row;
    out.push(line(x, y, x + 24, y, colour(s.style, inks.dark), `stroke-width="1.6"${dashes(s.style.dash)}`));
    out.push(label(x + 29, y + size * 0.36, s.label, inks));
  });
  return Math.ceil(chart.series.length / columns) * row;
}

function lineSvg(chart: LineChart, title: string, width: number, inks: Inks): string {
  const size = 10, left = 62, right = 22, top = 10, height = Math.round(width * 0.56), bottom = height - 36;
  const { x, y } = lineRanges(chart);
  const sx = scale(x, chart.x.log, left, width - right), sy = scale(y, chart.y.log, bottom, top);
  const out: string[] = [];
  const xTicks = tickValues(...x, chart.x.log, 7), yTicks = tickValues(...y, chart.y.log, 7);
  const xTexts = tickTexts(xTicks, chart.x.log), yTexts = tickTexts(yTicks, chart.y.log);
  for (const t of yTicks) out.push(line(left, sy(t), width - right, sy(t), inks.grid));
  for (const t of xTicks) out.push(line(sx(t), top, sx(t), bottom, inks.grid));
  for (const g of chart.guides ?? [])
    if (g > y[0] && g < y[1]) out.push(line(left, sy(g), width - right, sy(g), inks.axis, 'stroke-dasharray="1 3"'));
  out.push(line(left, bottom, width - right, bottom, inks.axis), line(left, top, left, bottom, inks.axis));
  xTicks.forEach((t, i) => out.push(label(sx(t), bottom + 14, xTexts[i]!, inks, 'text-anchor="middle"')));
  yTicks.forEach((t, i) => out.push(label(left - 6, sy(t) + 3.5, yTexts[i]!, inks, 'text-anchor="end"')));
  out.push(label((left + width - right) / 2, height - 6, chart.x.label, inks, 'text-anchor="middle"'));
  const middle = f((top + bottom) / 2);
  out.push(`<text transform="translate(12 ${middle}) rotate(-90)" text-anchor="middle" fill="${inks.text}">${escape(chart.y.label)}</text>`);
  // Curves may leave a range that was chosen for the eye; an inner svg cuts them off at the axes.
  const box = `${left} ${top - 2} ${width - right - left + 2} ${bottom - top + 4}`;
  const [bx, by, bw, bh] = box.split(" ");
  out.push(`<svg x="${bx}" y="${by}" width="${bw}" height="${bh}" viewBox="${box}">`);
  for (const s of chart.series) {
    const stroke = colour(s.style, inks.dark), p = drawable(s, chart.x.log);
    if (p.x.length === 1 || chart.points)
      p.x.forEach((v, i) => out.push(`<circle cx="${f(sx(v))}" cy="${f(sy(p.y[i]!))}" r="${chart.points ? 1.4 : 2.5}" fill="${stroke}"/>`));
    else if (p.x.length)
      out.push(`<path d="${path(chart, p.x, p.y, sx, sy)}" fill="none" stroke="${stroke}" stroke-width="1.4" stroke-linejoin="round"${dashes(s.style.dash)}/>`);
    out.push(...errorBars(s, sx, sy, stroke));
  }
  out.push("</svg>");
  const legend = lineLegend(chart, left, height + 12, width - left - right, size, inks, out);
  return frame(width, height + legend + 10, title, size, out);
}

// ---- bars ----

// Per row one bar in another, all from the left: the maximum wide and pale, the mean thin and dark.
const THICKNESS = [3, 7, 11];

export function barSvg(chart: BarChart, title: string, width: number, inks: Inks): string {
  const size = 11, row = 18, top = 24;
  const names = chart.rows.map((r) => (r.label.length > 34 ? r.label.slice(0, 33) + "…" : r.label));
  const left = Math.min(width * 0.42, 12 + Math.max(0, ...names.map((n) => textWidth(n, size))));
  const right = 64, bottom = top + row * chart.rows.length;
  const positive = chart.rows.map((r) => r.values.filter((v) => v > 0 && Number.isFinite(v)));
  const [low, high] = range(positive, true, true);
  const span: Range = positive.flat().length ? [low / 10, high] : [low, high];
  const sx = scale(span, true, left, width - right);
  const out: string[] = [];
  chart.measures.forEach((m, i) => {
    const x = left + i * 78;
    out.push(`<rect x="${f(x)}" y="${f(8 - THICKNESS[i]! / 2)}" width="18" height="${THICKNESS[i]}" fill="${inks.bars[i]}"/>`);
    out.push(label(x + 23, 12, m, inks));
  });
  const marks = tickValues(...span, true, Math.max(2, Math.floor((width - left - right) / 46)));
  const texts = tickTexts(marks, true);
  marks.forEach((t, i) => {
    out.push(line(sx(t), top, sx(t), bottom, inks.grid));
    out.push(label(sx(t), bottom + 15, texts[i]!, inks, 'text-anchor="middle"'));
  });
  chart.rows.forEach((r, i) => {
    const y = top + (i + 0.5) * row;
    out.push(label(left - 6, y + 4, names[i]!, inks, 'text-anchor="end"'));
    for (let k = r.values.length - 1; k >= 0; k--) {
      const v = r.values[k]!, t = THICKNESS[k]!;
      if (v > 0 && Number.isFinite(v))
        out.push(`<rect x="${f(left)}" y="${f(y - t / 2)}" width="${f(sx(v) - left)}" height="${t}" fill="${inks.bars[k]}"/>`);
    }
    const most = r.values[r.values.length - 1]!;
    const end = most > 0 && Number.isFinite(most) ? sx(most) : left;
    out.push(label(end + 5, y + 4, formatSignificant(most) || "not measured", inks, `fill-opacity="0.75"`));
  });
  out.push(line(left, top, left, bottom, inks.axis));
  out.push(label((left + width - right) / 2, bottom + 32, chart.x.label, inks, 'text-anchor="middle"'));
  return frame(width, bottom + 40, title, size, out);
}

export function chartSvg(chart: Chart, title: string, width: number, inks: Inks): string {
  return chart.kind === "lines" ? lineSvg(chart, title, width, inks) : barSvg(chart, title, width, inks);
}

// The ruler, for two places, and the angle, for three: picked on bodies or walls, drawn over the picture, with their numbers.

import { htmlElement, svgElement } from "../../../look/dom";
import { add, cross, dot, length, scale, sub, unit } from "../engine/vector";
import type { Vec3 } from "../types";
import { iconButton } from "./controls";

export const TOOLS = ["off", "ruler", "angle"] as const;
export type Tool = (typeof TOOLS)[number];

// A place that was picked, and where the centre of its body was then.
export interface Mark { place: Vec3; id: number; centre: Vec3 | null }

type Row = [name: string, value: string];

const degrees = (radians: number): number => (radians * 180) / Math.PI;
const four = (v: number): string => (v === 0 ? "0" : Math.abs(v) < 1e-3 || Math.abs(v) >= 1e5 ? v.toExponential(3).replace("e+", "e") : v.toPrecision(4)).replace("-", "−");

// Angle of a line against the horizontal, degrees; positive where it rises from a to b.
export const slopeOf = (a: Vec3, b: Vec3, up: Vec3): number => {
  const d = unit(sub(b, a));
  return degrees(Math.atan2(dot(d, up), length(cross(d, up))));
};

// Angle between two lines from `corner`, degrees.
export function angleAt(a: Vec3, corner: Vec3, b: Vec3): number {
  const u = sub(a, corner), v = sub(b, corner);
  return degrees(Math.atan2(length(cross(u, v)), dot(u, v)));
}

export function rulerRows(a: Mark, b: Mark, up: Vec3): Row[] {
  const d = sub(b.place, a.place), rows: Row[] = [["distance", `${four(length(d))} m`], ["along x y z", `${d.map(four).join("  ")} m`], ["slope", `${slopeOf(a.place, b.place, up).toFixed(2).replace("-", "−")}°`]];
  if (a.centre && b.centre && a.id !== b.id) rows.push(["centres", `${four(length(sub(b.centre, a.centre)))} m (bodies ${a.id}, ${b.id})`]);
  return rows;
}

export class Measure {
  readonly node = svgElement("svg", { class: "marks", "aria-hidden": "true" });
  readonly card: HTMLElement;
  tool: Tool = "off";
  marks: Mark[] = [];
  cross = false; // a mark in the middle, where Enter picks
  private heading = htmlElement("h2", {});
  private rows = htmlElement("dl", {});
  private hint = htmlElement("p", { class: "note" });

  // `project`: where a place is in the picture.
  constructor(private project: (place: Vec3) => [number, number] | null, private up: () => Vec3, close: () => void) {
    this.card = htmlElement("section", { class: "measure card", "aria-label": "Measure", "aria-live": "polite", hidden: true },
      htmlElement("div", { class: "head" }, this.heading, iconButton("close", "Close (Escape)", close)), this.rows, this.hint);
  }

  get wanted(): number {
    return this.tool === "angle" ? 3 : 2;
  }

  set(tool: Tool): void {
    if (tool === this.tool) return;
    this.tool = tool;
    this.marks = [];
    this.show();
  }

  // The first mark after a whole measurement begins another.
  add(mark: Mark): void {
    if (this.marks.length >= this.wanted) this.marks = [];
    this.marks.push(mark);
    this.show();
  }

  missed(): void {
    this.show("There is nothing here: click a body or a wall.");
  }

  // What the marks measure; for the card and for tests.
  get result(): Row[] {
    const [a, b, c] = this.marks;
    if (this.tool === "ruler" && a && b) return rulerRows(a, b, this.up());
    if (this.tool === "angle" && a && b && c) {
      return [["angle", `${angleAt(a.place, b.place, c.place).toFixed(2)}°`], ["slopes", [a, c].map((m) => `${slopeOf(b.place, m.place, this.up()).toFixed(2).replace("-", "−")}°`).join(", ")]];
    }
    return [];
  }

  private show(trouble?: string): void {
    const left = this.wanted - this.marks.length;
    this.card.hidden = this.tool === "off";
    this.heading.textContent = this.tool === "ruler" ? "Ruler" : "Angle";
    this.rows.replaceChildren(...this.result.flatMap(([name, value]) => [htmlElement("dt", {}, name), htmlElement("dd", {}, value)]));
    const steps = this.tool === "ruler" ? ["Click the first place.", "Click the second place."] : ["Click a place on the first line.", "Click the corner.", "Click a place on the second line."];
    this.hint.textContent = trouble ?? (left > 0 ? steps[this.marks.length]! : "Click to measure again.");
    this.draw();
  }

  // Before every picture: the marks stay on their places.
  draw(): void {
    const at = this.marks.map((m) => this.project(m.place)), parts: SVGElement[] = [];
    for (let k = 1; k < at.length; k++) {
      const a = at[k - 1], b = at[k];
      if (a && b) for (const name of ["halo", "ink"]) parts.push(svgElement("line", { class: name, x1: a[0], y1: a[1], x2: b[0], y2: b[1] }));
    }
    for (const p of at) if (p) for (const [name, r] of [["halo", 5], ["ink", 3.5]] as const) parts.push(svgElement("circle", { class: name, cx: p[0], cy: p[1], r }));
    const label = this.marks.length >= this.wanted ? this.labelPlace() : null;
    if (label) for (const name of ["halo", "ink"]) parts.push(svgElement("text", { class: name, x: label[0] + 10, y: label[1] - 8 }, this.result[0]![1]));
    if (this.cross && this.tool !== "off") parts.push(svgElement("path", { class: "ink", d: `M ${this.middle.map((v) => v - 8)[0]} ${this.middle[1]} h 16 m -8 -8 v 16` }));
    if (parts.length > 0 || this.node.childNodes.length > 0) this.node.replaceChildren(...parts);
  }

  private labelPlace(): [number, number] | null {
    const [a, b] = this.marks;
    return this.project(this.tool === "angle" ? b!.place : add(a!.place, scale(sub(b!.place, a!.place), 0.5)));
  }

  // Of the picture, CSS pixels.
  get middle(): [number, number] {
    return [this.node.clientWidth / 2, this.node.clientHeight / 2];
  }
}

// The card of the body that was picked: what it is and how it fares in the frame shown.

import { htmlElement } from "../../../look/dom";
import { formatInteger, formatGiven, formatSignificant } from "../../../look/format";
import { positionOf, rowOf } from "../engine/bounds";
import { groupOf } from "../engine/styles";
import { add } from "../engine/vector";
import type { Frame, Shape, Vec3 } from "../types";
import { type Control, iconButton, tick } from "./controls";


// Its kind, extents along its own axes, and of surfaces how fine they are.
function shapeText(shape: Shape | undefined): string {
  const finest = shape?.levels.at(-1);
  if (!shape || !finest) return shape?.kind ?? "unknown";
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  finest.position.forEach((v, k) => {
    low[k % 3] = Math.min(low[k % 3]!, v);
    high[k % 3] = Math.max(high[k % 3]!, v);
  });
  const size = high.map((v, c) => formatGiven(v - low[c]!)).join(" × ");
  return `${shape.kind} ${size} m` + (shape.drawn === "solid" ? "" : `, ${formatInteger(finest.triangles.length / 3)} triangles`);
}

type Row = [name: string, text: (frame: Frame, row: number) => string | null];

const three = (values: ArrayLike<number>, row: number, origin: readonly number[] = [0, 0, 0]): string =>
  [0, 1, 2].map((k) => fixed(values[3 * row + k]! + origin[k]!)).join(" ");

// The same number of characters whatever the value, so that columns stand still while time runs.
function fixed(v: number): string {
  const exponential = Math.abs(v) >= 1e4 || (v !== 0 && Math.abs(v) < 5e-4);
  return ((v < 0 ? "−" : "\u2007") + (exponential ? Math.abs(v).toExponential(1) : Math.abs(v).toFixed(Math.abs(v) >= 100 ? 1 : 3))).replace("e+", "e");
}

// What changes stands first.
const ROWS: Row[] = [
  ["speed", (f, i) => (f.fixed[i] ? "fixed" : `${formatSignificant(f.speed[i]!)} m/s`)],
  ["contact force", (f, i) => `${formatSignificant(f.force[i]!)} N`],
  ["contacts", (f, i) => (f.touching ? `${formatInteger(f.touching[i]!)}${f.touching[i] === 255 ? " or more" : ""}` : "not kept in lean frames")],
  ["dissipated", (f, i) => (f.dissipated ? `${formatSignificant(f.dissipated[i]!)} J` : null)],
  ["position, m", (f, i) => three(f.position, i, f.head.origin)],
  ["velocity, m/s", (f, i) => (f.fixed[i] ? null : f.velocity ? three(f.velocity, i) : "not kept in lean frames")],
  ["shape", (f, i) => shapeText(f.head.shapes[f.shape[i]!])],
  ["radius", (f, i) => (f.radius[i]! > 0 ? `${formatSignificant(f.radius[i]!)} m` : null)],
  ["material", (f, i) => {
    const m = f.head.materials[f.material[i]!];
    return m ? `${m.name}, friction ${formatGiven(m.friction)}` : null;
  }],
  ["starting layer", (f, i) => (f.fixed[i] ? null : formatInteger(f.layer[i]!))],
  ["entry", (f, i) => {
    const { values, name } = groupOf(f, "entry");
    return values[i]! < 0 ? null : name(values[i]!);
  }],
  ["tag", (f, i) => String(f.tag[i]!)],
];

export class BodyCard {
  readonly node: HTMLElement;
  body = 0; // its number; 0: none
  private heading = htmlElement("h2", {});
  private table = htmlElement("dl", {});
  private absent = htmlElement("p", { class: "note" }, "Not in this frame.");
  private keep: Control<boolean>;
  private cells: { name: HTMLElement; value: HTMLElement }[];

  keeping = false; // the camera goes with it

  constructor(close: () => void, keep: () => void) {
    this.keep = tick("keep in view", false, (on) => {
      this.keeping = on;
      keep();
    });
    this.cells = ROWS.map(([name]) => ({ name: htmlElement("dt", {}, name), value: htmlElement("dd", {}) }));
    this.table.append(...this.cells.flatMap((c) => [c.name, c.value]));
    this.node = htmlElement("section", { class: "body card", "aria-label": "Body", hidden: true },
      htmlElement("div", { class: "head" }, this.heading, iconButton("close", "Close (Escape)", close)), this.table, this.absent, this.keep.node);
  }

  set(body: number): void {
    this.body = body;
    this.node.hidden = !body;
    this.keeping = false;
    this.keep.set(false);
    if (body) this.heading.textContent = `Body ${body}`;
  }

  // Where it is in the scene; null where it is not there.
  placeIn(frame: Frame): Vec3 | null {
    const row = rowOf(frame, this.body);
    return row < 0 ? null : add(positionOf(frame, row), frame.head.origin);
  }

  show(frame: Frame): void {
    if (!this.body) return;
    const row = rowOf(frame, this.body);
    this.absent.hidden = row >= 0;
    this.table.hidden = row < 0;
    if (row < 0) return;
    ROWS.forEach(([, text], k) => {
      const value = text(frame, row), cell = this.cells[k]!;
      cell.name.hidden = cell.value.hidden = value === null;
      if (value !== null && cell.value.textContent !== value) cell.value.textContent = value;
    });
  }
}

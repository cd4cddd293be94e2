// The table of continuum fields that `talus measure` has put beside a run, fields.csv (docs/how-to/measure.md): a row for
// each cell of a grid and each state, x runs fastest. Slices of it are what the picture shows.

import type { Axis, Vec3 } from "../types";

export const FIELDS_MOST = 64e6; // bytes of a table that is read

// What can be shown: one column, or the length of a vector of three, which also has arrows.
export interface Field { name: string; columns: number[] }

// Values of a field over a plane of cells, the first of the two other axes (after `axis`, in turn) fastest; NaN: none. lo, hi:
// of the grid, m; NaN along an axis of one cell, whose extent a table does not tell.
export interface FieldSlice {
  field: string; axis: number; place: number; time: number; lo: Vec3; hi: Vec3;
  columns: number; rows: number; value: Float32Array;
  vector: Float32Array | null; longest: number; // 3 per cell, and the longest of all cells and states
  low: number; high: number;                    // of all cells and states
}

const AXES: Axis[] = ["x", "y", "z"];
const UNITS: Record<string, string> = {
  density: "kg/m3", momentum: "kg/(m2 s)", velocity: "m/s", spin: "rad/s", temperature: "m2/s2", velocity_gradient: "1/s", agitation: "m2/s2",
  kinetic_stress: "Pa", contact_stress: "Pa", stress: "Pa", pressure: "Pa", divergence: "N/m3", contact_force: "N/m3", boundary_force: "N/m3",
  contacts: "1/m3", dissipation: "W/m3",
};

// Of a field or of a component of it.
export const unitOf = (name: string): string => UNITS[name] ?? UNITS[name.replace(/_[xyz]{1,2}$/, "")] ?? "";

// The centres along an axis of the first state, ascending: every `step`-th row, `count` of them.
function grows(rows: Float64Array, at: number, step: number): number {
  let count = 1;
  for (let r = step; r * 4 + at < rows.length && rows[4 * r + at]! > rows[4 * (r - step) + at]!; r += step) count++;
  return count;
}

export class FieldsTable {
  bytes = 0;
  changed = 0; // when the file was, ms
  trouble: string | null = null; // why there is nothing to show of a file that is there
  fields: Field[] = [];
  #cells: Vec3 = [0, 0, 0];
  #lo: Vec3 = [0, 0, 0];
  #hi: Vec3 = [0, 0, 0];
  #times: number[] = [];
  #columns = 0;
  #value = new Float32Array(0); // [state][cell][column]
  #ends = new Map<string, { low: number; high: number }>();

  get known(): boolean {
    return this.fields.length > 0;
  }

  clear(): void {
    this.bytes = this.changed = 0;
    this.trouble = null;
    this.fields = [];
    this.#times = [];
    this.#ends.clear();
  }

  // The whole file; what was read before is forgotten.
  read(text: string): void {
    try {
      this.#parse(text.split("\n").filter((line) => line !== ""));
    } catch (error) {
      this.fields = [];
      this.trouble = `fields.csv: ${(error as Error).message}`;
    }
  }

  #parse(lines: string[]): void {
    const names = lines.shift()?.split(",") ?? [], columns = names.length - 4;
    if (names.slice(0, 4).join() !== "time,x,y,z" || columns < 1) throw new Error("this is no table of fields; talus measure -f FIELD -o fields.csv makes one");
    const place = new Float64Array(4 * lines.length), value = new Float32Array(columns * lines.length);
    lines.forEach((line, r) => {
      const numbers = line.split(",");
      if (numbers.length !== names.length) throw new Error(`line ${r + 2} has ${numbers.length} numbers in place of ${names.length}`);
      for (let c = 0; c < 4; c++) place[4 * r + c] = Number(numbers[c]);
      for (let c = 0; c < columns; c++) value[columns * r + c] = Number(numbers[c + 4]);
    });
    const nx = grows(place, 1, 1), ny = grows(place, 2, nx), nz = grows(place, 3, nx * ny), cells = nx * ny * nz;
    if (lines.length === 0 || lines.length % cells !== 0) throw new Error(`${lines.length} rows are no whole grids of ${nx} x ${ny} x ${nz} cells`);
    this.#columns = columns;
    this.#value = value;
    this.#cells = [nx, ny, nz];
    this.#times = Array.from({ length: lines.length / cells }, (_, s) => place[4 * cells * s]!);
    [1, nx, nx * ny].forEach((step, k) => {
      const n = this.#cells[k]!, first = place[k + 1]!, last = place[4 * step * (n - 1) + k + 1]!, half = n > 1 ? (last - first) / (n - 1) / 2 : NaN;
      this.#lo[k] = first - half;
      this.#hi[k] = last + half;
    });
    this.#ends.clear();
    this.trouble = null;
    this.fields = fieldsOf(names.slice(4));
  }

  // The value that stands for a cell: of a vector its length.
  #at(field: Field, cell: number): number {
    const v = (c: number) => this.#value[cell * this.#columns + c]!;
    return field.columns.length === 1 ? v(field.columns[0]!) : Math.hypot(...field.columns.map(v));
  }

  #endsOf(field: Field): { low: number; high: number } {
    let ends = this.#ends.get(field.name);
    if (ends) return ends;
    ends = { low: Infinity, high: -Infinity };
    for (let cell = 0; cell < this.#value.length / this.#columns; cell++) {
      const v = this.#at(field, cell);
      if (v < ends.low) ends.low = v;
      if (v > ends.high) ends.high = v;
    }
    if (field.columns.length > 1) ends.low = 0;
    this.#ends.set(field.name, ends);
    return ends;
  }

  // The slice of the last state at or before a time, else of the first; `at` from 0 to 1 across the grid. Null: no such field.
  slice(name: string, axisName: Axis, at: number, time: number): FieldSlice | null {
    const field = this.fields.find((f) => f.name === name);
    if (!field) return null;
    const axis = AXES.indexOf(axisName), u = (axis + 1) % 3, v = (axis + 2) % 3, n = this.#cells, steps = [1, n[0], n[0] * n[1]];
    const layer = Math.min(n[axis]! - 1, Math.floor(at * n[axis]!)), late = this.#times.findIndex((t) => t > time * (1 + 1e-9));
    const state = late < 0 ? this.#times.length - 1 : Math.max(0, late - 1), columns = n[u]!, rows = n[v]!;
    const value = new Float32Array(columns * rows), vector = field.columns.length === 3 ? new Float32Array(3 * columns * rows) : null;
    for (let j = 0; j < rows; j++) for (let i = 0; i < columns; i++) {
      const cell = state * n[0] * n[1] * n[2] + layer * steps[axis]! + i * steps[u]! + j * steps[v]!;
      value[j * columns + i] = this.#at(field, cell);
      if (vector) field.columns.forEach((c, k) => (vector[3 * (j * columns + i) + k] = this.#value[cell * this.#columns + c]!));
    }
    const { low, high } = this.#endsOf(field), half = (this.#hi[axis]! - this.#lo[axis]!) / n[axis]! / 2;
    const place = Number.isFinite(half) ? this.#lo[axis]! + (2 * layer + 1) * half : NaN;
    return { field: name, axis, place, time: this.#times[state]!, lo: [...this.#lo], hi: [...this.#hi], columns, rows, value, vector, longest: vector ? high : 0, low, high };
  }
}

// A field for each vector, then one for each column.
function fieldsOf(names: string[]): Field[] {
  const vectors = names.flatMap((name, c): Field[] => {
    const stem = name.slice(0, -2);
    return name.endsWith("_x") && names[c + 1] === `${stem}_y` && names[c + 2] === `${stem}_z` ? [{ name: stem, columns: [c, c + 1, c + 2] }] : [];
  });
  return [...vectors, ...names.map((name, c) => ({ name, columns: [c] }))];
}

// The head of frames (docs/reference/frames.md): what holds for all of them, and how their shapes look. Nothing here trusts a number
// before it has been checked against the bytes that are really there.

import type { Drawn, Entry, Head, Material, Shape, Surface, Vec3 } from "../types";
import { Arrays, Name } from "./arrays";
import { sections } from "./sections";

type Fields = Record<string, unknown>;

function fail(where: string, wanted: string): never {
  throw new Error(`head of the frames: ${where} must be ${wanted}`);
}

function fields(value: unknown, where: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) fail(where, "an object");
  return value as Fields;
}

function number(value: unknown, where: string, positive = false): number {
  if (typeof value !== "number" || !Number.isFinite(value) || (positive && value <= 0)) fail(where, positive ? "a positive number" : "a number");
  return value;
}

function vector(value: unknown, where: string): Vec3 {
  if (!Array.isArray(value) || value.length !== 3) fail(where, "three numbers");
  return [number(value[0], where), number(value[1], where), number(value[2], where)];
}

function list(value: unknown, where: string): unknown[] {
  if (!Array.isArray(value) || value.length > 65535) fail(where, "a list of at most 65535");
  return value;
}

/* ---- figures ---- */

const DRAWN: Drawn[] = ["sphere", "half space", "solid", "vessel", "sheet", "ground"];
const PER_BYTE = 8; // vertices, triangles and edges to a byte of the payload, at most
const STEPS = 32767; // of a normal's coordinate

type Sizes = [vertices: number, triangles: number, edges: number, pieces: number];

function sizesOf(value: unknown, where: string): Sizes {
  const count = (v: unknown): number => (Number.isInteger(v) && (v as number) >= 0 && (v as number) < 2 ** 29 ? (v as number) : fail(where, "four counts"));
  if (!Array.isArray(value) || value.length !== 4) return fail(where, "four counts");
  return value.map(count) as Sizes;
}

interface Figure { kind: string; drawn: Drawn; sizes: Sizes[] }

function figureOf(value: unknown, where: string): Figure {
  const s = fields(value, where), drawn = s["drawn"] as Drawn;
  if (s["drawn"] === undefined) fail(where, "one of version 2: this file is older; talus view and talus export bring it up to date");
  if (!DRAWN.includes(drawn)) fail(`${where}.drawn`, "a way to draw that this page knows");
  const sizes = list(s["levels"], `${where}.levels`).map((l, k) => sizesOf(l, `${where}.levels[${k}]`));
  const plain = drawn === "sphere" || drawn === "half space";
  if ((sizes.length === 0) !== plain) fail(`${where}.levels`, plain ? "empty" : "a list of one level or more");
  return { kind: String(s["kind"] ?? ""), drawn, sizes };
}

function checkCorners(name: string, corners: Int32Array, vertices: number): void {
  for (const v of corners) if (v < 0 || v >= vertices) throw new Error(`head of the frames: array ${name} has vertex ${v}; there are ${vertices}`);
}

// All levels of all shapes, one after the other.
async function surfacesOf(figures: Figure[], payload: Uint8Array, at: number): Promise<Shape[]> {
  const total = figures.flatMap((f) => f.sizes).reduce((a, b) => a.map((v, k) => v + b[k]!) as Sizes, [0, 0, 0, 0] as Sizes);
  if (total.reduce((a, b) => a + b) > PER_BYTE * payload.length) throw new Error(`head of ${payload.length} bytes that claims ${total.join(", ")} vertices, triangles, edges and pieces`);
  const arrays = Arrays.list(payload, at);
  const need = <T>(array: T | null, n: number, empty: T): T => array ?? (n > 0 ? fail("it", "whole: arrays of its figures are missing") : empty);
  const point = need(await arrays.floats(Name.point, total[0]), total[0], new Float32Array(0));
  if (!point.every(Number.isFinite)) fail("point", "numbers");
  const normal = need(await arrays.integers(Name.normal, total[0]), total[0], new Int32Array(0));
  const triangle = need(await arrays.integers(Name.triangle, total[1]), total[1], new Int32Array(0));
  const edge = need(await arrays.integers(Name.edge, total[2]), total[2], new Int32Array(0));
  let [v, t, e] = [0, 0, 0];
  const surface = ([vertices, triangles, edges]: Sizes): Surface => {
    const position = point.slice(3 * v, 3 * (v + vertices)), corners = triangle.slice(3 * t, 3 * (t + triangles)), ends = edge.slice(2 * e, 2 * (e + edges));
    checkCorners("triangle", corners, vertices);
    checkCorners("edge", ends, vertices);
    const made = { position, normal: Float32Array.from(normal.subarray(3 * v, 3 * (v + vertices)), (n) => n / STEPS), triangles: new Uint32Array(corners.buffer) };
    [v, t, e] = [v + vertices, t + triangles, e + edges];
    const lines = new Float32Array(3 * ends.length);
    ends.forEach((end, k) => lines.set(position.subarray(3 * end, 3 * end + 3), 3 * k));
    return { ...made, lines: edges > 0 ? lines : sections(made.position, made.triangles) };
  };
  return figures.map(({ kind, drawn, sizes }) => ({ kind, drawn, levels: sizes.map(surface) }));
}

/* ---- all of it ---- */

function materialOf(value: unknown, where: string): Material {
  const m = fields(value, where);
  return { name: String(m["name"] ?? ""), friction: number(m["friction"] ?? 0, `${where}.friction`), density: number(m["density"] ?? 0, `${where}.density`) };
}

function entryOf(value: unknown, where: string): Entry {
  const e = fields(value, where), first = number(e["first"], `${where}.first`, true);
  return { name: String(e["name"] ?? ""), first, last: e["last"] === undefined ? Infinity : number(e["last"], `${where}.last`, true) };
}

// The JSON, up to the first zero byte; the arrays of the figures begin at the next multiple of 8.
export async function parseHead(payload: Uint8Array): Promise<Head> {
  const zero = payload.indexOf(0), end = zero < 0 ? payload.length : zero;
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(payload.subarray(0, end)));
  } catch {
    throw new Error("head of the frames: not JSON");
  }
  const h = fields(parsed, "it"), figures = list(h["shapes"], "shapes").map((s, k) => figureOf(s, `shapes[${k}]`));
  return {
    title: String(h["title"] ?? ""),
    scene: String(h["scene"] ?? ""),
    gravity: vector(h["gravity"], "gravity"),
    step: number(h["step"], "step"),
    radius: number(h["radius"], "radius", true),
    quantum: number(h["quantum"], "quantum", true),
    origin: vector(h["origin"], "origin"),
    detail: h["detail"] === "lean" ? "lean" : "full",
    shapes: await surfacesOf(figures, payload, Math.min(payload.length, (Math.floor(end / 8) + 1) * 8)),
    materials: list(h["materials"], "materials").map((m, k) => materialOf(m, `materials[${k}]`)),
    entries: list(h["entries"] ?? [], "entries").map((e, k) => entryOf(e, `entries[${k}]`)).sort((a, b) => a.first - b.first),
  };
}

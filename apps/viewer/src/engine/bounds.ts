// What a picture has to hold: the box about a frame's bodies.

import type { Frame, Shape, Vec3 } from "../types";
import { select } from "./colour";
import { corners, cover, emptyBox, isEmpty, rotate, type Box, type Quat } from "./vector";

const SAMPLES = 40000;   // bodies looked at for percentiles
const MOST_POINTS = 512; // of a shape that are turned for its bounds

export const positionOf = (f: Frame, row: number): Vec3 => [f.position[3 * row]!, f.position[3 * row + 1]!, f.position[3 * row + 2]!];
export const turnOf = (f: Frame, row: number): Quat => [f.orientation[4 * row]!, f.orientation[4 * row + 1]!, f.orientation[4 * row + 2]!, f.orientation[4 * row + 3]!];

// The row of a body; -1 where it is not there.
export const rowOf = (f: Frame, id: number): number => f.id.indexOf(id);

const points = new WeakMap<Shape, Float64Array>();

// The points of a shape's coarsest level, each once; the corners of the box about them where they are too many.
function pointsOf(shape: Shape): Float64Array {
  let known = points.get(shape);
  if (!known) {
    const p = shape.levels[0]!.position, seen = new Map<string, Vec3>(), box = emptyBox();
    for (let k = 0; k < p.length; k += 3) {
      const at: Vec3 = [p[k]!, p[k + 1]!, p[k + 2]!];
      cover(box, at);
      if (seen.size <= MOST_POINTS) seen.set(at.join(), at);
    }
    known = Float64Array.from((seen.size > MOST_POINTS ? corners(box) : [...seen.values()]).flat());
    points.set(shape, known);
  }
  return known;
}

// How far a shape reaches along each axis on both sides of its position, as low and high corner.
function reach(shape: Shape, turn: Quat): Box | null {
  if (shape.drawn === "half space") return null;
  const box = emptyBox(), v = pointsOf(shape);
  const x = rotate(turn, [1, 0, 0]), y = rotate(turn, [0, 1, 0]), z = rotate(turn, [0, 0, 1]);
  for (let k = 0; k < v.length; k += 3) {
    for (let c = 0; c < 3; c++) {
      const p = x[c]! * v[k]! + y[c]! * v[k + 1]! + z[c]! * v[k + 2]!;
      if (p < box.lo[c]!) box.lo[c] = p;
      if (p > box.hi[c]!) box.hi[c] = p;
    }
  }
  return isEmpty(box) ? null : box;
}

// Bodies that have flown far off are not waited for: along each axis those beyond the 1st and 99th percentile
// by more than the distance between the two.
function bulk(f: Frame): Box {
  const box = emptyBox(), stride = Math.max(1, Math.floor(f.count / SAMPLES));
  const values = new Float32Array(Math.ceil(f.count / stride));
  for (let c = 0; c < 3; c++) {
    let n = 0;
    for (let i = 0; i < f.count; i += stride) if (!f.fixed[i]) values[n++] = f.position[3 * i + c]!;
    if (n === 0) return box;
    const low = select(values, n, Math.ceil(0.01 * n) - 1), high = select(values, n, Math.ceil(0.99 * n) - 1);
    box.lo[c] = low - (high - low) - f.head.radius;
    box.hi[c] = high + (high - low) + f.head.radius;
  }
  return box;
}

// null where there is nothing that has a size.
export function boundsOf(f: Frame): Box | null {
  const box = emptyBox(), within = bulk(f), { lo, hi } = within;
  for (let i = 0; i < f.count; i++) {
    const shape = f.head.shapes[f.shape[i]!]!, k = 3 * i;
    const x = f.position[k]!, y = f.position[k + 1]!, z = f.position[k + 2]!;
    if (!f.fixed[i] && !(x >= lo[0] && x <= hi[0] && y >= lo[1] && y <= hi[1] && z >= lo[2] && z <= hi[2])) continue;
    if (shape.drawn === "sphere") {
      const r = f.radius[i]!;
      if (x - r < box.lo[0]) box.lo[0] = x - r;
      if (y - r < box.lo[1]) box.lo[1] = y - r;
      if (z - r < box.lo[2]) box.lo[2] = z - r;
      if (x + r > box.hi[0]) box.hi[0] = x + r;
      if (y + r > box.hi[1]) box.hi[1] = y + r;
      if (z + r > box.hi[2]) box.hi[2] = z + r;
      continue;
    }
    const part = reach(shape, turnOf(f, i));
    if (!part) continue;
    cover(box, [x + part.lo[0], y + part.lo[1], z + part.lo[2]]);
    cover(box, [x + part.hi[0], y + part.hi[1], z + part.hi[2]]);
  }
  return isEmpty(box) ? null : box;
}

// The distance from `from` to the farthest body, for near and far planes.
export function farthest(f: Frame, from: Vec3): number {
  let most = 0;
  for (let i = 0; i < f.count; i++) {
    const k = 3 * i, x = f.position[k]! - from[0], y = f.position[k + 1]! - from[1], z = f.position[k + 2]! - from[2];
    const d = Math.sqrt(x * x + y * y + z * z) + f.radius[i]!;
    if (d > most) most = d;
  }
  return most;
}

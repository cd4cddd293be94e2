// Which body a ray meets first. A loop over all bodies: a million take a few milliseconds.

import type { Frame, Surface, Vec3 } from "../types";
import { positionOf, turnOf } from "./bounds";
import type { Ray } from "./camera";
import { surfaceOf } from "./surfaces";
import { cross, dot, inverse, rotate, scale, sub } from "./vector";

const PICKED = 4096; // triangles of a body that are looked at, where it has a level of so few

// The part of a ray that is there: what the clip plane cuts away is not.
export interface Span { from: number; to: number }

// Cut away where dot(normal, x) > offset.
export interface Cut { normal: Vec3; offset: number }

export function spanOf(ray: Ray, cut: Cut | null): Span {
  if (!cut) return { from: 0, to: Infinity };
  const out = dot(cut.normal, ray.from) - cut.offset, speed = dot(cut.normal, ray.way);
  if (Math.abs(speed) < 1e-12) return out > 0 ? { from: Infinity, to: -Infinity } : { from: 0, to: Infinity };
  const at = -out / speed;
  return speed < 0 ? { from: Math.max(0, at), to: Infinity } : { from: 0, to: at };
}

// Where a ray enters something that it is within from `a` to `b`, as far as the span goes; Infinity: not at all.
const enter = (a: number, b: number, span: Span): number => {
  const at = Math.max(a, span.from);
  return at <= Math.min(b, span.to) ? at : Infinity;
};

// By its triangles: from the first to the last that is met.
function enterSurface(surface: Surface | null, radius: number, o: Vec3, d: Vec3, span: Span): number {
  const off = sub(o, scale(d, dot(o, d)));
  if (!surface || dot(off, off) > radius * radius * 1.001) return Infinity;
  const { position: p, triangles } = surface, at = (k: number): Vec3 => [p[3 * k]!, p[3 * k + 1]!, p[3 * k + 2]!];
  let first = Infinity, last = -Infinity;
  for (let k = 0; k < triangles.length; k += 3) {
    const a = at(triangles[k]!), e = sub(at(triangles[k + 1]!), a), f = sub(at(triangles[k + 2]!), a), n = cross(e, f), det = -dot(d, n);
    if (det === 0) continue;
    const from = sub(o, a), across = cross(from, d), u = dot(f, across) / det, v = -dot(e, across) / det, t = dot(from, n) / det;
    if (u < 0 || v < 0 || u + v > 1) continue;
    first = Math.min(first, t);
    last = Math.max(last, t);
  }
  return enter(first, last, span);
}

function enterSolid(frame: Frame, row: number, ray: Ray, span: Span): number {
  const shape = frame.head.shapes[frame.shape[row]!]!, back = inverse(turnOf(frame, row));
  const o = rotate(back, sub(ray.from, positionOf(frame, row))), d = rotate(back, ray.way);
  return enterSurface(surfaceOf(shape, PICKED), frame.radius[row]!, o, d, span);
}

export interface Hit { row: number; at: number }

export function pickSpheres(frame: Frame, rows: Int32Array, ray: Ray, span: Span, fixedToo: boolean): Hit {
  const p = frame.position, [ox, oy, oz] = ray.from, [dx, dy, dz] = ray.way;
  const hit: Hit = { row: -1, at: Infinity };
  for (let k = 0; k < rows.length; k++) {
    const i = rows[k]!, x = p[3 * i]! - ox, y = p[3 * i + 1]! - oy, z = p[3 * i + 2]! - oz;
    const b = x * dx + y * dy + z * dz, r = frame.radius[i]!;
    if (b + r < span.from || b - r > hit.at) continue;
    const u = x - b * dx, v = y - b * dy, w = z - b * dz;
    const h2 = r * r - (u * u + v * v + w * w);
    if (h2 < 0 || (!fixedToo && frame.fixed[i])) continue;
    const h = Math.sqrt(h2), at = enter(b - h, b + h, span);
    if (at < hit.at) {
      hit.at = at;
      hit.row = i;
    }
  }
  return hit;
}

export function pickSolids(frame: Frame, rows: Int32Array, ray: Ray, span: Span, best: Hit): Hit {
  for (const row of rows) {
    const at = enterSolid(frame, row, ray, span);
    if (at < best.at) best = { row, at };
  }
  return best;
}

// The opaque container, by its triangles; of surfaces with an inside only what is drawn counts, and that is what the
// viewer sees from within.
export function pickWalls(walls: { position: Float32Array; index: Uint32Array; row: Uint32Array }, seen: (row: number, facing: boolean) => boolean, ray: Ray, span: Span, best: Hit): Hit {
  const { position: p, index, row } = walls;
  const at = (k: number): Vec3 => [p[3 * index[k]!]!, p[3 * index[k]! + 1]!, p[3 * index[k]! + 2]!];
  for (let t = 0; t < row.length; t++) {
    const a = at(3 * t), e = sub(at(3 * t + 1), a), f = sub(at(3 * t + 2), a);
    const n = cross(e, f), det = -dot(ray.way, n);
    if (det === 0 || !seen(row[t]!, det > 0)) continue;
    const o = sub(ray.from, a), d = cross(o, ray.way);
    const u = dot(f, d) / det, v = -dot(e, d) / det, s = dot(o, n) / det;
    if (u < 0 || v < 0 || u + v > 1 || s < span.from || s > span.to || s >= best.at) continue;
    best = { row: row[t]!, at: s };
  }
  return best;
}

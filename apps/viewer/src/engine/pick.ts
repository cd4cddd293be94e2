// Which body a ray meets first. A loop over all bodies: a million take a few milliseconds.

import type { Frame, Vec3 } from "../types";
import { positionOf, turnOf } from "./bounds";
import type { Ray } from "./camera";
import { surfaceOf } from "./surfaces";
import { along, cross, dot, inverse, rotate, sub } from "./vector";

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

// Where a ray meets the triangle whose corners stand at `first` in `index`, and whether that faces it; null: nowhere.
function meet(position: Float32Array, index: Uint32Array, first: number, ray: Ray): { at: number; facing: boolean } | null {
  const corner = (k: number): Vec3 => [position[3 * index[k]!]!, position[3 * index[k]! + 1]!, position[3 * index[k]! + 2]!];
  const a = corner(first), e = sub(corner(first + 1), a), f = sub(corner(first + 2), a), n = cross(e, f), det = -dot(ray.way, n);
  if (det === 0) return null;
  const from = sub(ray.from, a), across = cross(from, ray.way), u = dot(f, across) / det, v = -dot(e, across) / det;
  return u < 0 || v < 0 || u + v > 1 ? null : { at: dot(from, n) / det, facing: det > 0 };
}

// A body by its triangles: from the first to the last that is met.
function enterSolid(frame: Frame, row: number, ray: Ray, span: Span): number {
  const surface = surfaceOf(frame.head.shapes[frame.shape[row]!]!, PICKED), back = inverse(turnOf(frame, row)), radius = frame.radius[row]!;
  const own: Ray = { from: rotate(back, sub(ray.from, positionOf(frame, row))), way: rotate(back, ray.way) };
  const off = along(own.from, own.way, -dot(own.from, own.way));
  if (!surface || dot(off, off) > radius * radius * 1.001) return Infinity;
  let first = Infinity, last = -Infinity;
  for (let k = 0; k < surface.triangles.length; k += 3) {
    const hit = meet(surface.position, surface.triangles, k, own);
    if (!hit) continue;
    first = Math.min(first, hit.at);
    last = Math.max(last, hit.at);
  }
  return enter(first, last, span);
}

export interface Hit { row: number; at: number }

export function pickSpheres(frame: Frame, rows: Int32Array, ray: Ray, span: Span): Hit {
  const p = frame.position, [ox, oy, oz] = ray.from, [dx, dy, dz] = ray.way;
  const hit: Hit = { row: -1, at: Infinity };
  for (let k = 0; k < rows.length; k++) {
    const i = rows[k]!, x = p[3 * i]! - ox, y = p[3 * i + 1]! - oy, z = p[3 * i + 2]! - oz;
    const b = x * dx + y * dy + z * dz, r = frame.radius[i]!;
    if (b + r < span.from || b - r > hit.at) continue;
    const u = x - b * dx, v = y - b * dy, w = z - b * dz;
    const h2 = r * r - (u * u + v * v + w * w);
    if (h2 < 0) continue;
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
  walls.row.forEach((row, t) => {
    const hit = meet(walls.position, walls.index, 3 * t, ray);
    if (hit && seen(row, hit.facing) && hit.at >= span.from && hit.at <= span.to && hit.at < best.at) best = { row, at: hit.at };
  });
  return best;
}

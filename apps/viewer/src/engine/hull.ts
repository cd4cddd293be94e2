// The convex hull of a few points, as triangles anticlockwise from outside: for shapes whose corners alone the file
// tells. Points are added one by one; what a new point sees is replaced by triangles to it.

import type { Vec3 } from "../types";
import { cross, dot, length, scale, sub } from "./vector";

interface Face { corner: [number, number, number]; normal: Vec3; offset: number }

function faceOf(at: (k: number) => Vec3, a: number, b: number, c: number): Face {
  const p = at(a), n = cross(sub(at(b), p), sub(at(c), p)), size = length(n), normal = scale(n, size > 0 ? 1 / size : 0);
  return { corner: [a, b, c], normal, offset: dot(normal, p) };
}

// Four points that span the most: farthest apart, from their line, from their plane.
function spread(at: (k: number) => Vec3, count: number): number[] | null {
  const best = (value: (k: number) => number): number => {
    let which = 0, most = -Infinity;
    for (let k = 0; k < count; k++) {
      const v = value(k);
      if (v > most) [which, most] = [k, v];
    }
    return which;
  };
  const a = best((k) => at(k)[0]), b = best((k) => length(sub(at(k), at(a))));
  const way = sub(at(b), at(a)), c = best((k) => length(cross(way, sub(at(k), at(a)))));
  const n = cross(way, sub(at(c), at(a))), d = best((k) => Math.abs(dot(n, sub(at(k), at(a)))));
  const side = dot(n, sub(at(d), at(a)));
  if (!(Math.abs(side) > 0)) return null;
  return side < 0 ? [a, b, c, d] : [a, c, b, d];
}

export function hullTriangles(vertex: Float64Array): [number, number, number][] {
  const count = vertex.length / 3, at = (k: number): Vec3 => [vertex[3 * k]!, vertex[3 * k + 1]!, vertex[3 * k + 2]!];
  const first = count >= 4 ? spread(at, count) : null;
  if (!first) return [];
  const [a, b, c, d] = first as [number, number, number, number];
  const slack = 1e-10 * length(sub(at(b), at(a)));
  let faces = [faceOf(at, a, b, c), faceOf(at, a, d, b), faceOf(at, b, d, c), faceOf(at, c, d, a)];
  for (let k = 0; k < count; k++) {
    if (first.includes(k)) continue;
    const p = at(k), seen = new Set<string>(), kept: Face[] = [], gone: Face[] = [];
    for (const f of faces) (dot(f.normal, p) > f.offset + slack ? gone : kept).push(f);
    for (const { corner: [x, y, z] } of gone) for (const [i, j] of [[x, y], [y, z], [z, x]]) seen.add(`${i},${j}`);
    for (const { corner: [x, y, z] } of gone) {
      for (const [i, j] of [[x, y], [y, z], [z, x]] as const) if (!seen.has(`${j},${i}`)) kept.push(faceOf(at, i, j, k));
    }
    faces = kept;
  }
  return faces.map((f) => f.corner);
}

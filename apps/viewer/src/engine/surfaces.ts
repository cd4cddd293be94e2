// Triangles and feature lines of shapes, in the body's frame unless said otherwise.

import type { Shape, Vec3 } from "../types";
import { add, along, cross, diagonal, dot, scale, sub, unit, type Box, type Frame3 } from "./vector";

export interface Surface {
  position: Float32Array;
  normal: Float32Array;
  triangles: Uint32Array;
  lines: Float32Array; // two points each: sharp edges and free rims
}

const SEGMENTS = 96; // of a full circle
const SHARP = 0.9;   // cosine of the angle above which a joint of a profile is an edge

class Builder {
  position: number[] = [];
  normal: number[] = [];
  triangles: number[] = [];
  lines: number[] = [];

  vertex(p: Vec3, n: Vec3): number {
    this.position.push(...p);
    this.normal.push(...n);
    return this.position.length / 3 - 1;
  }
  fan(points: Vec3[], n: Vec3): void {
    const ids = points.map((p) => this.vertex(p, n));
    for (let k = 2; k < ids.length; k++) this.triangles.push(ids[0]!, ids[k - 1]!, ids[k]!);
  }
  loop(points: Vec3[]): void {
    points.forEach((p, k) => this.lines.push(...p, ...points[(k + 1) % points.length]!));
  }
  surface(): Surface {
    return {
      position: new Float32Array(this.position), normal: new Float32Array(this.normal), triangles: new Uint32Array(this.triangles), lines: new Float32Array(this.lines),
    };
  }
}

const around = (r: number, h: number): Vec3[] => Array.from({ length: SEGMENTS }, (_, k): Vec3 => {
  const a = (2 * Math.PI * k) / SEGMENTS;
  return [r * Math.cos(a), r * Math.sin(a), h];
});

export function unitBox(): Surface {
  const b = new Builder();
  for (let axis = 0; axis < 3; axis++) {
    for (const side of [-1, 1]) {
      const at = (u: number, v: number): Vec3 => {
        const p: Vec3 = [0, 0, 0];
        p[axis] = side;
        p[(axis + 1) % 3] = u * side;
        p[(axis + 2) % 3] = v;
        return p;
      };
      const n: Vec3 = [0, 0, 0];
      n[axis] = side;
      b.fan([at(-1, -1), at(1, -1), at(1, 1), at(-1, 1)], n);
    }
  }
  for (let axis = 0; axis < 3; axis++) {
    for (const u of [-1, 1]) {
      for (const v of [-1, 1]) {
        for (const end of [-1, 1]) {
          const p: Vec3 = [0, 0, 0];
          p[axis] = end;
          p[(axis + 1) % 3] = u;
          p[(axis + 2) % 3] = v;
          b.lines.push(...p);
        }
      }
    }
  }
  return b.surface();
}

// A band between two circles; normals point away from the axis, or along it where the band is flat.
function band(b: Builder, [r0, h0]: [number, number], [r1, h1]: [number, number]): void {
  const slope = unit([h1 - h0, 0, r0 - r1]), sign = slope[0] < 0 ? -1 : 1;
  const nr = slope[0] * sign, nh = slope[2] * sign;
  const low = around(r0, h0), high = around(r1, h1), first = b.position.length / 3;
  for (let k = 0; k <= SEGMENTS; k++) {
    const a = (2 * Math.PI * k) / SEGMENTS, n: Vec3 = [nr * Math.cos(a), nr * Math.sin(a), nh];
    b.vertex(low[k % SEGMENTS]!, n);
    b.vertex(high[k % SEGMENTS]!, n);
  }
  for (let k = 0; k < SEGMENTS; k++) {
    const i = first + 2 * k, quad = [i, i + 2, i + 3, i, i + 3, i + 1];
    b.triangles.push(...(sign > 0 ? quad : [i, i + 3, i + 2, i, i + 1, i + 3]));
  }
}

export function unitCylinder(): Surface {
  const b = new Builder();
  band(b, [1, -1], [1, 1]);
  b.fan(around(1, 1), [0, 0, 1]);
  b.fan(around(1, -1).reverse(), [0, 0, -1]);
  b.loop(around(1, -1));
  b.loop(around(1, 1));
  return b.surface();
}

function revolve(profile: [number, number][]): Surface {
  const b = new Builder(), last = profile.length - 1;
  for (let k = 0; k < last; k++) band(b, profile[k]!, profile[k + 1]!);
  profile.forEach(([r, h], k) => {
    if (r === 0) return;
    const way = (i: number): Vec3 => unit([profile[i + 1]![0] - profile[i]![0], profile[i + 1]![1] - profile[i]![1], 0]);
    if (k === 0 || k === last || dot(way(k - 1), way(k)) < SHARP) b.loop(around(r, h));
  });
  return b.surface();
}

// Planes have none of their own: see planePolygon.
export function surfaceOf(shape: Shape): Surface | null {
  if (shape.kind === "revolve") return revolve(shape.profile);
  if (shape.kind !== "box" && shape.kind !== "cylinder") return null;
  const size: Vec3 = shape.kind === "box" ? shape.half : [shape.radius, shape.radius, shape.half_height];
  const s = shape.kind === "box" ? unitBox() : unitCylinder();
  const sized = (a: Float32Array): Float32Array => a.map((v, k) => v * size[k % 3]!);
  return { ...s, position: sized(s.position), lines: sized(s.lines) };
}

export interface Plane { point: Vec3; normal: Vec3 } // free where dot(normal, x - point) > 0

function cut(polygon: Vec3[], p: Plane): Vec3[] {
  const out: Vec3[] = [];
  polygon.forEach((a, k) => {
    const b = polygon[(k + 1) % polygon.length]!, da = dot(p.normal, sub(a, p.point)), db = dot(p.normal, sub(b, p.point));
    if (da >= 0) out.push(a);
    if (da >= 0 !== db >= 0) out.push(along(a, sub(b, a), da / (da - db)));
  });
  return out;
}

// The part of planes[which] that bounds what all of them leave free, within the bounds, which are widened a little
// except downwards. Anticlockwise seen from the free side; empty where nothing is left.
export function planePolygon(planes: Plane[], which: number, bounds: Box, frame: Frame3): Vec3[] {
  const { point, normal } = planes[which]!, size = diagonal(bounds);
  const middle = scale(add(bounds.lo, bounds.hi), 0.5);
  const foot = along(middle, normal, dot(normal, sub(point, middle)));
  const u = unit(cross(normal, Math.abs(normal[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0])), v = cross(normal, u);
  const reach = 4 * (size + Math.abs(dot(normal, sub(point, middle))));
  let polygon = [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([s, t]) => along(along(foot, u, s! * reach), v, t! * reach));
  planes.forEach((p, k) => {
    if (k !== which && Math.abs(dot(p.normal, normal)) < 1 - 1e-9) polygon = cut(polygon, p);
  });
  for (const axis of [frame.x, frame.y, frame.up]) {
    if (Math.abs(dot(axis, normal)) > 0.99) continue;
    let low = Infinity, high = -Infinity;
    for (let k = 0; k < 8; k++) {
      const h = dot(axis, [k & 1 ? bounds.hi[0] : bounds.lo[0], k & 2 ? bounds.hi[1] : bounds.lo[1], k & 4 ? bounds.hi[2] : bounds.lo[2]]);
      low = Math.min(low, h);
      high = Math.max(high, h);
    }
    polygon = cut(polygon, { point: scale(axis, low - (axis === frame.up ? 0 : 0.04 * size)), normal: axis });
    polygon = cut(polygon, { point: scale(axis, high + 0.04 * size), normal: scale(axis, -1) });
  }
  return polygon;
}

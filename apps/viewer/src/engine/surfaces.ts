// Surfaces of shapes at the level of detail that serves, and planes cut by one another.

import type { Shape, Surface, Vec3 } from "../types";
import { along, centre, corners, cross, diagonal, dot, scale, sub, unit, type Box, type Frame3 } from "./vector";

const cornerOf = (s: Surface, k: number): Vec3 => [s.position[3 * k]!, s.position[3 * k + 1]!, s.position[3 * k + 2]!];

// The finest level with at most so many triangles, else the coarsest; null for spheres and half spaces.
export function surfaceOf(shape: Shape, most: number): Surface | null {
  const fits = shape.levels.filter((s) => s.triangles.length <= 3 * most);
  return fits.at(-1) ?? shape.levels[0] ?? null;
}

// Whether a surface is stood on rather than looked into: drawn as it is, never as a ghost. A sheet that is nowhere
// steeper than 45 degrees is.
export function isGround(shape: Shape, up: Vec3): boolean {
  if (shape.drawn !== "sheet") return shape.drawn === "ground";
  const s = shape.levels[0]!;
  for (let k = 0; k < s.triangles.length; k += 3) {
    const [a, b, c] = [0, 1, 2].map((i) => cornerOf(s, s.triangles[k + i]!)) as [Vec3, Vec3, Vec3];
    const n = cross(sub(b, a), sub(c, a));
    if (!(dot(n, up) >= Math.SQRT1_2 * Math.hypot(...n))) return false;
  }
  return true;
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

// The part of planes[which] that bounds what all of them leave free, within the bounds, which are widened by `margin`, as a
// rule a little, except downwards. Anticlockwise seen from the free side; empty where nothing is left.
export function planePolygon(planes: Plane[], which: number, bounds: Box, frame: Frame3, margin = 0.04 * diagonal(bounds)): Vec3[] {
  const { point, normal } = planes[which]!, size = diagonal(bounds) + margin;
  const middle = centre(bounds), foot = along(middle, normal, dot(normal, sub(point, middle)));
  const u = unit(cross(normal, Math.abs(normal[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0])), v = cross(normal, u);
  const reach = 4 * (size + Math.abs(dot(normal, sub(point, middle))));
  let polygon = [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([s, t]) => along(along(foot, u, s! * reach), v, t! * reach));
  planes.forEach((p, k) => {
    if (k !== which && Math.abs(dot(p.normal, normal)) < 1 - 1e-9) polygon = cut(polygon, p);
  });
  for (const axis of [frame.x, frame.y, frame.up]) {
    if (Math.abs(dot(axis, normal)) > 0.99) continue;
    const heights = corners(bounds).map((p) => dot(axis, p)), low = Math.min(...heights), high = Math.max(...heights);
    polygon = cut(polygon, { point: scale(axis, low - (axis === frame.up ? 0 : margin)), normal: axis });
    polygon = cut(polygon, { point: scale(axis, high + margin), normal: scale(axis, -1) });
  }
  return polygon;
}

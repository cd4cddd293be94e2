// Triangles and feature lines of shapes, in the body's frame unless said otherwise.

import type { Part, Shape, Vec3 } from "../types";
import { hullTriangles } from "./hull";
import { add, along, cross, diagonal, dot, rotate, scale, sub, unit, type Box, type Frame3 } from "./vector";

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
  // Quads between rows of as many points each, `across` of them; the first point of a row follows its last if it is closed.
  grid(first: number, across: number, rows: number, closed: boolean): void {
    for (let r = 0; r + 1 < rows; r++) {
      for (let c = 0; c + (closed ? 0 : 1) < across; c++) {
        const a = first + r * across + c, b = first + r * across + ((c + 1) % across), d = a + across, e = b + across;
        this.triangles.push(a, b, e, a, e, d);
      }
    }
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

// A ball with each half moved `apart` from the middle along z and stretched by `half`.
function round(half: Vec3, apart: number, segments: number): Surface {
  const b = new Builder(), quarter = segments / 4;
  for (let row = 0; row <= 2 * quarter + 1; row++) {
    const upper = row > quarter, k = upper ? row - 1 : row, polar = (Math.PI * k) / (2 * quarter);
    for (let c = 0; c < segments; c++) {
      const turn = (2 * Math.PI * c) / segments, n: Vec3 = [Math.sin(polar) * Math.cos(turn), Math.sin(polar) * Math.sin(turn), -Math.cos(polar)];
      b.vertex([half[0] * n[0], half[1] * n[1], half[2] * n[2] + (upper ? apart : -apart)], unit([n[0] / half[0], n[1] / half[1], n[2] / half[2]]));
    }
  }
  b.grid(0, segments, 2 * quarter + 2, true);
  const ring = (x: Vec3, y: Vec3): Vec3[] => Array.from({ length: SEGMENTS }, (_, k) => {
    const a = (2 * Math.PI * k) / SEGMENTS, p = add(scale(x, Math.cos(a)), scale(y, Math.sin(a)));
    return [p[0], p[1], p[2] + (p[2] > 0 ? apart : p[2] < 0 ? -apart : 0)];
  });
  const [x, y, z]: Vec3[] = [[half[0], 0, 0], [0, half[1], 0], [0, 0, half[2]]];
  b.loop(ring(x!, z!));
  b.loop(ring(y!, z!));
  for (const h of apart > 0 ? [-apart, apart] : [0]) b.loop(ring(x!, y!).map((p): Vec3 => [p[0], p[1], h]));
  return b.surface();
}

function cone(r: number, h: number): Surface {
  const b = new Builder();
  band(b, [r, -0.5 * h], [0, 1.5 * h]);
  b.fan(around(r, -0.5 * h).reverse(), [0, 0, -1]);
  b.loop(around(r, -0.5 * h));
  return b.surface();
}

const corner = (v: Float64Array, k: number): Vec3 => [v[3 * k]!, v[3 * k + 1]!, v[3 * k + 2]!];

// Triangles with normals that are shared within 30 degrees of each other where `smooth`; lines where they are not.
function faceted(vertex: Float64Array, triangles: ArrayLike<number>[], smooth: boolean): Surface {
  const b = new Builder(), limit = smooth ? Math.cos(Math.PI / 6) : 1 - 1e-6;
  const normals = triangles.map((t) => unit(cross(sub(corner(vertex, t[1]!), corner(vertex, t[0]!)), sub(corner(vertex, t[2]!), corner(vertex, t[0]!)))));
  const about = new Map<number, number[]>(), beside = new Map<string, number[]>();
  const put = <K>(map: Map<K, number[]>, key: K, value: number): void => {
    const list = map.get(key);
    if (list) list.push(value);
    else map.set(key, [value]);
  };
  const edge = (t: ArrayLike<number>, c: number): string => {
    const i = t[c]!, j = t[(c + 1) % 3]!;
    return i < j ? `${i},${j}` : `${j},${i}`;
  };
  triangles.forEach((t, k) => {
    for (let c = 0; c < 3; c++) {
      if (smooth) put(about, t[c]!, k);
      put(beside, edge(t, c), k);
    }
  });
  triangles.forEach((t, k) => {
    const own = normals[k]!;
    for (let c = 0; c < 3; c++) {
      const near = smooth ? about.get(t[c]!)!.map((i) => normals[i]!).filter((n) => dot(n, own) >= limit) : [own];
      b.triangles.push(b.vertex(corner(vertex, t[c]!), unit(near.reduce(add, [0, 0, 0]))));
      const two = beside.get(edge(t, c))!;
      if (two[0] === k && (two.length !== 2 || dot(own, normals[two[1]!]!) < limit)) b.lines.push(...corner(vertex, t[c]!), ...corner(vertex, t[(c + 1) % 3]!));
    }
  });
  return b.surface();
}

function field({ columns, rows, spacing, height }: Extract<Shape, { kind: "field" }>): Surface {
  const b = new Builder(), clamp = (k: number, n: number): number => Math.max(0, Math.min(n - 1, k));
  const at = (c: number, r: number): Vec3 => [(c - 0.5 * (columns - 1)) * spacing, (r - 0.5 * (rows - 1)) * spacing, height[r * columns + c]!];
  const slope = (c0: number, r0: number, c1: number, r1: number): number => (at(c1, r1)[2] - at(c0, r0)[2]) / ((c1 - c0 + r1 - r0) * spacing);
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < columns; c++) {
      b.vertex(at(c, r), unit([-slope(clamp(c - 1, columns), r, clamp(c + 1, columns), r), -slope(c, clamp(r - 1, rows), c, clamp(r + 1, rows)), 1]));
    }
  }
  b.grid(0, columns, rows, false);
  const rim: Vec3[] = [];
  for (let c = 0; c < columns; c++) rim.push(at(c, 0));
  for (let r = 1; r < rows; r++) rim.push(at(columns - 1, r));
  for (let c = columns - 2; c >= 0; c--) rim.push(at(c, rows - 1));
  for (let r = rows - 2; r > 0; r--) rim.push(at(0, r));
  b.loop(rim);
  return b.surface();
}

function compound(parts: Part[], segments: number): Surface {
  const position: number[] = [], normal: number[] = [], triangles: number[] = [], lines: number[] = [];
  for (const { position: at, orientation, shape } of parts) {
    const s = surfaceOf(shape, segments)!, first = position.length / 3;
    const turned = (a: Float32Array, to: number[], by: Vec3): void => {
      for (let k = 0; k < a.length; k += 3) to.push(...add(rotate(orientation, [a[k]!, a[k + 1]!, a[k + 2]!]), by));
    };
    turned(s.position, position, at);
    turned(s.normal, normal, [0, 0, 0]);
    turned(s.lines, lines, at);
    for (const v of s.triangles) triangles.push(first + v);
  }
  return { position: new Float32Array(position), normal: new Float32Array(normal), triangles: new Uint32Array(triangles), lines: new Float32Array(lines) };
}

function make(shape: Shape, segments: number): Surface | null {
  switch (shape.kind) {
    case "plane": return null; // see planePolygon
    case "sphere": return shape.radius ? round([shape.radius, shape.radius, shape.radius], 0, segments) : null; // bodies have a radius each
    case "revolve": return revolve(shape.profile);
    case "capsule": return round([shape.radius, shape.radius, shape.radius], shape.half_height, segments);
    case "ellipsoid": return round(shape.half, 0, segments);
    case "cone": return cone(shape.radius, shape.half_height);
    case "hull": return faceted(shape.vertex, hullTriangles(shape.vertex), false);
    case "mesh": return faceted(shape.vertex, Array.from({ length: shape.triangle.length / 3 }, (_, k) => shape.triangle.subarray(3 * k, 3 * k + 3)), true);
    case "field": return field(shape);
    case "compound": return compound(shape.parts, segments);
    default: {
      const size: Vec3 = shape.kind === "box" ? shape.half : [shape.radius, shape.radius, shape.half_height];
      const s = shape.kind === "box" ? unitBox() : unitCylinder();
      const sized = (a: Float32Array): Float32Array => a.map((v, k) => v * size[k % 3]!);
      return { ...s, position: sized(s.position), lines: sized(s.lines) };
    }
  }
}

const made = new WeakMap<Shape, Map<number, Surface | null>>();

// `segments`, a multiple of 4, divide the circles of what is round all over.
export function surfaceOf(shape: Shape, segments = 48): Surface | null {
  const known = made.get(shape) ?? new Map<number, Surface | null>();
  made.set(shape, known);
  if (!known.has(segments)) known.set(segments, make(shape, segments));
  return known.get(segments)!;
}

// Whether a surface is stood on rather than looked into: drawn as it is, never as a ghost. A field is; a mesh that is
// nowhere steeper than 45 degrees too.
export function isGround(shape: Shape, up: Vec3): boolean {
  if (shape.kind === "field") return true;
  if (shape.kind !== "mesh") return false;
  for (let k = 0; k < shape.triangle.length; k += 3) {
    const [a, b, c] = [0, 1, 2].map((i) => corner(shape.vertex, shape.triangle[k + i]!)) as [Vec3, Vec3, Vec3];
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

// Vectors of three numbers, boxes and planes: what camera, bounds and picking need.

import type { Vec3 } from "../types";

export const add = (a: Vec3, b: Vec3): Vec3 => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const sub = (a: Vec3, b: Vec3): Vec3 => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const scale = (a: Vec3, s: number): Vec3 => [a[0] * s, a[1] * s, a[2] * s];
export const along = (a: Vec3, b: Vec3, s: number): Vec3 => [a[0] + b[0] * s, a[1] + b[1] * s, a[2] + b[2] * s];
export const dot = (a: Vec3, b: Vec3): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const cross = (a: Vec3, b: Vec3): Vec3 => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
export const length = (a: Vec3): number => Math.hypot(a[0], a[1], a[2]);
export const unit = (a: Vec3): Vec3 => scale(a, 1 / (length(a) || 1));

export type Quat = [number, number, number, number]; // w x y z

export function rotate([w, x, y, z]: Quat, v: Vec3): Vec3 {
  const t = scale(cross([x, y, z], v), 2);
  return add(along(v, t, w), cross([x, y, z], t));
}

export const inverse = ([w, x, y, z]: Quat): Quat => [w, -x, -y, -z];

export interface Box { lo: Vec3; hi: Vec3 }

export const emptyBox = (): Box => ({ lo: [Infinity, Infinity, Infinity], hi: [-Infinity, -Infinity, -Infinity] });
export const isEmpty = (b: Box): boolean => !(b.lo[0] <= b.hi[0]);

// Widens a box to hold a point.
export function cover(box: Box, at: Vec3): void {
  for (let c = 0; c < 3; c++) {
    box.lo[c] = Math.min(box.lo[c]!, at[c]!);
    box.hi[c] = Math.max(box.hi[c]!, at[c]!);
  }
}

export function joined(a: Box, b: Box): Box {
  return { lo: a.lo.map((v, c) => Math.min(v, b.lo[c]!)) as Vec3, hi: a.hi.map((v, c) => Math.max(v, b.hi[c]!)) as Vec3 };
}

export const moved = (b: Box, by: Vec3): Box => ({ lo: add(b.lo, by), hi: add(b.hi, by) });

export const centre = (b: Box): Vec3 => scale(add(b.lo, b.hi), 0.5);
export const diagonal = (b: Box): number => length(sub(b.hi, b.lo));

export function corners(b: Box): Vec3[] {
  return Array.from({ length: 8 }, (_, k): Vec3 => [k & 1 ? b.hi[0] : b.lo[0], k & 2 ? b.hi[1] : b.lo[1], k & 4 ? b.hi[2] : b.lo[2]]);
}

// Three axes about `up`: for up = z the coordinate axes.
export interface Frame3 { x: Vec3; y: Vec3; up: Vec3 }

export function frameAbout(gravity: Vec3): Frame3 {
  const up: Vec3 = length(gravity) > 0 ? unit(scale(gravity, -1)) : [0, 0, 1];
  const axes: Vec3[] = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
  const first = axes.find((a) => Math.abs(dot(a, up)) < Math.cos(Math.PI / 6))!;
  const x = unit(along(first, up, -dot(first, up)));
  return { x, y: cross(up, x), up };
}

// A direction by azimuth and elevation in degrees.
export function direction(f: Frame3, azimuth: number, elevation: number): Vec3 {
  const a = (azimuth * Math.PI) / 180, e = (elevation * Math.PI) / 180;
  return along(along(scale(f.x, Math.cos(e) * Math.cos(a)), f.y, Math.cos(e) * Math.sin(a)), f.up, Math.sin(e));
}

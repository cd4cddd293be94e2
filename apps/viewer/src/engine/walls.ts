// Fixed bodies that are not spheres: the container. They stand still, so all of them are one surface, made again
// only when they change. Shown, they are opaque and what stands between the viewer and the inside is left out;
// ghosted, they are a veil that thickens towards its edges.

import { BufferAttribute, BufferGeometry, DoubleSide, Vector2, Vector3, type Mesh } from "three";
import type { Frame, Shape, Surface, Vec3 } from "../types";
import { positionOf, turnOf } from "./bounds";
import { CLIP, HEADER, SHADE, VERTEX_HEADER, type Shared } from "./glsl";
import { meshOf } from "./instances";
import { Lines } from "./lines";
import { GHOST, GROUND_WITHIN, KEY } from "./palette";
import { planePolygon, surfaceOf, type Plane } from "./surfaces";
import { add, along, centre, corners, cover, dot, emptyBox, length, rotate, scale, sub, type Box, type Frame3 } from "./vector";

// How a surface is seen: solids from outside; a wall that turns its back on the inside, as revolves do; one that
// faces it, as planes do; the ground; where shadows fall on the ground of a ghost, farther out than the ground is shown.
const enum Side { solid, back, front, ground, shade }

const SOLID_MOST = 8192; // triangles of a fixed solid, where it has a level of so few

const VERTEX = `${VERTEX_HEADER}
in vec3 position;
in vec3 normal;
in float side;
in vec2 foot;
out vec3 vAt;
out vec3 vNormal;
out vec2 vFoot;
flat out float vSide;
void main() {
  vec4 at = viewMatrix * vec4(position, 1.0);
  vAt = at.xyz;
  vNormal = mat3(viewMatrix) * normal;
  vSide = side;
  vFoot = foot;
  gl_Position = projectionMatrix * at;
}
`;

const SHOWN = `${HEADER}
in vec3 vAt;
in vec3 vNormal;
flat in float vSide;
out vec4 colour;
uniform vec3 uFixed;
${SHADE}${CLIP}
void main() {
  vec3 n = normalize(vNormal);
  bool facing = dot(n, vAt) < 0.0;
  if (vSide > 3.5 || isCut(vAt) || (vSide == 1.0 && facing) || (vSide > 1.5 && !facing)) discard;
  colour = vec4(shade(uFixed, vAt, facing ? n : -n), 1.0);
}
`;

// The ground of a ghost is seen by the shadows on it alone. They fade out beyond the foot of the bounds: where the surface
// ended within a shadow, its border would be seen.
const GHOSTED = `${HEADER}
in vec3 vAt;
in vec3 vNormal;
in vec2 vFoot;
flat in float vSide;
out vec4 colour;
uniform vec3 uGhost;
uniform vec2 uOpacity;
uniform vec3 uFoot; // half extents of the foot of the bounds, and how far out shadows are seen
${SHADE}${CLIP}
void main() {
  if (isCut(vAt)) discard;
  vec3 n = normalize(vNormal);
  float facing = dot(n, normalize(-vAt));
  if (vSide > 3.5) {
    float beyond = length(max(abs(vFoot) - uFoot.xy, 0.0));
    if (facing <= 0.0) discard;
    colour = vec4(vec3(0.0), ${GHOST.shadow} * (1.0 - lightAt(vAt, n)) * (1.0 - smoothstep(0.0, uFoot.z, beyond)));
    return;
  }
  if (vSide > 2.5 && facing > 0.0) discard;
  colour = vec4(uGhost, mix(uOpacity.x, uOpacity.y, pow(1.0 - abs(facing), 3.0)));
}
`;

export class Walls {
  readonly lines: Lines;
  readonly ghost = new Vector3(); // as on the screen
  readonly opacity = new Vector2(); // of the ghost, face on and edge on
  triangles: { position: Float32Array; index: Uint32Array; row: Uint32Array } | null = null; // for picking
  readonly meshes: [shown: Mesh, ghosted: Mesh];
  reach = 0; // from the middle of the bounds to the farthest place where a shadow is seen
  #foot = new Vector3();
  #geometry = new BufferGeometry();
  #known = "";

  // Ghosts, or opaque.
  constructor(shared: Shared, private ghosts: boolean) {
    const of = { uniforms: shared, vertexShader: VERTEX, side: DoubleSide };
    this.meshes = [meshOf(this.#geometry, { ...of, fragmentShader: SHOWN }), meshOf(this.#geometry, {
      ...of, uniforms: { ...shared, uGhost: { value: this.ghost }, uOpacity: { value: this.opacity }, uFoot: { value: this.#foot } }, fragmentShader: GHOSTED, transparent: true, depthWrite: false,
    })];
    this.meshes.forEach((mesh) => (mesh.visible = false, mesh.renderOrder = 1));
    this.lines = new Lines(shared, GHOST.lineWidth, false);
    this.lines.mesh.renderOrder = 2;
  }

  // `all`: rows of all walls, by which planes are cut, seen or not.
  show(frame: Frame, rows: Int32Array, all: Int32Array, bounds: Box, axes: Frame3): void {
    const state = JSON.stringify([Array.from(all, (row) => [row, rows.includes(row), frame.shape[row], ...positionOf(frame, row), ...turnOf(frame, row)]), bounds, frame.head.shapes.length]);
    if (state === this.#known) return;
    this.#known = state;
    const half = footOf(bounds, axes), parts = partsOf(frame, rows, all, bounds, axes);
    const shades = parts.filter((p) => p.side === Side.shade), rims = shades.flatMap((p) => p.polygon!);
    this.#foot.set(half[0], half[1], Math.max(0, ...shades.map((p) => p.fade!)));
    this.reach = Math.max(0, ...rims.map((p) => length(sub(p, centre(bounds)))));
    this.#build(parts, centre(bounds), axes);
    this.meshes[this.ghosts ? 1 : 0].visible = this.triangles !== null;
    this.lines.mesh.visible = this.lines.count > 0;
  }

  #build(parts: Part[], middle: Vec3, axes: Frame3): void {
    const points = parts.reduce((n, p) => n + p.surface.position.length / 3, 0), corners = parts.reduce((n, p) => n + p.surface.triangles.length, 0);
    const position = new Float32Array(3 * points), normal = new Float32Array(3 * points), side = new Float32Array(points), foot = new Float32Array(2 * points);
    const index = new Uint32Array(corners), row = new Uint32Array(corners / 3);
    let at = 0, to = 0;
    for (const p of parts) {
      const n = p.surface.position.length / 3;
      position.set(p.surface.position, 3 * at);
      normal.set(p.surface.normal, 3 * at);
      side.fill(p.side, at, at + n);
      p.polygon?.forEach((q, k) => foot.set([dot(sub(q, middle), axes.x), dot(sub(q, middle), axes.y)], 2 * (at + k)));
      p.surface.triangles.forEach((v, k) => (index[to + k] = at + v));
      row.fill(p.row, to / 3, (to + p.surface.triangles.length) / 3);
      at += n;
      to += p.surface.triangles.length;
    }
    this.#geometry.dispose();
    this.#geometry.setAttribute("position", new BufferAttribute(position, 3));
    this.#geometry.setAttribute("normal", new BufferAttribute(normal, 3));
    this.#geometry.setAttribute("side", new BufferAttribute(side, 1));
    this.#geometry.setAttribute("foot", new BufferAttribute(foot, 2));
    this.#geometry.setIndex(new BufferAttribute(index, 1));
    const seen = parts.reduce((n, p) => n + (p.side === Side.shade ? 0 : p.surface.triangles.length), 0); // shades stand last
    this.triangles = points > 0 ? { position, index: index.subarray(0, seen), row: row.subarray(0, seen / 3) } : null;
    this.lines.show(parts.flatMap((p) => Array.from(p.surface.lines)));
  }
}

interface Part { row: number; side: Side; surface: Surface; polygon?: Vec3[]; fade?: number }

// Half extents of the bounds along the level axes.
function footOf(bounds: Box, { x, y }: Frame3): [number, number] {
  const half = scale(sub(bounds.hi, bounds.lo), 0.5), reach = (axis: Vec3): number => axis.reduce((sum, a, c) => sum + Math.abs(a) * half[c]!, 0);
  return [reach(x), reach(y)];
}

// The surface of a fixed body in the scene's frame.
function placed(frame: Frame, row: number, s: Surface): Surface {
  const at = positionOf(frame, row), turn = turnOf(frame, row);
  const each = (a: Float32Array, move: boolean): Float32Array => {
    const out = new Float32Array(a.length);
    for (let k = 0; k < a.length; k += 3) {
      const p = rotate(turn, [a[k]!, a[k + 1]!, a[k + 2]!]);
      out.set(move ? add(p, at) : p, k);
    }
    return out;
  };
  return { position: each(s.position, true), normal: each(s.normal, false), lines: each(s.lines, true), triangles: s.triangles };
}

const planeOf = (frame: Frame, row: number): Plane => ({ point: positionOf(frame, row), normal: rotate(turnOf(frame, row), [0, 0, 1]) });

const sidesOf = (polygon: Vec3[]): Float32Array => Float32Array.from(polygon.flatMap((p, k) => [...p, ...polygon[(k + 1) % polygon.length]!]));

const fan = (polygon: Vec3[]): Uint32Array => Uint32Array.from({ length: 3 * (polygon.length - 2) }, (_, k) => (k % 3 === 0 ? 0 : Math.floor(k / 3) + (k % 3)));
const flat = (polygon: Vec3[], normal: Vec3, lines: Float32Array): Surface =>
  ({ position: Float32Array.from(polygon.flat()), normal: Float32Array.from(polygon.flatMap(() => normal)), triangles: fan(polygon), lines });

const COTANGENT = 1 / Math.tan((KEY.elevation * Math.PI) / 180); // of the key light's elevation

// Where the shadow on a ground can fall: as far from the bounds as what is highest throws it.
function shadePart(row: number, planes: Plane[], which: number, bounds: Box, axes: Frame3): Part | null {
  const { point, normal } = planes[which]!;
  if (dot(normal, axes.up) <= GROUND_WITHIN) return null;
  const high = Math.max(0, ...corners(bounds).map((p) => dot(normal, sub(p, point)))), fade = 1.05 * COTANGENT * high;
  const polygon = planePolygon(planes, which, bounds, axes, fade);
  return polygon.length < 3 ? null : { row, side: Side.shade, surface: flat(polygon, normal, new Float32Array(0)), polygon, fade };
}

// The ground is outlined only where other planes cut it: alone it goes on for ever.
function planePart(row: number, planes: Plane[], which: number, bounds: Box, axes: Frame3): Part | null {
  const polygon = planePolygon(planes, which, bounds, axes), normal = planes[which]!.normal;
  if (polygon.length < 3) return null;
  const ground = dot(normal, axes.up) > GROUND_WITHIN;
  const outlined = !ground || planes.length > 1;
  return { row, side: ground ? Side.ground : Side.front, surface: flat(polygon, normal, outlined ? sidesOf(polygon) : new Float32Array(0)) };
}

export const isVessel = (shape: Shape): boolean => shape.drawn === "vessel" || shape.drawn === "sheet";

const wallOf = (shape: Shape): Surface | null => surfaceOf(shape, shape.drawn === "solid" ? SOLID_MOST : Infinity);

// Each corner of a triangle with a vertex of its own.
function parted(s: Surface): Surface {
  const each = (a: Float32Array): Float32Array => {
    const out = new Float32Array(3 * s.triangles.length);
    s.triangles.forEach((v, k) => out.set(a.subarray(3 * v, 3 * v + 3), 3 * k));
    return out;
  };
  return { ...s, position: each(s.position), normal: each(s.normal), triangles: s.triangles.map((_, k) => k) };
}

// What turns its outside to the viewer is left out of a shown vessel. The winding of a sheet does not tell which side
// that is: of a wall with a thickness the inner face looks inward. So its triangles are turned away from a point above it.
function outward(shape: Shape, welded: Surface, up: Vec3): Surface {
  if (shape.drawn !== "sheet") return welded;
  const s = parted(welded), box = emptyBox(), p = (k: number): Vec3 => [s.position[3 * k]!, s.position[3 * k + 1]!, s.position[3 * k + 2]!];
  for (let k = 0; 3 * k < s.position.length; k++) cover(box, p(k));
  const half = scale(sub(box.hi, box.lo), 0.5), above = up.reduce((sum, u, c) => sum + Math.abs(u) * half[c]!, 0);
  const from = along(centre(box), up, above + length(half)), normal = s.normal;
  for (let k = 0; k < normal.length; k += 9) {
    const n: Vec3 = [normal[k]!, normal[k + 1]!, normal[k + 2]!];
    if (dot(n, sub(p(k / 3), from)) < 0) for (let i = k; i < k + 9; i++) normal[i] = -normal[i]!;
  }
  return s;
}

function partsOf(frame: Frame, rows: Int32Array, all: Int32Array, bounds: Box, axes: Frame3): Part[] {
  const shapeOf = (row: number) => frame.head.shapes[frame.shape[row]!]!;
  const seen = new Set(rows), planeRows = Array.from(all).filter((row) => shapeOf(row).drawn === "half space");
  const planes = planeRows.map((row) => planeOf(frame, row));
  const parts: (Part | null)[] = planeRows.map((row, k) => (seen.has(row) ? planePart(row, planes, k, bounds, axes) : null));
  for (const row of rows) {
    const shape = shapeOf(row), surface = wallOf(shape);
    if (surface) parts.push({ row, side: isVessel(shape) ? Side.back : Side.solid, surface: outward(shape, placed(frame, row, surface), axes.up) });
  }
  planeRows.forEach((row, k) => seen.has(row) && parts.push(shadePart(row, planes, k, bounds, axes)));
  return parts.filter((p): p is Part => p !== null);
}

// The lines of one body, to mark it.
export function outlineOf(frame: Frame, row: number, bounds: Box, axes: Frame3): Float32Array {
  const surface = wallOf(frame.head.shapes[frame.shape[row]!]!);
  if (surface) return placed(frame, row, surface).lines;
  return sidesOf(planePolygon([planeOf(frame, row)], 0, bounds, axes));
}

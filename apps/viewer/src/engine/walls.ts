// Fixed bodies that are not spheres: the container. They stand still, so all of them are one surface, made again
// only when they change. Shown, they are opaque and what stands between the viewer and the inside is left out;
// ghosted, they are a veil that thickens towards its edges.

import { BufferAttribute, BufferGeometry, DoubleSide, Vector2, Vector3, type Mesh } from "three";
import type { Container, Frame, Shape, Surface, Vec3 } from "../types";
import { positionOf, turnOf } from "./bounds";
import { CLIP, HEADER, SHADE, VERTEX_HEADER, type Shared } from "./glsl";
import { meshOf } from "./instances";
import { Lines } from "./lines";
import { GHOST, GROUND_WITHIN } from "./palette";
import { planePolygon, surfaceOf, type Plane } from "./surfaces";
import { add, along, centre, cover, dot, emptyBox, length, rotate, scale, sub, type Box, type Frame3 } from "./vector";

// How a surface is seen: solids from outside; a wall that turns its back on the inside, as revolves do; one that
// faces it, as planes do; the ground.
const enum Side { solid, back, front, ground }

const SOLID_MOST = 8192; // triangles of a fixed solid, where it has a level of so few

const VERTEX = `${VERTEX_HEADER}
in vec3 position;
in vec3 normal;
in float side;
out vec3 vAt;
out vec3 vNormal;
flat out float vSide;
void main() {
  vec4 at = viewMatrix * vec4(position, 1.0);
  vAt = at.xyz;
  vNormal = mat3(viewMatrix) * normal;
  vSide = side;
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
  if (isCut(vAt) || (vSide == 1.0 && facing) || (vSide > 1.5 && !facing)) discard;
  colour = vec4(shade(uFixed, vAt, facing ? n : -n), 1.0);
}
`;

// The ground of a ghost is seen by the shadows on it alone.
const GHOSTED = `${HEADER}
in vec3 vAt;
in vec3 vNormal;
flat in float vSide;
out vec4 colour;
uniform vec3 uGhost;
uniform vec2 uOpacity;
${SHADE}${CLIP}
void main() {
  if (isCut(vAt)) discard;
  vec3 n = normalize(vNormal);
  float facing = dot(n, normalize(-vAt));
  if (vSide > 2.5 && facing > 0.0) {
    colour = vec4(vec3(0.0), ${GHOST.shadow} * (1.0 - lightAt(vAt, n)));
    return;
  }
  colour = vec4(uGhost, mix(uOpacity.x, uOpacity.y, pow(1.0 - abs(facing), 3.0)));
}
`;

export class Walls {
  readonly lines: Lines;
  readonly ghost = new Vector3(); // as on the screen
  readonly opacity = new Vector2(); // of the ghost, face on and edge on
  triangles: { position: Float32Array; index: Uint32Array; row: Uint32Array } | null = null; // for picking
  readonly meshes: [shown: Mesh, ghosted: Mesh];
  #geometry = new BufferGeometry();
  #known = "";
  #how: Container = "ghost";

  constructor(private shared: Shared) {
    const of = { uniforms: shared, vertexShader: VERTEX, side: DoubleSide };
    this.meshes = [meshOf(this.#geometry, { ...of, fragmentShader: SHOWN }), meshOf(this.#geometry, {
      ...of, uniforms: { ...shared, uGhost: { value: this.ghost }, uOpacity: { value: this.opacity } }, fragmentShader: GHOSTED, transparent: true, depthWrite: false,
    })];
    this.meshes.forEach((mesh) => (mesh.renderOrder = 1));
    this.lines = new Lines(shared, GHOST.lineWidth, false);
    this.lines.mesh.renderOrder = 2;
  }

  get how(): Container {
    return this.#how;
  }

  set how(how: Container) {
    this.#how = how;
    this.meshes[0].visible = how === "shown" && this.triangles !== null;
    this.meshes[1].visible = how === "ghost" && this.triangles !== null;
    this.lines.mesh.visible = how !== "hidden" && this.lines.count > 0;
    this.shared.uHideFixed.value = how === "hidden" ? 1 : 0;
  }

  show(frame: Frame, rows: Int32Array, bounds: Box, axes: Frame3): void {
    const state = JSON.stringify([Array.from(rows, (row) => [row, frame.shape[row], ...positionOf(frame, row), ...turnOf(frame, row)]), bounds, frame.head.shapes.length]);
    if (state === this.#known) return;
    this.#known = state;
    const parts = partsOf(frame, rows, bounds, axes);
    this.#build(parts);
    this.how = this.#how;
  }

  #build(parts: Part[]): void {
    const points = parts.reduce((n, p) => n + p.surface.position.length / 3, 0), corners = parts.reduce((n, p) => n + p.surface.triangles.length, 0);
    const position = new Float32Array(3 * points), normal = new Float32Array(3 * points), side = new Float32Array(points);
    const index = new Uint32Array(corners), row = new Uint32Array(corners / 3);
    let at = 0, to = 0;
    for (const p of parts) {
      const n = p.surface.position.length / 3;
      position.set(p.surface.position, 3 * at);
      normal.set(p.surface.normal, 3 * at);
      side.fill(p.side, at, at + n);
      p.surface.triangles.forEach((v, k) => (index[to + k] = at + v));
      row.fill(p.row, to / 3, (to + p.surface.triangles.length) / 3);
      at += n;
      to += p.surface.triangles.length;
    }
    this.#geometry.dispose();
    this.#geometry.setAttribute("position", new BufferAttribute(position, 3));
    this.#geometry.setAttribute("normal", new BufferAttribute(normal, 3));
    this.#geometry.setAttribute("side", new BufferAttribute(side, 1));
    this.#geometry.setIndex(new BufferAttribute(index, 1));
    this.triangles = points > 0 ? { position, index, row } : null;
    this.lines.show(parts.flatMap((p) => Array.from(p.surface.lines)));
  }
}

interface Part { row: number; side: Side; surface: Surface }

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

// The ground is outlined only where other planes cut it: alone it goes on for ever.
function planePart(row: number, planes: Plane[], which: number, bounds: Box, axes: Frame3): Part | null {
  const polygon = planePolygon(planes, which, bounds, axes), normal = planes[which]!.normal;
  if (polygon.length < 3) return null;
  const ground = dot(normal, axes.up) > GROUND_WITHIN;
  const triangles = Uint32Array.from({ length: 3 * (polygon.length - 2) }, (_, k) => (k % 3 === 0 ? 0 : Math.floor(k / 3) + (k % 3)));
  const outlined = !ground || planes.length > 1;
  return {
    row, side: ground ? Side.ground : Side.front,
    surface: {
      position: Float32Array.from(polygon.flat()), normal: Float32Array.from(polygon.flatMap(() => normal)), triangles,
      lines: outlined ? sidesOf(polygon) : new Float32Array(0),
    },
  };
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

function partsOf(frame: Frame, rows: Int32Array, bounds: Box, axes: Frame3): Part[] {
  const shapeOf = (row: number) => frame.head.shapes[frame.shape[row]!]!;
  const planeRows = Array.from(rows).filter((row) => shapeOf(row).drawn === "half space");
  const planes = planeRows.map((row) => planeOf(frame, row));
  const parts: (Part | null)[] = planeRows.map((row, k) => planePart(row, planes, k, bounds, axes));
  for (const row of rows) {
    const shape = shapeOf(row), surface = wallOf(shape);
    if (surface) parts.push({ row, side: isVessel(shape) ? Side.back : Side.solid, surface: outward(shape, placed(frame, row, surface), axes.up) });
  }
  return parts.filter((p): p is Part => p !== null);
}

// The lines of one body, to mark it.
export function outlineOf(frame: Frame, row: number, bounds: Box, axes: Frame3): Float32Array {
  const surface = wallOf(frame.head.shapes[frame.shape[row]!]!);
  if (surface) return placed(frame, row, surface).lines;
  return sidesOf(planePolygon([planeOf(frame, row)], 0, bounds, axes));
}

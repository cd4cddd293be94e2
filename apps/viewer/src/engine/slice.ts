// A slice of a continuum field: coloured cells of a plane, seen through everything, and arrows of a vector's part in the plane.

import { BufferAttribute, BufferGeometry, DataTexture, DoubleSide, NearestFilter, type Mesh } from "three";
import type { FieldSlice } from "../data/fields";
import type { Vec3 } from "../types";
import { CLIP, HEADER, OVERLAY, VERTEX_HEADER, type Shared } from "./glsl";
import { meshOf } from "./instances";
import { Lines } from "./lines";
import { sequentialAt } from "./palette";
import type { Box } from "./vector";

const OPACITY = 0.9;
const ARROWS = 24; // along the longer side, at most

const VERTEX = `${VERTEX_HEADER}
in vec3 aAt;
in vec2 aCell;
out vec2 vCell;
out vec3 vAt;
${OVERLAY}
void main() {
  vAt = (viewMatrix * vec4(aAt, 1.0)).xyz;
  vCell = aCell;
  gl_Position = overlay(projectionMatrix * vec4(vAt, 1.0));
}
`;

const FRAGMENT = `${HEADER}
in vec2 vCell;
in vec3 vAt;
out vec4 colour;
uniform sampler2D uCells;
${CLIP}
void main() {
  vec4 cell = textureLod(uCells, vCell, 0.0);
  if (cell.a < 0.5 || isCut(vAt)) discard;
  colour = vec4(cell.rgb, ${OPACITY});
}
`;

const textureOf = (texels: Uint8Array<ArrayBuffer>, columns: number, rows: number): DataTexture => {
  const texture = new DataTexture(texels, columns, rows);
  texture.minFilter = texture.magFilter = NearestFilter;
  texture.needsUpdate = true;
  return texture;
};

// The plane's corner and its two sides, in the scene's frame. Where the table does not tell an extent, that of `room`.
function planeOf(slice: FieldSlice, room: Box): { corner: Vec3; sides: [Vec3, Vec3]; axes: [number, number] } {
  const { axis } = slice, u = (axis + 1) % 3, v = (axis + 2) % 3;
  const lo = slice.lo.map((x, k) => (Number.isFinite(x) ? x : room.lo[k]!)) as Vec3, hi = slice.hi.map((x, k) => (Number.isFinite(x) ? x : room.hi[k]!)) as Vec3;
  const corner: Vec3 = [...lo], sides: [Vec3, Vec3] = [[0, 0, 0], [0, 0, 0]];
  corner[axis] = Number.isFinite(slice.place) ? slice.place : 0.5 * (lo[axis]! + hi[axis]!);
  sides[0][u] = hi[u]! - lo[u]!;
  sides[1][v] = hi[v]! - lo[v]!;
  return { corner, sides, axes: [u, v] };
}

export class SlicePlane {
  readonly mesh: Mesh;
  readonly arrows: Lines;
  #cells = { value: textureOf(new Uint8Array(4), 1, 1) };
  #at = new BufferAttribute(new Float32Array(12), 3);

  constructor(shared: Shared) {
    const geometry = new BufferGeometry();
    geometry.setAttribute("aAt", this.#at);
    geometry.setAttribute("aCell", new BufferAttribute(new Float32Array([0, 0, 1, 0, 1, 1, 0, 1]), 2));
    geometry.setIndex(new BufferAttribute(new Uint32Array([0, 1, 2, 0, 2, 3]), 1));
    this.mesh = meshOf(geometry, {
      uniforms: { ...shared, uCells: this.#cells }, vertexShader: VERTEX, fragmentShader: FRAGMENT, transparent: true, depthWrite: false, side: DoubleSide,
    });
    this.mesh.renderOrder = 7;
    this.arrows = new Lines(shared, 1.5, true);
    this.arrows.mesh.renderOrder = 8;
    this.hide();
  }

  hide(): void {
    this.mesh.visible = false;
    this.arrows.show([]);
  }

  // `room` and `origin`: the bounds of the scene, and the place from which the engine measures, in the scene's frame.
  show(slice: FieldSlice, room: Box, origin: Vec3): void {
    const { columns, rows, value, low, high } = slice, plane = planeOf(slice, room), texels = new Uint8Array(4 * columns * rows);
    value.forEach((x, k) => {
      if (!Number.isFinite(x)) return;
      texels.set(sequentialAt(high > low ? (x - low) / (high - low) : 0.5).map(Math.round), 4 * k);
      texels[4 * k + 3] = 255;
    });
    this.#cells.value.dispose();
    this.#cells.value = textureOf(texels, columns, rows);
    [[0, 0], [1, 0], [1, 1], [0, 1]].forEach(([a, b], k) => {
      for (let c = 0; c < 3; c++) this.#at.array[3 * k + c] = plane.corner[c]! - origin[c]! + a! * plane.sides[0][c]! + b! * plane.sides[1][c]!;
    });
    this.#at.needsUpdate = true;
    this.mesh.visible = true;
    this.arrows.show(slice.vector && slice.longest > 0 ? this.#arrowsOf(slice, plane, origin) : []);
  }

  // Shaft and two strokes of a head for each: the longest of the run is as long as arrows are apart.
  #arrowsOf(slice: FieldSlice, { corner, sides, axes: [u, v] }: ReturnType<typeof planeOf>, origin: Vec3): number[] {
    const { columns, rows, vector, longest } = slice, every = Math.ceil(Math.max(columns, rows) / ARROWS), out: number[] = [];
    const apart = every * Math.min(sides[0][u]! / columns, sides[1][v]! / rows), long = apart / longest;
    for (let j = every >> 1; j < rows; j += every) for (let i = every >> 1; i < columns; i += every) {
      const k = 3 * (j * columns + i), du = vector![k + u]! * long, dv = vector![k + v]! * long;
      if (!(Math.hypot(du, dv) > 0.02 * apart)) continue;
      const middle: Vec3 = [corner[0] - origin[0], corner[1] - origin[1], corner[2] - origin[2]];
      middle[u]! += (sides[0][u]! * (i + 0.5)) / columns;
      middle[v]! += (sides[1][v]! * (j + 0.5)) / rows;
      const at = (along: number, across: number): Vec3 => {
        const p: Vec3 = [...middle];
        p[u]! += along * du - across * dv;
        p[v]! += along * dv + across * du;
        return p;
      };
      const tip = at(0.5, 0);
      out.push(...at(-0.5, 0), ...tip, ...tip, ...at(0.2, 0.16), ...tip, ...at(0.2, -0.16));
    }
    return out;
  }
}

// Bodies that move and are no spheres, and the ground: one call for each shape. Where the clip plane opens a solid, the
// back of it stands in for the flat cut: the ray meets the plane inside the solid, and that point is shown. The back keeps
// its own depth, and the front hides it where that has not been cut away; crevices are not sought there.

import { BackSide, BufferAttribute, DoubleSide, Group, type BufferGeometry, type IUniform, type Mesh, type RawShaderMaterial } from "three";
import type { Frame, Shape, Surface } from "../types";
import { BODY_COLOUR, CLIP, HEADER, SHADE, THIN, VERTEX_HEADER, type Shared } from "./glsl";
import { Instances, meshOf } from "./instances";
import { surfaceOf } from "./surfaces";

const TURN = `
vec3 turn(vec4 q, vec3 v) { return v + 2.0 * cross(q.yzw, cross(q.yzw, v) + q.x * v); }
`;

const VERTEX = `${VERTEX_HEADER}
in vec3 position;
in vec3 normal;
in vec3 aCentre;
in vec4 aTurn;
in float aValue;
flat out vec3 vColour;
out vec3 vAt;
out vec3 vNormal;
${BODY_COLOUR}${TURN}
void main() {
  vec3 at = (viewMatrix * vec4(aCentre + turn(aTurn, position), 1.0)).xyz;
  vColour = bodyColour(aValue);
  vAt = at;
  vNormal = mat3(viewMatrix) * turn(aTurn, normal);
  gl_Position = projectionMatrix * vec4(at, 1.0);
}
`;

const FRAGMENT = `${HEADER}
flat in vec3 vColour;
in vec3 vAt;
in vec3 vNormal;
out vec4 colour;
${SHADE}${CLIP}${THIN}
void main() {
#ifdef GHOST
  if (isThin()) discard;
#endif
  vec3 p = vAt, n = normalize(vNormal);
  float crevices = 1.0;
#ifdef CUT
  if (isCut(p)) discard;
  if (!gl_FrontFacing) {
    if (dot(uClip.xyz, vec3(0.0)) <= uClip.w) discard;
    p = vAt * (uClip.w / dot(uClip.xyz, vAt));
    n = uClip.xyz;
    crevices = 0.0;
  }
#endif
  colour = vec4(shade(vColour, p, n), crevices);
}
`;

const SHADOW_FRAGMENT = `${HEADER}
in vec3 vAt;
uniform vec4 uClipLight;
void main() {
  if (dot(uClipLight.xyz, vAt) > uClipLight.w) discard;
}
`;

class Batch {
  readonly mesh: Mesh<BufferGeometry, RawShaderMaterial>;
  readonly shadow: Mesh<BufferGeometry, RawShaderMaterial>;
  rows: Int32Array = new Int32Array(0);
  #bodies = new Instances({ aCentre: 3, aTurn: 4, aValue: 1 });

  constructor(shared: Shared, clipLight: IUniform, surface: Surface, private ghost: boolean) {
    const { geometry } = this.#bodies;
    geometry.setAttribute("position", new BufferAttribute(surface.position, 3));
    geometry.setAttribute("normal", new BufferAttribute(surface.normal, 3));
    geometry.setIndex(new BufferAttribute(surface.triangles, 1));
    this.mesh = meshOf(geometry, { uniforms: shared, vertexShader: VERTEX, fragmentShader: FRAGMENT, defines: ghost ? { GHOST: 1 } : {} });
    this.shadow = meshOf(geometry, {
      uniforms: { ...shared, uClipLight: clipLight }, vertexShader: VERTEX, fragmentShader: SHADOW_FRAGMENT, colorWrite: false, side: BackSide,
    });
  }

  setCut(on: boolean): void {
    const { material } = this.mesh;
    material.defines = { ...(on ? { CUT: 1 } : {}), ...(this.ghost ? { GHOST: 1 } : {}) };
    material.side = on ? DoubleSide : 0;
    material.needsUpdate = true;
  }

  show(frame: Frame, rows: Int32Array): void {
    this.rows = rows;
    this.#bodies.count = rows.length;
    this.mesh.visible = this.shadow.visible = rows.length > 0;
    const centre = this.#bodies.array("aCentre"), turn = this.#bodies.array("aTurn");
    rows.forEach((row, k) => {
      for (let c = 0; c < 3; c++) centre[3 * k + c] = frame.position[3 * row + c]!;
      for (let c = 0; c < 4; c++) turn[4 * k + c] = frame.orientation[4 * row + c]!;
    });
    this.#bodies.upload("aCentre", "aTurn");
  }

  colour(values: Float32Array): void {
    this.#bodies.gather("aValue", this.rows, values);
  }

  dispose(): void {
    this.#bodies.geometry.dispose();
    this.mesh.material.dispose();
    this.shadow.material.dispose();
  }
}

// The rows of the bodies of one shape.
export interface ShapeRows { shape: Shape; rows: Int32Array; fixed: boolean }

// Of all bodies of a shape together: above it they get a coarser level.
const MOST_TRIANGLES = 1.5e6;

interface Made { shape: Shape; surface: Surface; fixed: boolean; batch: Batch }

export class Solids {
  readonly meshes = new Group();
  readonly shadows = new Group();
  #made: Made[] = [];
  #cut = false;

  constructor(private shared: Shared, private clipLight: IUniform, private ghost = false) {}

  get count(): number {
    return this.#made.reduce((sum, m) => sum + m.batch.rows.length, 0);
  }

  #add(surface: Surface): Batch {
    const batch = new Batch(this.shared, this.clipLight, surface, this.ghost);
    if (this.#cut) batch.setCut(true);
    this.meshes.add(batch.mesh);
    this.shadows.add(batch.shadow);
    return batch;
  }

  #batchOf({ shape, rows, fixed }: ShapeRows, old: Made[]): Made {
    const surface = surfaceOf(shape, MOST_TRIANGLES / rows.length)!, at = old.findIndex((m) => m.shape === shape && m.surface === surface && m.fixed === fixed);
    return at >= 0 ? old.splice(at, 1)[0]! : { shape, surface, fixed, batch: this.#add(surface) };
  }

  show(frame: Frame, shapes: ShapeRows[]): void {
    const old = this.#made;
    this.#made = shapes.map((o) => this.#batchOf(o, old));
    for (const { batch } of old) {
      this.meshes.remove(batch.mesh);
      this.shadows.remove(batch.shadow);
      batch.dispose();
    }
    this.#made.forEach((m, k) => m.batch.show(frame, shapes[k]!.rows));
  }

  colour(values: Float32Array): void {
    for (const m of this.#made) m.batch.colour(values);
  }

  setCut(on: boolean): void {
    this.#cut = on;
    for (const m of this.#made) m.batch.setCut(on);
  }
}

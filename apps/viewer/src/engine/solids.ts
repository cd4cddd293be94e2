// Bodies that move and are no spheres, and the ground: boxes and cylinders by one call for each of the two kinds,
// others by one for each shape. Where the clip plane opens a solid, the back of it stands in for the flat cut: the ray
// meets the plane inside the solid, and that point is shown.

import {
  BackSide, BufferAttribute, DoubleSide, DynamicDrawUsage, GLSL3, Group, InstancedBufferAttribute, InstancedBufferGeometry, Mesh, RawShaderMaterial, type IUniform,
} from "three";
import type { Frame, Shape } from "../types";
import { BODY_COLOUR, CLIP, DEPTH, HEADER, SHADE, type Shared } from "./glsl";
import { gatherValues, upload } from "./spheres";
import { surfaceOf, unitBox, unitCylinder, type Surface } from "./surfaces";

const TURN = `
vec3 turn(vec4 q, vec3 v) { return v + 2.0 * cross(q.yzw, cross(q.yzw, v) + q.x * v); }
`;

const VERTEX = `${HEADER}
in vec3 position;
in vec3 normal;
in vec3 aCentre;
in vec4 aTurn;
in vec3 aSize;
in float aValue;
uniform mat4 viewMatrix;
uniform mat4 projectionMatrix;
flat out vec3 vColour;
flat out vec3 vCentre;
flat out mat3 vInto;
out vec3 vAt;
out vec3 vNormal;
${BODY_COLOUR}${TURN}
void main() {
  vec3 at = (viewMatrix * vec4(aCentre + turn(aTurn, position * aSize), 1.0)).xyz;
  mat3 view = mat3(viewMatrix);
  mat3 axes = view * mat3(turn(aTurn, vec3(1, 0, 0)), turn(aTurn, vec3(0, 1, 0)), turn(aTurn, vec3(0, 0, 1)));
  vInto = mat3(axes[0] / aSize.x, axes[1] / aSize.y, axes[2] / aSize.z);
  vCentre = (viewMatrix * vec4(aCentre, 1.0)).xyz;
  vColour = bodyColour(aValue);
  vAt = at;
  vNormal = view * turn(aTurn, normal);
  gl_Position = projectionMatrix * vec4(at, 1.0);
}
`;

const FRAGMENT = `${HEADER}
flat in vec3 vColour;
flat in vec3 vCentre;
flat in mat3 vInto;
in vec3 vAt;
in vec3 vNormal;
out vec4 colour;
${SHADE}${CLIP}${DEPTH}
void main() {
  vec3 p = vAt, n = normalize(vNormal);
#ifdef CUT
  if (isCut(p)) discard;
  if (!gl_FrontFacing) {
    if (dot(uClip.xyz, vec3(0.0)) <= uClip.w) discard;
    p = vAt * (uClip.w / dot(uClip.xyz, vAt));
    vec3 q = transpose(vInto) * (p - vCentre);
    bool inside = KIND_TEST;
    if (!inside) discard;
    n = uClip.xyz;
  }
  gl_FragDepth = depthOf(gl_FrontFacing || KIND_KNOWN ? p : vAt);
#endif
  colour = vec4(shade(vColour, p, n), 1.0);
}
`;

const SHADOW_FRAGMENT = `${HEADER}
in vec3 vAt;
uniform vec4 uClipLight;
void main() {
  if (dot(uClipLight.xyz, vAt) > uClipLight.w) discard;
}
`;

// What a solid is drawn with: `inside` tells whether q, in the axes of the body and divided by its size, is in it.
// Of a shape without such a test the back keeps its own depth, and the front hides it where that has not been cut away.
interface Look { surface: Surface; inside: string | null; sized: boolean }

class Kind {
  readonly mesh: Mesh;
  readonly shadow: Mesh;
  rows: Int32Array = new Int32Array(0);
  #geometry = new InstancedBufferGeometry();
  #material: RawShaderMaterial;
  #capacity = 0;
  #attributes!: { centre: InstancedBufferAttribute; turn: InstancedBufferAttribute; size: InstancedBufferAttribute; value: InstancedBufferAttribute };
  #look: Look;

  constructor(shared: Shared, clipLight: IUniform, look: Look) {
    this.#look = look;
    const { surface } = look;
    this.#geometry.setAttribute("position", new BufferAttribute(surface.position, 3));
    this.#geometry.setAttribute("normal", new BufferAttribute(surface.normal, 3));
    this.#geometry.setIndex(new BufferAttribute(surface.triangles, 1));
    this.#material = new RawShaderMaterial({ glslVersion: GLSL3, uniforms: shared, vertexShader: VERTEX, fragmentShader: FRAGMENT });
    this.#room(64);
    this.mesh = new Mesh(this.#geometry, this.#material);
    this.shadow = new Mesh(this.#geometry, new RawShaderMaterial({
      glslVersion: GLSL3, uniforms: { ...shared, uClipLight: clipLight }, vertexShader: VERTEX, fragmentShader: SHADOW_FRAGMENT, colorWrite: false, side: BackSide,
    }));
    this.mesh.frustumCulled = this.shadow.frustumCulled = false;
  }

  setCut(on: boolean): void {
    const { inside } = this.#look;
    this.#material.defines = on ? { CUT: 1, KIND_TEST: inside ?? "true", KIND_KNOWN: inside ? "true" : "false" } : {};
    this.#material.side = on ? DoubleSide : 0;
    this.#material.needsUpdate = true;
  }

  #room(count: number): void {
    if (count <= this.#capacity) return;
    this.#capacity = Math.max(count, 2 * this.#capacity);
    const make = (name: string, components: number): InstancedBufferAttribute => {
      const attribute = new InstancedBufferAttribute(new Float32Array(components * this.#capacity), components);
      attribute.setUsage(DynamicDrawUsage);
      this.#geometry.setAttribute(name, attribute);
      return attribute;
    };
    this.#geometry.dispose();
    this.#attributes = { centre: make("aCentre", 3), turn: make("aTurn", 4), size: make("aSize", 3), value: make("aValue", 1) };
  }

  show(frame: Frame, rows: Int32Array): void {
    this.#room(rows.length);
    this.rows = rows;
    this.#geometry.instanceCount = rows.length;
    this.mesh.visible = this.shadow.visible = rows.length > 0;
    const { centre, turn, size } = this.#attributes;
    rows.forEach((row, k) => {
      const shape = frame.head.shapes[frame.shape[row]!]!;
      for (let c = 0; c < 3; c++) centre.array[3 * k + c] = frame.position[3 * row + c]!;
      for (let c = 0; c < 4; c++) turn.array[4 * k + c] = frame.orientation[4 * row + c]!;
      const half = !this.#look.sized ? ONE : shape.kind === "box" ? shape.half : shape.kind === "cylinder" ? [shape.radius, shape.radius, shape.half_height] : ONE;
      for (let c = 0; c < 3; c++) size.array[3 * k + c] = half[c]!;
    });
    for (const a of [centre, turn, size]) upload(a, rows.length);
  }

  colour(values: Float32Array): void {
    gatherValues(this.#attributes.value, this.rows, values);
  }

  dispose(): void {
    this.#geometry.dispose();
    this.#material.dispose();
    (this.shadow.material as RawShaderMaterial).dispose();
  }
}

// The rows of the bodies of one shape.
export interface ShapeRows { shape: Shape; rows: Int32Array; fixed: boolean }

const ONE = [1, 1, 1];
const segmentsFor = (count: number): number => (count > 5000 ? 16 : count > 500 ? 24 : 48);

interface Made { shape: Shape; segments: number; fixed: boolean; kind: Kind }

export class Solids {
  readonly meshes = new Group();
  readonly shadows = new Group();
  #shared: Shared;
  #clipLight: IUniform;
  #boxes: Kind;
  #cylinders: Kind;
  #made: Made[] = [];
  #cut = false;
  #hidden = false;

  constructor(shared: Shared, clipLight: IUniform) {
    this.#shared = shared;
    this.#clipLight = clipLight;
    this.#boxes = this.#add({ surface: unitBox(), inside: "all(lessThanEqual(abs(q), vec3(1.0001)))", sized: true });
    this.#cylinders = this.#add({ surface: unitCylinder(), inside: "length(q.xy) <= 1.0001 && abs(q.z) <= 1.0001", sized: true });
  }

  get #kinds(): Kind[] {
    return [this.#boxes, this.#cylinders, ...this.#made.map((m) => m.kind)];
  }

  get count(): number {
    return this.#kinds.reduce((sum, k) => sum + k.rows.length, 0);
  }

  #add(look: Look): Kind {
    const kind = new Kind(this.#shared, this.#clipLight, look);
    if (this.#cut) kind.setCut(true);
    this.meshes.add(kind.mesh);
    this.shadows.add(kind.shadow);
    return kind;
  }

  #kindOf({ shape, rows, fixed }: ShapeRows, old: Made[]): Made {
    const segments = segmentsFor(rows.length), at = old.findIndex((m) => m.shape === shape && m.segments === segments && m.fixed === fixed);
    if (at >= 0) return old.splice(at, 1)[0]!;
    return { shape, segments, fixed, kind: this.#add({ surface: surfaceOf(shape, segments)!, inside: null, sized: false }) };
  }

  show(frame: Frame, boxes: Int32Array, cylinders: Int32Array, others: ShapeRows[]): void {
    const old = this.#made;
    this.#made = others.map((o) => this.#kindOf(o, old));
    for (const { kind } of old) {
      this.meshes.remove(kind.mesh);
      this.shadows.remove(kind.shadow);
      kind.dispose();
    }
    this.#boxes.show(frame, boxes);
    this.#cylinders.show(frame, cylinders);
    this.#made.forEach((m, k) => m.kind.show(frame, others[k]!.rows));
    this.hide(this.#hidden);
  }

  // The ground goes with the container.
  hide(fixed: boolean): void {
    this.#hidden = fixed;
    for (const m of this.#made) if (m.fixed) m.kind.mesh.visible = m.kind.shadow.visible = !fixed && m.kind.rows.length > 0;
  }

  colour(values: Float32Array): void {
    for (const k of this.#kinds) k.colour(values);
  }

  setCut(on: boolean): void {
    this.#cut = on;
    for (const k of this.#kinds) k.setCut(on);
  }
}

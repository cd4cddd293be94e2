// Things of one form drawn in one call, each with values of its own; and meshes that shaders alone place.

import {
  BufferAttribute, BufferGeometry, DynamicDrawUsage, GLSL3, InstancedBufferAttribute, InstancedBufferGeometry, Mesh, RawShaderMaterial,
  type ShaderMaterialParameters,
} from "three";

export function meshOf(geometry: BufferGeometry, material: ShaderMaterialParameters): Mesh<BufferGeometry, RawShaderMaterial> {
  const mesh = new Mesh(geometry, new RawShaderMaterial({ glslVersion: GLSL3, ...material }));
  mesh.frustumCulled = false;
  return mesh;
}

// A square with `corner` from -1 to 1 in both directions.
export function asSquare<G extends BufferGeometry>(geometry: G): G {
  geometry.setAttribute("corner", new BufferAttribute(new Float32Array([-1, -1, 1, -1, 1, 1, -1, 1]), 2));
  geometry.setIndex(new BufferAttribute(new Uint32Array([0, 1, 2, 0, 2, 3]), 1));
  return geometry;
}

export class Instances<Name extends string> {
  readonly geometry = new InstancedBufferGeometry();
  #capacity = 0;

  // Values by name, and of how many components each is.
  constructor(private components: Record<Name, number>) {
    this.count = 0;
  }

  get count(): number {
    return this.geometry.instanceCount;
  }

  // Values are lost where they have to move to larger arrays.
  set count(n: number) {
    this.geometry.instanceCount = n;
    if (n <= this.#capacity && this.#capacity > 0) return;
    this.#capacity = Math.max(n, 256, Math.ceil(1.25 * this.#capacity));
    this.geometry.dispose(); // the buffers on the GPU; they are made again when drawn
    for (const name in this.components) {
      const attribute = new InstancedBufferAttribute(new Float32Array(this.components[name] * this.#capacity), this.components[name]);
      this.geometry.setAttribute(name, attribute.setUsage(DynamicDrawUsage));
    }
  }

  array(name: Name): Float32Array {
    return this.geometry.getAttribute(name).array as Float32Array;
  }

  // Sends the values of the first `count` to the GPU.
  upload(...names: Name[]): void {
    for (const name of names) {
      const attribute = this.geometry.getAttribute(name) as InstancedBufferAttribute;
      attribute.clearUpdateRanges();
      attribute.addUpdateRange(0, this.count * attribute.itemSize);
      attribute.needsUpdate = true;
    }
  }

  // The value of each is that of its row.
  gather(name: Name, rows: Int32Array, values: Float32Array): void {
    const out = this.array(name);
    for (let k = 0; k < rows.length; k++) out[k] = values[rows[k]!]!;
    this.upload(name);
  }
}

// What the key light reaches: the depth of the scene seen from it, by parallel rays.

import { DepthTexture, LessEqualCompare, LinearFilter, Matrix4, OrthographicCamera, Scene, UnsignedIntType, Vector3, Vector4, WebGLRenderTarget, type WebGLRenderer } from "three";
import type { Vec3 } from "../types";
import type { Shared } from "./glsl";
import { along, centre, cross, diagonal, unit, type Box } from "./vector";

export class Shadow {
  readonly scene = new Scene();
  readonly clip = { value: new Vector4() }; // the clip plane as the light sees it
  #target: WebGLRenderTarget;
  #camera = new OrthographicCamera();
  #drawn = ""; // what the map shows

  constructor(private shared: Shared, size: number) {
    const depth = new DepthTexture(size, size, UnsignedIntType);
    depth.compareFunction = LessEqualCompare;
    depth.minFilter = depth.magFilter = LinearFilter;
    this.#target = new WebGLRenderTarget(size, size, { depthTexture: depth });
    this.#camera.matrixAutoUpdate = this.#camera.matrixWorldAutoUpdate = false;
    shared.uShadowMap.value = depth;
  }

  // The bodies have changed.
  stale(): void {
    this.#drawn = "";
  }

  // `light` points towards the light, `cut` is the clip plane in the scene's frame.
  draw(renderer: WebGLRenderer, bounds: Box, light: Vec3, up: Vec3, cut: Vector4): void {
    const state = JSON.stringify([bounds, light, cut]);
    if (state === this.#drawn) return;
    this.#drawn = state;
    const reach = 0.52 * diagonal(bounds), camera = this.#camera, right = unit(cross(up, light));
    Object.assign(camera, { left: -reach, right: reach, bottom: -reach, top: reach, near: 0, far: 4 * reach });
    camera.updateProjectionMatrix();
    camera.matrixWorld.makeBasis(new Vector3(...right), new Vector3(...cross(light, right)), new Vector3(...light)).setPosition(...along(centre(bounds), light, 2 * reach));
    camera.matrixWorldInverse.copy(camera.matrixWorld).invert();
    planeInView(cut, camera.matrixWorldInverse, this.clip.value);
    this.shared.uShadowBias.value = (3 * reach) / this.#target.width;
    const map = this.shared.uShadowMap.value;
    this.shared.uShadowMap.value = null; // a texture must not be read while it is drawn to
    renderer.setRenderTarget(this.#target);
    renderer.clear();
    renderer.render(this.scene, camera);
    this.shared.uShadowMap.value = map;
  }

  // From the view space of `view` to the map, for what is drawn next.
  place(view: Matrix4): void {
    const half = new Matrix4().set(0.5, 0, 0, 0.5, 0, 0.5, 0, 0.5, 0, 0, 0.5, 0.5, 0, 0, 0, 1);
    this.shared.uShadow.value.copy(half).multiply(this.#camera.projectionMatrix).multiply(this.#camera.matrixWorldInverse).multiply(view);
  }
}

// A plane dot(n, x) = w of the scene in a view space.
export function planeInView(plane: Vector4, toView: Matrix4, out: Vector4): void {
  const n = new Vector3(plane.x, plane.y, plane.z).transformDirection(toView);
  const point = new Vector3(plane.x, plane.y, plane.z).multiplyScalar(plane.w).applyMatrix4(toView);
  const empty = plane.x === 0 && plane.y === 0 && plane.z === 0;
  if (empty) out.set(0, 0, 0, 1);
  else out.set(n.x, n.y, n.z, n.dot(point));
}

// The mark of the selected body: a ring about a sphere, seen through everything.

import { BufferGeometry, Vector3, Vector4 } from "three";
import { HEADER, OVERLAY, VERTEX_HEADER, type Shared } from "./glsl";
import { asSquare, meshOf } from "./instances";

const VERTEX = `${VERTEX_HEADER}
in vec2 corner;
uniform vec4 uBall;
uniform float uWide;
out vec2 vAt; // in pixels from the sphere's outline: x across the plane of the ring
flat out float vRadius;
${OVERLAY}
void main() {
  vec3 c = (viewMatrix * vec4(uBall.xyz, 1.0)).xyz;
  float d = length(c), r = uBall.w;
  vec3 to = c / d, side = normalize(abs(to.y) < 0.9 ? vec3(to.z, 0.0, -to.x) : vec3(0.0, -to.z, to.y)), high = cross(side, to);
  float near = max(d - r, 0.05 * r);
  float radius = max(r * sqrt(near / (d + r)) / (uPixel * near), 3.0 * uWide); // of the outline, in pixels
  float reach = radius + 4.0 * uWide;
  vAt = corner * reach;
  vRadius = radius;
  gl_Position = overlay(projectionMatrix * vec4(near * to + (corner.x * side + corner.y * high) * reach * uPixel * near, 1.0));
}
`;

const FRAGMENT = `${HEADER}
in vec2 vAt;
flat in float vRadius;
out vec4 colour;
uniform vec3 uInk;
uniform vec3 uPaper;
uniform float uWide;
void main() {
  float off = abs(length(vAt) - vRadius - 0.5 * uWide);
  float ink = clamp(0.5 + 1.1 * uWide - off, 0.0, 1.0), paper = clamp(0.5 + 2.2 * uWide - off, 0.0, 1.0);
  colour = vec4(mix(uPaper, uInk, ink), paper);
}
`;

export class Ring {
  readonly ink = new Vector3();
  readonly paper = new Vector3();
  readonly mesh;
  #ball = new Vector4();
  #wide = { value: 1 }; // device pixels of a CSS pixel

  constructor(shared: Shared) {
    this.mesh = meshOf(asSquare(new BufferGeometry()), {
      vertexShader: VERTEX, fragmentShader: FRAGMENT, transparent: true, depthWrite: false, depthTest: false,
      uniforms: { ...shared, uBall: { value: this.#ball }, uInk: { value: this.ink }, uPaper: { value: this.paper }, uWide: this.#wide },
    });
    this.mesh.renderOrder = 10;
    this.hide();
  }

  show(x: number, y: number, z: number, radius: number): void {
    this.#ball.set(x, y, z, radius);
    this.mesh.visible = true;
  }

  hide(): void {
    this.mesh.visible = false;
  }

  set wide(pixels: number) {
    this.#wide.value = pixels;
  }
}

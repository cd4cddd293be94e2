// All spheres in one call: a square before each, on which the fragment shader meets the sphere by its ray. The
// square stands on the near side, so a fragment only ever lies behind it: with EXT_conservative_depth the GPU may
// then skip hidden ones early.

import { type BufferGeometry, type IUniform, type Mesh, type RawShaderMaterial } from "three";
import type { Frame } from "../types";
import { BODY_COLOUR, CLIP, DEPTH, HEADER, SHADE, THIN, VERTEX_HEADER, type Shared } from "./glsl";
import { asSquare, Instances, meshOf } from "./instances";

const VERTEX = `${VERTEX_HEADER}
in vec2 corner;
in vec3 aCentre;
in float aRadius;
in float aValue;
flat out vec4 vBall;
flat out vec3 vColour;
out vec3 vAt;
${BODY_COLOUR}
void main() {
  vec3 c = (viewMatrix * vec4(aCentre, 1.0)).xyz;
#ifdef PARALLEL
  float r = aRadius;
  vec3 at = c + vec3(corner * r, r);
#else
  float d = length(c);
  float r = max(aRadius, 0.6 * uPixel * d); // never less than about a pixel
  vec3 to = c / d;
  vec3 side = normalize(abs(to.y) < 0.9 ? vec3(to.z, 0.0, -to.x) : vec3(0.0, -to.z, to.y));
  vec3 high = cross(side, to);
  float near = max(d - r, 0.0);
  vec3 at = near * to + (corner.x * side + corner.y * high) * (r * sqrt(near / (d + r)) + uPixel * near);
#endif
  vBall = vec4(c, r);
  vColour = bodyColour(aValue);
  vAt = at;
  gl_Position = projectionMatrix * vec4(at, 1.0);
}
`;

// The ray's nearest point to the centre is found first: differences of squares would lose what matters for
// small spheres far away.
const FRAGMENT = `
#ifdef EARLY
#extension GL_EXT_conservative_depth : require
layout (depth_greater) out highp float gl_FragDepth;
#endif
${HEADER}
flat in vec4 vBall;
flat in vec3 vColour;
in vec3 vAt;
out vec4 colour;
uniform float uPixel;
${SHADE}${CLIP}${DEPTH}${THIN}
void main() {
#ifdef GHOST
  if (isThin()) discard;
#endif
  vec3 ray = normalize(vAt), c = vBall.xyz;
  float r = vBall.w, b = dot(ray, c);
  vec3 off = c - b * ray;
  float h2 = r * r - dot(off, off);
#ifdef SMOOTH
  float cover = (r - length(off)) / (b * uPixel) + 0.5;
  if (cover <= 0.0) discard;
#else
  float cover = 1.0;
  if (h2 < 0.0) discard;
#endif
  float h = sqrt(max(h2, 0.0));
  vec3 p = ray * (b - h), n = (p - c) / r;
  if (isCut(p)) {
    if (isCut(ray * (b + h))) discard;
    p = ray * (uClip.w / dot(uClip.xyz, ray));
    n = uClip.xyz;
  }
  gl_FragDepth = depthOf(p);
  colour = vec4(shade(vColour, p, normalize(n)), min(cover, 1.0));
}
`;

// Depth alone, seen from the light: rays are parallel there.
const SHADOW_FRAGMENT = `${HEADER}
flat in vec4 vBall;
flat in vec3 vColour;
in vec3 vAt;
${DEPTH}
uniform vec4 uClipLight;
void main() {
  vec2 off = vAt.xy - vBall.xy;
  float h2 = vBall.w * vBall.w - dot(off, off);
  if (h2 < 0.0) discard;
  float h = sqrt(h2);
  vec3 p = vec3(vAt.xy, vBall.z + h);
  if (dot(uClipLight.xyz, p) > uClipLight.w) {
    vec3 q = vec3(vAt.xy, vBall.z - h);
    if (dot(uClipLight.xyz, q) > uClipLight.w) discard;
    p.z = (uClipLight.w - dot(uClipLight.xy, p.xy)) / uClipLight.z;
  }
  gl_FragDepth = depthOf(p);
}
`;

export class Spheres {
  readonly mesh: Mesh<BufferGeometry, RawShaderMaterial>;
  readonly shadow: Mesh;
  #rows: Int32Array = new Int32Array(0); // the body of each sphere
  #spheres = new Instances({ aCentre: 3, aRadius: 1, aValue: 1 });

  constructor(shared: Shared, clipLight: IUniform, early: boolean, ghost = false) {
    const geometry = asSquare(this.#spheres.geometry);
    this.mesh = meshOf(geometry, { uniforms: shared, vertexShader: VERTEX, fragmentShader: FRAGMENT, defines: { ...(early ? { EARLY: 1 } : {}), ...(ghost ? { GHOST: 1 } : {}) } });
    this.shadow = meshOf(geometry, {
      uniforms: { ...shared, uClipLight: clipLight }, vertexShader: VERTEX, fragmentShader: SHADOW_FRAGMENT, defines: { PARALLEL: 1 }, colorWrite: false,
    });
  }

  get count(): number {
    return this.#rows.length;
  }

  // Edges by coverage, for targets with several samples per pixel.
  setSmooth(): void {
    const { material } = this.mesh;
    material.alphaToCoverage = true;
    material.defines = { ...material.defines, SMOOTH: 1 };
  }

  // `rows`: the bodies of the frame that are spheres.
  show(frame: Frame, rows: Int32Array): void {
    const n = this.#spheres.count = rows.length, first = rows[0] ?? 0;
    this.#rows = rows;
    this.mesh.visible = this.shadow.visible = n > 0; // or its shader would be made for nothing
    const centre = this.#spheres.array("aCentre"), radius = this.#spheres.array("aRadius");
    if (n > 0 && rows[n - 1] === first + n - 1) { // one run of rows, as a rule
      centre.set(frame.position.subarray(3 * first, 3 * (first + n)));
      radius.set(frame.radius.subarray(first, first + n));
    } else {
      for (let k = 0; k < n; k++) {
        const row = rows[k]!;
        centre[3 * k] = frame.position[3 * row]!;
        centre[3 * k + 1] = frame.position[3 * row + 1]!;
        centre[3 * k + 2] = frame.position[3 * row + 2]!;
        radius[k] = frame.radius[row]!;
      }
    }
    this.#spheres.upload("aCentre", "aRadius");
  }

  colour(values: Float32Array): void {
    this.#spheres.gather("aValue", this.#rows, values);
  }
}

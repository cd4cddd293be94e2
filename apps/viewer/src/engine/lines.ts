// Straight lines a given number of pixels wide, and the tubes of force chains: squares drawn out between two points,
// turned to the viewer.

import { DoubleSide, Vector4, type IUniform, type Mesh } from "three";
import type { Chains } from "../types";
import { colourMap, nice, select } from "./colour";
import { BODY_COLOUR, CLIP, createMap, HEADER, OVERLAY, SHADE, VERTEX_HEADER, type Shared } from "./glsl";
import { asSquare, Instances, meshOf } from "./instances";
import { CHAINS, LIGHT } from "./palette";

/* ---- lines ---- */

const LINE_VERTEX = `${VERTEX_HEADER}
in vec2 corner;
in vec3 aFrom;
in vec3 aTo;
uniform vec2 uScreen;
uniform float uWidth;
out vec3 vAt;
out float vAcross;
${OVERLAY}
void main() {
  vec3 a = (viewMatrix * vec4(aFrom, 1.0)).xyz, b = (viewMatrix * vec4(aTo, 1.0)).xyz;
  float near = -projectionMatrix[3][2] / (1.0 - projectionMatrix[2][2]); // points before it cannot be projected
  near = -abs(near) * 1.001;
  if (a.z > near && b.z < near) a = mix(a, b, (near - a.z) / (b.z - a.z));
  if (b.z > near && a.z < near) b = mix(b, a, (near - b.z) / (a.z - b.z));
  vec4 pa = projectionMatrix * vec4(a, 1.0), pb = projectionMatrix * vec4(b, 1.0);
  vec2 way = (pb.xy / pb.w - pa.xy / pa.w) * uScreen;
  vec2 side = length(way) > 1e-4 ? normalize(vec2(-way.y, way.x)) : vec2(1.0, 0.0);
  vec4 p = corner.y < 0.0 ? pa : pb;
  p.xy += side * corner.x * (uWidth + 1.0) / uScreen * p.w;
  vAcross = corner.x * (uWidth + 1.0) * 0.5;
  vAt = corner.y < 0.0 ? a : b;
#ifdef ON_TOP
  p = overlay(p);
#else
  p.z -= 1e-4 * p.w; // before the surface that it is an edge of
#endif
  gl_Position = p;
}
`;

const LINE_FRAGMENT = `${HEADER}
in vec3 vAt;
in float vAcross;
out vec4 colour;
uniform vec4 uInk;
uniform float uWidth;
${CLIP}
void main() {
  if (isCut(vAt)) discard;
  colour = vec4(uInk.rgb, uInk.a * clamp(0.5 * uWidth + 0.5 - abs(vAcross), 0.0, 1.0));
}
`;

export class Lines {
  readonly mesh: Mesh;
  readonly ink = new Vector4(0, 0, 0, 1); // as on the screen
  #width: IUniform<number>;
  #lines = new Instances({ aFrom: 3, aTo: 3 });

  constructor(shared: Shared, width: number, onTop: boolean) {
    this.#width = { value: width };
    this.mesh = meshOf(asSquare(this.#lines.geometry), {
      uniforms: { ...shared, uInk: { value: this.ink }, uWidth: this.#width }, vertexShader: LINE_VERTEX, fragmentShader: LINE_FRAGMENT,
      transparent: true, depthWrite: false, side: DoubleSide, defines: onTop ? { ON_TOP: 1 } : {},
    });
    this.mesh.visible = false;
  }

  get count(): number {
    return this.#lines.count;
  }

  set width(pixels: number) {
    this.#width.value = pixels;
  }

  // Two points each.
  show(points: ArrayLike<number>): void {
    const n = this.#lines.count = points.length / 6, from = this.#lines.array("aFrom"), to = this.#lines.array("aTo");
    for (let k = 0; k < n; k++) {
      for (let c = 0; c < 3; c++) {
        from[3 * k + c] = points[6 * k + c]!;
        to[3 * k + c] = points[6 * k + 3 + c]!;
      }
    }
    this.#lines.upload("aFrom", "aTo");
    this.mesh.visible = n > 0;
  }
}

/* ---- force chains ---- */

// aForce runs from 0 to 1 at the top of the scale; the width goes by its root.
const CHAIN_VERTEX = `${VERTEX_HEADER}
in vec2 corner;
in vec3 aFrom;
in vec3 aTo;
in float aWidth;
in float aForce;
uniform float uRadius;
uniform sampler2D uChainMap;
flat out vec3 vColour;
flat out vec3 vSide;
flat out vec3 vFace;
out vec3 vAt;
out float vAcross;
${BODY_COLOUR}${OVERLAY}
void main() {
  vec3 a = (viewMatrix * vec4(aFrom, 1.0)).xyz, b = (viewMatrix * vec4(aTo, 1.0)).xyz;
  vec3 middle = 0.5 * (a + b), way = b - a;
  way = length(way) > 0.0 ? normalize(way) : vec3(1.0, 0.0, 0.0);
  vec3 face = normalize(-middle), side = cross(way, face);
  side = length(side) > 1e-4 ? normalize(side) : vec3(0.0, 1.0, 0.0);
  float r = max(uRadius * aWidth, 0.6 * uPixel * length(middle));
  vec3 at = mix(a, b, 0.5 + 0.5 * corner.y) + side * corner.x * r + way * r * 0.5 * corner.y;
  vColour = toLinear(textureLod(uChainMap, vec2(aForce, 0.5), 0.0).rgb);
  vSide = side;
  vFace = cross(side, way);
  vAt = at;
  vAcross = corner.x;
  gl_Position = overlay(projectionMatrix * vec4(at, 1.0));
}
`;

const CHAIN_FRAGMENT = `${HEADER}
flat in vec3 vColour;
flat in vec3 vSide;
flat in vec3 vFace;
in vec3 vAt;
in float vAcross;
out vec4 colour;
${SHADE}${CLIP}
void main() {
  if (isCut(vAt)) discard;
  vec3 face = dot(vFace, vAt) > 0.0 ? -vFace : vFace;
  vec3 n = vSide * vAcross + face * sqrt(max(0.0, 1.0 - vAcross * vAcross));
  float ambient = mix(0.75, 1.0, 0.5 + 0.5 * dot(n, uUp));
  colour = vec4(toScreen(vColour * (ambient * 0.55 + 0.5 * max(0.0, dot(n, uKey)))), 1.0);
}
`;

export class ChainLines {
  readonly mesh: Mesh;
  #chains = new Instances({ aFrom: 3, aTo: 3, aWidth: 1, aForce: 1 });
  scale: { high: number; least: number } | null = null; // of the forces drawn, N
  #radius = { value: 1 };

  constructor(shared: Shared) {
    const map = createMap(colourMap("force", null, LIGHT).texels);
    map.needsUpdate = true;
    this.mesh = meshOf(asSquare(this.#chains.geometry), {
      uniforms: { ...shared, uRadius: this.#radius, uChainMap: { value: map } }, vertexShader: CHAIN_VERTEX, fragmentShader: CHAIN_FRAGMENT, side: DoubleSide,
    });
    this.hide();
  }

  get count(): number {
    return this.#chains.count;
  }

  hide(): void {
    this.mesh.visible = false;
    this.scale = null;
    this.#chains.count = 0;
  }

  // Those above `threshold` times their mean; `radius` is that of a typical body.
  show(chains: Chains, threshold: number, radius: number): void {
    const mean = chains.count > 0 ? chains.force.reduce((sum, f) => sum + f, 0) / chains.count : 0, least = threshold > 1 ? threshold * mean : 0;
    const top = chains.count > 0 ? nice(select(chains.force.slice(), chains.count, Math.ceil(0.99 * chains.count) - 1)) || 1 : 1;
    this.#chains.count = chains.count;
    const [from, to, width, force] = (["aFrom", "aTo", "aWidth", "aForce"] as const).map((name) => this.#chains.array(name)) as [Float32Array, Float32Array, Float32Array, Float32Array];
    let n = 0;
    for (let k = 0; k < chains.count; k++) {
      const f = chains.force[k]!;
      if (!(f >= least)) continue;
      for (let c = 0; c < 3; c++) {
        from[3 * n + c] = chains.from[3 * k + c]!;
        to[3 * n + c] = chains.to[3 * k + c]!;
      }
      width[n] = Math.sqrt(Math.min(f / top, 1));
      force[n++] = Math.min(f / top, 1);
    }
    this.#chains.count = n;
    this.scale = { high: top, least: Math.max(mean, least) };
    this.#chains.upload("aFrom", "aTo", "aWidth", "aForce");
    this.#radius.value = CHAINS.radius * radius;
    this.mesh.visible = n > 0;
  }
}

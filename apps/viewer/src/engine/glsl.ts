// What the shaders share. All of them work in view space: the eye is the origin and looks along -z.

import { DataTexture, DepthTexture, LinearFilter, Matrix4, Vector2, Vector3, Vector4, type IUniform } from "three";
import { MAP_WIDTH } from "./colour";
import { KEY } from "./palette";

const number = (x: number): string => (Number.isInteger(x) ? x.toFixed(1) : String(x));

// One set for all materials: three.js reads the values through these holders.
export interface Shared extends Record<string, IUniform> {
  uKey: IUniform<Vector3>;        // towards the key light
  uUp: IUniform<Vector3>;
  uClip: IUniform<Vector4>;       // cut away where dot(xyz, p) > w
  uPixel: IUniform<number>;       // size of a pixel at distance 1
  uScreen: IUniform<Vector2>;     // pixels
  uMap: IUniform<DataTexture>;
  uMapPlace: IUniform<Vector4>;   // texel coordinates of first and last; low value, and 1 over the span
  uMapLog: IUniform<number>;
  uFixed: IUniform<Vector3>;      // linear
  uBackground: IUniform<Vector3>; // linear
  uVeil: IUniform<Vector4>;       // colour of all bodies while chains are shown, linear, and their opacity; 1 else
  uThin: IUniform<number>;        // which pixels of ghosts a picture leaves out: 0 to 1, another one for each picture of an average
  uShadowMap: IUniform<DepthTexture | null>;
  uShadow: IUniform<Matrix4>;     // view space to shadow map
  uShadowOn: IUniform<number>;
  uShadowBias: IUniform<number>;
}

export function createMap(texels: Uint8Array<ArrayBuffer>): DataTexture {
  const map = new DataTexture(texels, MAP_WIDTH, 1);
  map.minFilter = map.magFilter = LinearFilter;
  return map;
}

export function createShared(): Shared {
  return {
    uKey: { value: new Vector3(0, 0, 1) }, uUp: { value: new Vector3(0, 1, 0) }, uClip: { value: new Vector4() }, uPixel: { value: 0.001 },
    uScreen: { value: new Vector2(1, 1) }, uMap: { value: createMap(new Uint8Array(4 * MAP_WIDTH)) }, uMapPlace: { value: new Vector4(0, 1, 0, 1) }, uMapLog: { value: 0 },
    uFixed: { value: new Vector3() }, uBackground: { value: new Vector3() }, uVeil: { value: new Vector4(0, 0, 0, 1) }, uThin: { value: 0 },
    uShadowMap: { value: null }, uShadow: { value: new Matrix4() }, uShadowOn: { value: 0 }, uShadowBias: { value: 0 },
  };
}

export const HEADER = `precision highp float;
precision highp sampler2DShadow;
`;

export const VERTEX_HEADER = `${HEADER}
uniform mat4 viewMatrix;
uniform mat4 projectionMatrix;
uniform float uPixel;
`;

const TRANSFER = `
vec3 toLinear(vec3 s) {
  return mix(s / 12.92, pow((s + 0.055) / 1.055, vec3(2.4)), step(0.04045, s));
}
vec3 toScreen(vec3 l) {
  l = clamp(l, 0.0, 1.0);
  return mix(12.92 * l, 1.055 * pow(l, vec3(1.0 / 2.4)) - 0.055, step(0.0031308, l));
}
`;

// bodyColour(value): linear colour of a body; for vertex shaders.
export const BODY_COLOUR = `${TRANSFER}
uniform sampler2D uMap;
uniform vec4 uMapPlace;
uniform float uMapLog;
uniform vec3 uFixed;
vec3 bodyColour(float value) {
  if (value < 0.0) return uFixed;
  float x = uMapLog > 0.5 ? log(max(value, 1e-30)) : value;
  x = clamp((x - uMapPlace.z) * uMapPlace.w, 0.0, 1.0);
  return toLinear(textureLod(uMap, vec2(mix(uMapPlace.x, uMapPlace.y, x), 0.5), 0.0).rgb);
}
`;

// shade(albedo, point, normal): what the screen shows of a surface.
export const SHADE = `${TRANSFER}
uniform vec3 uKey;
uniform vec3 uUp;
uniform vec3 uBackground;
uniform vec4 uVeil;
uniform sampler2DShadow uShadowMap;
uniform mat4 uShadow;
uniform float uShadowOn;
uniform float uShadowBias;

// 1 in the light, 0 in the shadow; n lifts the point off its own surface.
float lightAt(vec3 p, vec3 n) {
  if (uShadowOn < 0.5) return 1.0;
  vec3 s = (uShadow * vec4(p + n * uShadowBias, 1.0)).xyz;
  if (any(lessThan(s, vec3(0.0))) || any(greaterThan(s, vec3(1.0)))) return 1.0;
  vec2 texel = 1.0 / vec2(textureSize(uShadowMap, 0));
  float sum = 0.0;
  for (int k = 0; k < 4; k++) sum += texture(uShadowMap, vec3(s.xy + texel * (vec2(k & 1, k >> 1) * 1.5 - 0.75), s.z));
  return 0.25 * sum;
}

vec3 shade(vec3 albedo, vec3 p, vec3 n) {
  if (uVeil.w < 1.0) albedo = uVeil.xyz;
  vec3 view = normalize(-p);
  float key = dot(n, uKey), light = key > 0.0 ? lightAt(p, n) : 0.0;
  float ambient = mix(${number(KEY.ground)}, ${number(KEY.sky)}, 0.5 + 0.5 * dot(n, uUp));
  vec3 sum = albedo * (${number(KEY.strength)} * max(0.0, key) * light + ambient);
  sum += ${number(KEY.highlight)} * pow(max(0.0, dot(n, normalize(uKey + view))), ${number(KEY.power)}) * light;
  return mix(toScreen(uBackground), toScreen(sum), uVeil.w);
}
`;

export const CLIP = `
uniform vec4 uClip;
bool isCut(vec3 p) { return dot(uClip.xyz, p) > uClip.w; }
`;

// isThin(): whether a ghost leaves out this pixel of this picture. A pattern of four by four, another for each picture of an
// average, so that at rest ghosts are half transparent whatever stands before or behind them.
export const THIN = `
uniform float uThin;
bool isThin() {
  ivec2 p = ivec2(gl_FragCoord.xy) & 3;
  int q = (p.x ^ p.y) & 3, order = ((q & 1) << 3) | ((p.y & 1) << 2) | (q & 2) | (p.y >> 1); // as Bayer's matrix
  return fract((float(order) + 0.5) / 16.0 + uThin) > ${number(0.25)};
}
`;

// The window depth of a point in view space.
export const DEPTH = `
uniform mat4 projectionMatrix;
float depthOf(vec3 p) {
  vec2 zw = vec2(projectionMatrix[2][2] * p.z + projectionMatrix[3][2], projectionMatrix[2][3] * p.z + projectionMatrix[3][3]);
  return clamp(0.5 * zw.x / zw.y + 0.5, 0.0, 1.0);
}
`;

// What is drawn over everything keeps its own order within the first hundredth of the depth range.
export const OVERLAY_DEPTH = 0.01;
export const OVERLAY = `
vec4 overlay(vec4 p) { return vec4(p.xy, -p.w + (p.z + p.w) * ${OVERLAY_DEPTH}, p.w); }
`;

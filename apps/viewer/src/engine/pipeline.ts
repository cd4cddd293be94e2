// From the scene to the screen. In full quality the scene is drawn with several samples per pixel and its crevices
// are darkened by what the depth says of their surroundings; at rest many pictures, each shifted by part of a pixel,
// are averaged. A software renderer draws straight to the screen, and averages a few.

import {
  Camera, ConstantAlphaFactor, CustomBlending, DepthTexture, GLSL3, HalfFloatType, Mesh, NoBlending, OneMinusConstantAlphaFactor, BufferAttribute, BufferGeometry,
  PerspectiveCamera, RawShaderMaterial, Scene, UnsignedIntType, Vector2, Vector4, WebGLRenderTarget, type WebGLRenderer,
} from "three";
import { HEADER, OVERLAY_DEPTH } from "./glsl";

const VERTEX = `${HEADER}
in vec3 position;
void main() { gl_Position = vec4(position.xy, 0.0, 1.0); }
`;

// How open a place is: neighbours in a disc that stand before the surface hide it, weighed by how near they are. The
// disc is turned from pixel to pixel in a pattern of four by four, which composing averages away again. Beside it, how
// far the place is, so that the average stays on one surface.
const OPEN = `${HEADER}
uniform highp sampler2D uDepth;
uniform vec4 uView;   // 1 / P00, 1 / P11, P22, P32 of the projection
uniform float uReach; // how far crevices reach, in the scene's length
uniform float uPixel;
uniform float uTurn;  // another pattern for each sample
out vec4 colour;
const int TAPS = 12;

vec3 at(ivec2 pixel) {
  vec2 size = vec2(textureSize(uDepth, 0));
  float ndc = 2.0 * texelFetch(uDepth, clamp(pixel, ivec2(0), ivec2(size) - 1), 0).r - 1.0;
  float z = -uView.w / (ndc + uView.z);
  return vec3(((vec2(pixel) + 0.5) / size * 2.0 - 1.0) * uView.xy * -z, z);
}

vec3 nearer(vec3 a, vec3 b) { return abs(a.z) < abs(b.z) ? a : b; }

float open(ivec2 pixel) {
  float depth = texelFetch(uDepth, pixel, 0).r;
  if (depth >= 1.0 || depth < ${OVERLAY_DEPTH}) return 1.0;
  vec3 p = at(pixel);
  vec3 dx = nearer(at(pixel + ivec2(1, 0)) - p, p - at(pixel - ivec2(1, 0)));
  vec3 dy = nearer(at(pixel + ivec2(0, 1)) - p, p - at(pixel - ivec2(0, 1)));
  vec3 n = normalize(cross(dx, dy));
  float disc = clamp(uReach / (uPixel * -p.z), 4.0, 90.0);
  float reach = disc * uPixel * -p.z, r2 = reach * reach;
  float tile = float(((pixel.x & 3) * 5 + (pixel.y & 3) * 4 + (pixel.x & 1) * (pixel.y & 3)) & 15) / 16.0;
  float shift = fract(tile + uTurn * 0.618034), sum = 0.0;
  for (int k = 0; k < TAPS; k++) {
    float s = (float(k) + shift) / float(TAPS), a = 6.2831853 * (tile + uTurn * 0.381966 + float(k) * 0.618034);
    vec3 v = at(pixel + ivec2(disc * sqrt(s) * vec2(cos(a), sin(a)))) - p;
    float vv = dot(v, v), f = max(r2 - vv, 0.0);
    sum += f * f * f * max(dot(v, n) - 0.02 * reach, 0.0) / (vv + 0.01 * r2);
  }
  return max(0.0, 1.0 - sum * 5.0 * reach / (r2 * r2 * r2 * float(TAPS)));
}

void main() {
  ivec2 pixel = ivec2(gl_FragCoord.xy);
  colour = vec4(open(pixel), min(-at(pixel).z / uReach, 6e4), 0.0, 1.0);
}
`;

const COMPOSE = `${HEADER}
uniform sampler2D uPicture;
uniform sampler2D uOpen;
uniform float uStrength;
out vec4 colour;
void main() {
  ivec2 pixel = ivec2(gl_FragCoord.xy);
  vec4 picture = texelFetch(uPicture, pixel, 0); // its alpha: 0 where the depth is not that of what is seen
  vec3 c = picture.rgb;
  if (uStrength > 0.0) {
    vec2 here = texelFetch(uOpen, pixel, 0).rg, sum = vec2(here.r, 1.0) * 0.01;
    ivec2 last = textureSize(uOpen, 0) - 1;
    for (int k = 0; k < 16; k++) {
      vec2 there = texelFetch(uOpen, clamp(pixel + ivec2(k & 3, k >> 2) - 2, ivec2(0), last), 0).rg;
      sum += vec2(there.r, 1.0) * max(0.0, 1.0 - abs(there.g - here.g) / (0.4 + 0.002 * here.g));
    }
    c *= pow(mix(1.0, sum.x / sum.y, uStrength * picture.a), 1.0 / 2.2);
  }
  colour = vec4(c, 1.0);
}
`;

const COPY = `${HEADER}
uniform sampler2D uPicture;
out vec4 colour;
void main() { colour = vec4(texelFetch(uPicture, ivec2(gl_FragCoord.xy), 0).rgb, 1.0); }
`;

// The fractional parts of multiples of two irrational numbers fill a square evenly, however many there are.
const jitter = (k: number): [number, number] => (k === 0 ? [0, 0] : [((k * 0.7548776662) % 1) - 0.5, ((k * 0.5698402910) % 1) - 0.5]);

export interface Look { reach: number; crevices: boolean }

export class Pipeline {
  readonly averages: boolean; // whether there are targets fine enough to average pictures and to hold depths
  #picture: WebGLRenderTarget | null = null;
  #sum: WebGLRenderTarget | null = null;
  #screen = new Scene();
  #quad: Mesh;
  #places: WebGLRenderTarget | null = null; // how open each is
  #open: RawShaderMaterial;
  #compose: RawShaderMaterial;
  #average: RawShaderMaterial;
  #copy: RawShaderMaterial;
  #still = new Camera();
  #uniforms = {
    uPicture: { value: null as unknown }, uDepth: { value: null as unknown }, uView: { value: new Vector4() }, uReach: { value: 1 }, uPixel: { value: 1 },
    uTurn: { value: 0 }, uStrength: { value: 0 }, uOpen: { value: null as unknown },
  };
  #size = new Vector2();

  constructor(private renderer: WebGLRenderer, private full: boolean) {
    this.averages = renderer.extensions.has("EXT_color_buffer_float") || renderer.extensions.has("EXT_color_buffer_half_float");
    const make = (fragmentShader: string, blending: object): RawShaderMaterial => new RawShaderMaterial({
      glslVersion: GLSL3, vertexShader: VERTEX, fragmentShader, uniforms: this.#uniforms, depthTest: false, depthWrite: false, ...blending,
    });
    this.#open = make(OPEN, { blending: NoBlending });
    this.#compose = make(COMPOSE, { blending: NoBlending });
    this.#average = make(COMPOSE, { blending: CustomBlending, blendSrc: ConstantAlphaFactor, blendDst: OneMinusConstantAlphaFactor });
    this.#copy = make(COPY, { blending: NoBlending });
    const triangle = new BufferGeometry();
    triangle.setAttribute("position", new BufferAttribute(new Float32Array([-1, -1, 0, 3, -1, 0, -1, 3, 0]), 3));
    this.#quad = new Mesh(triangle, this.#compose);
    this.#quad.frustumCulled = false;
    this.#screen.add(this.#quad);
  }

  #targets(sum: boolean): WebGLRenderTarget {
    const { x: width, y: height } = this.renderer.getDrawingBufferSize(this.#size);
    if (!this.#picture) {
      this.#picture = new WebGLRenderTarget(width, height, { samples: this.full ? 4 : 0, depthTexture: new DepthTexture(width, height, UnsignedIntType) });
    }
    if (this.averages) this.#places ??= new WebGLRenderTarget(width, height, { type: HalfFloatType, depthBuffer: false });
    if (sum) this.#sum ??= new WebGLRenderTarget(width, height, { type: HalfFloatType, depthBuffer: false });
    for (const t of [this.#picture, this.#places, this.#sum]) if (t && (t.width !== width || t.height !== height)) t.setSize(width, height);
    return this.#picture;
  }

  #pass(material: RawShaderMaterial, from: WebGLRenderTarget, to: WebGLRenderTarget | null): void {
    this.#uniforms.uPicture.value = from.texture;
    this.#quad.material = material;
    this.renderer.setRenderTarget(to);
    this.renderer.render(this.#screen, this.#still);
  }

  // The picture with its crevices, to the screen or into the average.
  #finish(camera: PerspectiveCamera, look: Look, sample: number, material: RawShaderMaterial, to: WebGLRenderTarget | null): void {
    const p = camera.projectionMatrix.elements, u = this.#uniforms;
    u.uView.value.set(1 / p[0]!, 1 / p[5]!, p[10]!, p[14]!);
    u.uReach.value = look.reach;
    u.uPixel.value = 2 / (p[5]! * this.#size.y);
    u.uTurn.value = sample;
    u.uStrength.value = look.crevices && this.#places ? 0.9 : 0;
    u.uDepth.value = this.#picture!.depthTexture;
    if (u.uStrength.value > 0) {
      u.uOpen.value = null; // a texture must not be read while it is drawn to
      this.#pass(this.#open, this.#picture!, this.#places);
      u.uOpen.value = this.#places!.texture;
    }
    this.#pass(material, this.#picture!, to);
  }

  #render(scene: Scene, camera: PerspectiveCamera, to: WebGLRenderTarget | null): void {
    this.renderer.setRenderTarget(to);
    this.renderer.clear();
    this.renderer.render(scene, camera);
  }

  // One picture, at once.
  draw(scene: Scene, camera: PerspectiveCamera, look: Look): void {
    if (!this.full) {
      this.#render(scene, camera, null);
      return;
    }
    const picture = this.#targets(false);
    this.#render(scene, camera, picture);
    this.#finish(camera, look, 0, this.#compose, null);
  }

  // Picture number `sample`, from 0, of an average; the screen shows the average so far.
  refine(scene: Scene, camera: PerspectiveCamera, look: Look, sample: number): void {
    const picture = this.#targets(true), { x: width, y: height } = this.#size;
    camera.setViewOffset(width, height, ...jitter(sample), width, height);
    this.#render(scene, camera, picture);
    camera.clearViewOffset();
    this.#average.blendAlpha = 1 / (sample + 1);
    this.#finish(camera, look, sample, this.#average, this.#sum);
    this.#pass(this.#copy, this.#sum!, null);
  }
}

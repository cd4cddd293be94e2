// Draws frames into a canvas with three.js. Pictures are made only when something has changed: quick ones while it
// moves, better ones once it rests.

import { Color, LinearFilter, NearestFilter, LinearSRGBColorSpace, PerspectiveCamera, Scene, Vector4, WebGLRenderer } from "three";
import type { FieldSlice } from "../data/fields";
import type { Clip, ColourBy, Container, Frame, Head, Rule, Scale, Vec3, ViewName } from "../types";
import { boundsOf, farthest, positionOf, rowOf, turnOf } from "./bounds";
import { Controls, Orbit } from "./camera";
import { colourMap, colourValues, isCategory, scaleOf } from "./colour";
import { createShared } from "./glsl";
import { ChainLines, Lines } from "./lines";
import { Ring } from "./marker";
import { CHAINS, DARK, GHOST, KEY, LIGHT, rgb, toLinear, VIEWS } from "./palette";
import { pickSolids, pickSpheres, pickWalls, spanOf, type Cut } from "./pick";
import { Pipeline } from "./pipeline";
import { planeInView, Shadow } from "./shadow";
import { SlicePlane } from "./slice";
import { Solids, type ShapeRows } from "./solids";
import { Spheres } from "./spheres";
import { Style, stylesOf } from "./styles";
import { isGround } from "./surfaces";
import { add, along, centre, diagonal, direction, dot, frameAbout, inverse, joined, moved, rotate, scale, sub, type Box } from "./vector";
import { isVessel, outlineOf, Walls } from "./walls";

export type Quality = "full" | "plain";

const REST = 140;                      // ms without change before better pictures are made
const SAMPLES = { full: 16, plain: 8 }; // pictures averaged at rest
const LONGEST_REST = 4000;             // ms spent on them, where each takes its time
const LONGEST_STILL = 20000;
const SLOW = 45, QUICK = 14;           // ms of a picture above and below which motion is drawn coarser or finer
const RATIOS = [1, 0.75, 0.5, 0.35];   // of the screen's resolution, coarser and coarser
const MOST_PIXELS = 16e6;              // of a still; each takes some 60 bytes of the GPU's memory
const EARLY_DEPTH = "EXT_conservative_depth";

// A renderer without a GPU can do all of it, but not in time.
function qualityOf(renderer: WebGLRenderer): Quality {
  const gl = renderer.getContext(), info = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : gl.getParameter(gl.RENDERER));
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name) ? "plain" : "full";
}

// Of `solids` each shape has rows of its own; the ground is among them, though it is fixed. Ghosts are half transparent,
// walls that are `ghostWalls` a veil. allWalls: hidden ones too.
interface Rows {
  spheres: Int32Array; solids: ShapeRows[]; ghostSpheres: Int32Array; ghostSolids: ShapeRows[];
  walls: Int32Array; ghostWalls: Int32Array; allWalls: Int32Array;
}

const enum Group { sphere, wall, first } // and from `first` on one for each shape

// How a body is seen whose style is `auto` as a rule. Of a ghosted container spheres and ground are not ghosts.
function seenAs(style: Style, fixed: boolean, wall: boolean, container: Container): Style {
  if (style !== Style.auto) return style;
  if ((!fixed && !wall) || container === "shown") return Style.shown;
  return container === "hidden" ? Style.hidden : wall ? Style.ghost : Style.shown;
}

function sortRows(frame: Frame, up: Vec3, styles: Uint8Array | null, container: Container): Rows {
  const shapes = frame.head.shapes;
  const groups = shapes.map((s, k): number => (s.drawn === "sphere" ? Group.sphere : s.drawn === "solid" ? Group.first + k : Group.wall));
  const known = new Map<number, boolean>(); // of a shape, whether it is the ground: as its first body stands
  const isGroundAt = (i: number): boolean => {
    const k = frame.shape[i]!;
    if (!known.has(k)) known.set(k, isGround(shapes[k]!, rotate(inverse(turnOf(frame, i)), up)));
    return known.get(k)!;
  };
  const of = new Uint32Array(frame.count), seen = new Uint8Array(frame.count);
  for (let i = 0; i < frame.count; i++) {
    const k = frame.shape[i]!, group = groups[k]!, fixed = frame.fixed[i] !== 0;
    of[i] = group === Group.wall || (group !== Group.sphere && fixed) ? (fixed && isGroundAt(i) ? Group.first + k : Group.wall) : group;
    seen[i] = seenAs(styles?.[i] ?? Style.auto, fixed, of[i] === Group.wall, container);
  }
  const solidsOf = (rows: Int32Array[]): ShapeRows[] =>
    shapes.map((shape, k): ShapeRows => ({ shape, rows: rows[Group.first + k]!, fixed: groups[k] === Group.wall })).filter((o) => o.rows.length > 0);
  const shown = dealt(of, seen, Style.shown, Group.first + shapes.length), ghost = dealt(of, seen, Style.ghost, Group.first + shapes.length);
  return {
    spheres: shown[Group.sphere]!, solids: solidsOf(shown), ghostSpheres: ghost[Group.sphere]!, ghostSolids: solidsOf(ghost),
    walls: shown[Group.wall]!, ghostWalls: ghost[Group.wall]!, allWalls: Int32Array.from(of.keys()).filter((i) => of[i] === Group.wall),
  };
}

// The rows of each group that are seen in this way.
function dealt(group: Uint32Array, seen: Uint8Array, style: Style, groups: number): Int32Array[] {
  const counts = new Array<number>(groups).fill(0);
  for (let i = 0; i < group.length; i++) if (seen[i] === style) counts[group[i]!]!++;
  const rows = counts.map((n) => new Int32Array(n)), at = counts.map(() => 0);
  for (let i = 0; i < group.length; i++) if (seen[i] === style) rows[group[i]!]![at[group[i]!]!++] = i;
  return rows;
}

// Each eighth of 0 to 1 once in eight pictures of an average: a pixel of a ghost is then left out in just six of them.
const thinOf = (sample: number): number => ((3 * sample) % 8) / 8 + (sample >= 8 ? 1 / 16 : 0);

// Knows nothing of time, sliders or files.
export class Engine {
  scale: Scale | null = null; // of the colours in use; null for categories
  #renderer: WebGLRenderer;
  #quality: Quality;
  #pipeline: Pipeline;
  #shared = createShared();
  #shadow: Shadow;
  #scene = new Scene();
  #camera = new PerspectiveCamera();
  #orbit = new Orbit();
  #spheres: Spheres;
  #solids: Solids;
  #ghostSpheres: Spheres;
  #ghostSolids: Solids;
  #walls: Walls;
  #ghostWalls: Walls;
  #chainLines: ChainLines;
  #slicePlane: SlicePlane;
  #ring: Ring;
  #outlines: Lines[]; // of the selected body: seen through everything, and where nothing hides it

  #frame: Frame | null = null;
  #rows: Rows | null = null;
  #values = new Float32Array(0);
  #bounds: Box = { lo: [0, 0, 0], hi: [1, 1, 1] }; // of all that was shown so far
  #origin: Vec3 = [0, 0, 0];
  #touched = false; // the camera has been moved by somebody
  #alive = false;   // there was something that moves
  #fresh = true;    // no frame of this run has been shown
  #included: Box | null = null; // what views hold beside the frame
  #fitted: { box: Box; view: boolean } | null = null; // what the camera was fitted to, unless it has been moved since
  #reach = 1; // from the middle of the bounds to the farthest body
  #by: ColourBy = "speed";
  #wantedScale: Scale | null = null;
  #chains = { on: false, threshold: 1 };
  #clip: Clip | null = null;
  #slice: FieldSlice | null = null;
  #container: Container = "ghost";
  #rules: readonly Rule[] = [];
  #dark = false;
  #selected = 0;
  #listeners: (() => void)[] = [];
  #drawn: (() => void)[] = [];

  #asked = 0;     // the animation frame that was asked for
  #changed = true; // since the last picture
  #sample = 0;    // of the average at rest
  #restFrom = 0;
  #rested = false; // no better picture is to come
  #lastChange = 0;
  #level = 0;     // of RATIOS, while moving
  #whole = false; // motion is drawn in full however long it takes
  #ratio = 0;
  #fence: WebGLSync | null = null;
  #fenceFrom = 0;
  #frameMs = 0;
  #slow = 0;      // slow pictures in a row
  #lost = false;

  // `quality` is for tests; as a rule it follows from the GPU.
  constructor(readonly canvas: HTMLCanvasElement, quality: Quality | null = null) {
    this.#renderer = new WebGLRenderer({ canvas, antialias: false, alpha: false, powerPreference: "high-performance" });
    this.#renderer.autoClear = false;
    this.#renderer.outputColorSpace = LinearSRGBColorSpace; // shaders and clear colours give what the screen shall show
    this.#quality = quality ?? qualityOf(this.#renderer);
    const full = this.#quality === "full";
    this.#pipeline = new Pipeline(this.#renderer, full);
    this.#shadow = new Shadow(this.#shared, full ? 2048 : 1024);
    this.#spheres = new Spheres(this.#shared, this.#shadow.clip, this.#renderer.extensions.has(EARLY_DEPTH));
    if (full) this.#spheres.setSmooth();
    this.#solids = new Solids(this.#shared, this.#shadow.clip);
    this.#ghostSpheres = new Spheres(this.#shared, this.#shadow.clip, this.#renderer.extensions.has(EARLY_DEPTH), true);
    this.#ghostSolids = new Solids(this.#shared, this.#shadow.clip, true);
    this.#walls = new Walls(this.#shared, false);
    this.#ghostWalls = new Walls(this.#shared, true);
    this.#chainLines = new ChainLines(this.#shared);
    this.#slicePlane = new SlicePlane(this.#shared);
    this.#ring = new Ring(this.#shared);
    this.#outlines = [new Lines(this.#shared, 2.5, true), new Lines(this.#shared, 2.5, false)];
    this.#outlines.forEach((o) => (o.mesh.renderOrder = 9));
    this.#scene.add(
      this.#spheres.mesh, this.#solids.meshes, this.#ghostSpheres.mesh, this.#ghostSolids.meshes,
      ...[this.#walls, this.#ghostWalls].flatMap((w) => [...w.meshes, w.lines.mesh]), this.#chainLines.mesh, this.#slicePlane.mesh, this.#slicePlane.arrows.mesh, this.#ring.mesh,
      ...this.#outlines.map((o) => o.mesh),
    );
    this.#shadow.scene.add(this.#spheres.shadow, this.#solids.shadows);
    for (const scene of [this.#scene, this.#shadow.scene]) scene.matrixWorldAutoUpdate = false; // nothing is placed but by its own coordinates
    this.#camera.matrixAutoUpdate = this.#camera.matrixWorldAutoUpdate = false;
    new Controls(canvas, this.#orbit, () => {
      this.#touched = true;
      this.#fitted = null;
      this.#cameraMoved();
    });
    canvas.addEventListener("webglcontextlost", () => {
      this.#lost = true;
      this.#fence = null;
    });
    canvas.addEventListener("webglcontextrestored", () => this.#restored());
    this.setTheme(false);
    this.resize();
  }

  #restored(): void {
    this.#lost = false;
    this.#renderer.extensions.has(EARLY_DEPTH); // has to be asked for again
    this.#shadow.stale();
    this.draw();
  }

  // What the GPU was really given; `settled`: the picture on the screen will not get better by itself.
  get stats(): { bodies: number; spheres: number; meshes: number; ghosts: number; chains: number; frameMs: number; settled: boolean } {
    return {
      bodies: this.#frame?.count ?? 0, spheres: this.#spheres.count + this.#ghostSpheres.count,
      meshes: this.#solids.count + this.#ghostSolids.count + (this.#rows ? this.#rows.walls.length + this.#rows.ghostWalls.length : 0),
      ghosts: this.#ghostSpheres.count + this.#ghostSolids.count + (this.#rows?.ghostWalls.length ?? 0),
      chains: this.#chainLines.count, frameMs: this.#frameMs, settled: !this.#changed && this.#rested,
    };
  }

  /* ---- what is shown ---- */

  show(frame: Frame): void {
    const first = this.#frame === null, newHead = this.#frame?.head !== frame.head;
    const regrouped = newHead || this.#frame?.shape !== frame.shape || this.#frame?.fixed !== frame.fixed || this.#rules.length > 0;
    if (newHead) this.#moveOrigin(frame.head);
    this.#frame = frame;
    if (regrouped || !this.#rows) this.#sort(frame);
    const opening = first || (!this.#touched && (this.#fresh || !this.#alive));
    this.#alive = frame.fixed.includes(0);
    if (opening || this.#fresh) this.#setBounds(this.#room);
    this.#fresh = false;
    this.#reach = farthest(frame, centre(this.#bounds));
    this.#showBodies();
    this.#recolour();
    this.#showChains();
    if (newHead) this.#showSlice();
    this.#showSelected();
    this.#shadow.stale();
    if (opening) this.#aim(VIEWS.home, true);
    this.draw();
  }

  #sort(frame: Frame): void {
    this.#rows = sortRows(frame, this.#orbit.axes.up, stylesOf(frame, this.#rules), this.#container);
  }

  #showBodies(): void {
    const frame = this.#frame!, { spheres, solids, ghostSpheres, ghostSolids } = this.#rows!;
    this.#spheres.show(frame, spheres);
    this.#solids.show(frame, solids);
    this.#ghostSpheres.show(frame, ghostSpheres);
    this.#ghostSolids.show(frame, ghostSolids);
    this.#showWalls();
  }

  // A box of the scene that views shall hold beside the frame shown.
  include(lo: Vec3, hi: Vec3): void {
    const box = moved({ lo, hi }, scale(this.#origin, -1));
    this.#included = joined(this.#included ?? box, box);
    this.#setBounds(this.#frame && boundsOf(this.#frame) ? joined(this.#bounds, box) : this.#included);
    this.#showWalls();
    if (this.#fitted?.view) this.#aim({}, true);
    this.draw();
  }

  // What the frame takes; where it is empty, what others take, or a few bodies would.
  get #room(): Box {
    const ten = 10 * this.#frame!.head.radius;
    return boundsOf(this.#frame!) ?? this.#included ?? { lo: [-ten, -ten, -ten], hi: [ten, ten, ten] };
  }

  // The next frame is of another run: bounds anew, and the camera if nobody has moved it.
  forget(): void {
    this.#fresh = true;
    this.#included = null;
  }

  // Coordinates are relative to the head's origin; a new head may have another.
  #moveOrigin(head: Head): void {
    this.#orbit.axes = frameAbout(head.gravity);
    const by = sub(this.#origin, head.origin);
    this.#origin = head.origin;
    this.#bounds = moved(this.#bounds, by);
    this.#orbit.target = add(this.#orbit.target, by);
    if (this.#included) this.#included = moved(this.#included, by);
    if (this.#fitted) this.#fitted.box = moved(this.#fitted.box, by);
  }

  #showWalls(): void {
    if (!this.#frame || !this.#rows) return;
    const { walls, ghostWalls, allWalls } = this.#rows;
    this.#walls.show(this.#frame, walls, allWalls, this.#bounds, this.#orbit.axes);
    this.#ghostWalls.show(this.#frame, ghostWalls, allWalls, this.#bounds, this.#orbit.axes);
  }

  #setBounds(box: Box): void {
    this.#bounds = box;
    this.#orbit.nearest = 1e-3 * diagonal(this.#bounds);
    this.#orbit.farthest = 40 * diagonal(this.#bounds);
    this.#shadow.stale();
  }

  // No scale: from the frame's own values.
  setColour(by: ColourBy, scale: Scale | null): void {
    this.#by = by;
    this.#wantedScale = scale;
    this.#recolour();
    this.draw();
  }

  #recolour(): void {
    const frame = this.#frame;
    if (!frame) return;
    if (this.#values.length < frame.count) this.#values = new Float32Array(Math.ceil(1.25 * frame.count));
    colourValues(frame, this.#by, this.#values);
    for (const drawn of [this.#spheres, this.#solids, this.#ghostSpheres, this.#ghostSolids]) drawn.colour(this.#values);
    this.scale = isCategory(this.#by) ? null : this.#wantedScale ?? scaleOf(frame, this.#by);
    this.#setMap();
  }

  #setMap(): void {
    const map = colourMap(this.#by, this.scale, this.#dark ? DARK : LIGHT), texture = this.#shared.uMap.value;
    (texture.image.data as Uint8Array).set(map.texels);
    texture.minFilter = texture.magFilter = map.smooth ? LinearFilter : NearestFilter;
    texture.needsUpdate = true;
    const value = (x: number): number => (map.log ? Math.log(Math.max(x, 1e-30)) : x);
    const span = value(map.high) - value(map.low);
    this.#shared.uMapPlace.value.set(map.first, map.last, value(map.low), span > 0 ? 1 / span : 0);
    this.#shared.uMapLog.value = map.log ? 1 : 0;
  }

  // The threshold is in multiples of the frame's mean chain force, at least 1.
  setChains(on: boolean, threshold: number): void {
    this.#chains = { on, threshold };
    this.#showChains();
    this.draw();
  }

  // The strongest chain force of the scale of chains, N, and the weakest that is drawn; null: no chains are drawn.
  get chainScale(): { high: number; least: number } | null {
    return this.#chainLines.scale;
  }

  #showChains(): void {
    const chains = this.#frame?.chains, on = this.#chains.on && !!chains;
    if (on) this.#chainLines.show(chains, this.#chains.threshold, this.#frame!.head.radius);
    else this.#chainLines.hide();
    this.#veil();
  }

  // A slice of a continuum field, in the scene's frame; null: none.
  setSlice(slice: FieldSlice | null): void {
    if (slice === this.#slice) return;
    this.#slice = slice;
    this.#showSlice();
    this.draw();
  }

  #showSlice(): void {
    if (this.#slice) this.#slicePlane.show(this.#slice, moved(this.#bounds, this.#origin), this.#origin);
    else this.#slicePlane.hide();
    this.#veil();
  }

  // Bodies are pale behind chains and slices.
  #veil(): void {
    this.#shared.uVeil.value.w = this.#slice || (this.#chains.on && this.#frame?.chains) ? CHAINS.bodies : 1;
  }

  setClip(clip: Clip | null): void {
    if ((clip === null) !== (this.#clip === null)) for (const drawn of [this.#solids, this.#ghostSolids]) drawn.setCut(clip !== null);
    this.#clip = clip;
    this.draw();
  }

  // The clip plane in the scene's frame. Not flipped, it takes away what lies towards the viewer at home.
  get #cut(): Cut | null {
    if (!this.#clip) return null;
    const c = { x: 0, y: 1, z: 2 }[this.#clip.axis], { lo, hi } = this.#bounds;
    const home = direction(this.#orbit.axes, VIEWS.home.azimuth, VIEWS.home.elevation)[c]!;
    const sign = home < 0 !== this.#clip.flip ? -1 : 1, at = lo[c]! + (hi[c]! - lo[c]!) * this.#clip.at;
    const normal: Vec3 = [0, 0, 0];
    normal[c] = sign;
    return { normal, offset: sign * at };
  }

  setContainer(how: Container): void {
    if (how !== this.#container) this.#reseen(() => (this.#container = how));
  }

  // How bodies are seen that are not seen as others are.
  setRules(rules: readonly Rule[]): void {
    if (JSON.stringify(rules) !== JSON.stringify(this.#rules)) this.#reseen(() => (this.#rules = rules));
  }

  // Changes what decides how bodies are seen, and shows them so.
  #reseen(change: () => void): void {
    change();
    if (!this.#frame) return;
    this.#sort(this.#frame);
    this.#showBodies();
    this.#recolour();
    this.#shadow.stale();
    this.#showSelected();
    this.draw();
  }

  // Motion in full resolution however long it takes: for films.
  setWhole(on: boolean): void {
    this.#whole = on;
    this.draw();
  }

  setTheme(dark: boolean): void {
    this.#dark = dark;
    const theme = dark ? DARK : LIGHT;
    const screen = (hex: string): Vec3 => rgb(hex).map((v) => v / 255) as Vec3, linear = (hex: string): Vec3 => rgb(hex).map(toLinear) as Vec3;
    this.#renderer.setClearColor(new Color().setRGB(...screen(theme.background)), 1);
    this.#shared.uBackground.value.set(...linear(theme.background));
    this.#shared.uFixed.value.set(...linear(theme.fixed));
    for (const walls of [this.#walls, this.#ghostWalls]) {
      walls.ghost.set(...screen(theme.ghost));
      walls.opacity.set(theme.face, theme.edge);
      walls.lines.ink.set(...screen(theme.ghost), theme.line);
    }
    this.#shared.uVeil.value.set(...linear(theme.veil), this.#shared.uVeil.value.w);
    this.#slicePlane.arrows.ink.set(...screen(LIGHT.ink), 1); // the cells are as bright in both themes
    this.#ring.ink.set(...screen(theme.ink));
    this.#ring.paper.set(...screen(theme.background));
    this.#outlines.forEach((o, k) => o.ink.set(...screen(theme.ink), k === 0 ? 0.3 : 1));
    this.#setMap();
    this.draw();
  }

  // The body is marked while it lives; 0: none.
  select(id: number): void {
    this.#selected = id;
    this.#showSelected();
    this.draw();
  }

  #showSelected(): void {
    this.#ring.hide();
    for (const o of this.#outlines) o.show([]);
    const frame = this.#frame, row = frame ? rowOf(frame, this.#selected) : -1;
    if (!frame || row < 0 || !this.#isSeen(row)) return;
    if (frame.head.shapes[frame.shape[row]!]!.drawn === "sphere") this.#ring.show(...positionOf(frame, row), frame.radius[row]!);
    else for (const o of this.#outlines) o.show(outlineOf(frame, row, this.#bounds, this.#orbit.axes));
  }

  #isSeen(row: number): boolean {
    const frame = this.#frame!, style: Style = stylesOf(frame, this.#rules)?.[row] ?? Style.auto;
    return seenAs(style, frame.fixed[row] !== 0, this.#rows!.allWalls.includes(row), this.#container) !== Style.hidden;
  }

  /* ---- camera ---- */

  #cameraMoved(): void {
    this.draw();
    for (const listener of this.#listeners) listener();
  }

  onViewChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  // Before every picture: for what stands over it.
  onPicture(listener: () => void): void {
    this.#drawn.push(listener);
  }

  // Holds the frame and what was included; fit holds the frame alone.
  view(name: ViewName): void {
    this.#aim(VIEWS[name], true);
    this.#cameraMoved();
  }

  fit(): void {
    this.#aim({}, false);
    this.#cameraMoved();
  }

  #aim(from: Partial<Orbit>, view: boolean): void {
    if (!this.#frame) return;
    Object.assign(this.#orbit, from);
    const room = this.#room, box = view && this.#included ? joined(room, this.#included) : room;
    this.#setBounds(joined(this.#bounds, box));
    this.#showWalls();
    this.#orbit.fit(box);
    this.#fitted = { box, view };
  }

  // A short description of the view that setCamera takes back.
  camera(): number[] {
    const o = this.#orbit;
    return [...add(o.target, this.#origin), o.distance, o.azimuth, o.elevation].map((v) => Number(v.toPrecision(6)));
  }

  setCamera(description: number[]): void {
    if (description.length !== 6 || !description.every(Number.isFinite) || !(description[3]! > 0)) return;
    const [x, y, z, distance, azimuth, elevation] = description as [number, number, number, number, number, number];
    Object.assign(this.#orbit, { target: sub([x, y, z], this.#origin), distance, azimuth, elevation: Math.max(-90, Math.min(90, elevation)) });
    this.#touched = true;
    this.#fitted = null;
    this.#cameraMoved();
  }

  // The body at CSS pixels within the canvas.
  pick(x: number, y: number): { row: number; id: number } | null {
    const hit = this.#meet(x, y, false);
    return hit && { row: hit.row, id: hit.id };
  }

  // A place in the scene and the body that it is on: of ghosted walls too, where nothing else is met.
  pickPlace(x: number, y: number): { place: Vec3; id: number } | null {
    const hit = this.#meet(x, y, false) ?? this.#meet(x, y, true);
    return hit && { place: add(along(this.#orbit.eye, this.#orbit.rayAt(x, y).way, hit.at), this.#origin), id: hit.id };
  }

  #meet(x: number, y: number, ghosts: boolean): { row: number; id: number; at: number } | null {
    const frame = this.#frame, rows = this.#rows;
    if (!frame || !rows) return null;
    const ray = this.#orbit.rayAt(x, y), span = spanOf(ray, this.#cut), walls = ghosts ? this.#ghostWalls : this.#walls;
    const vessel = (row: number): boolean => isVessel(frame.head.shapes[frame.shape[row]!]!);
    let hit = pickSpheres(frame, ghosts ? rows.ghostSpheres : rows.spheres, ray, span);
    for (const { rows: of } of ghosts ? rows.ghostSolids : rows.solids) hit = pickSolids(frame, of, ray, span, hit);
    if (walls.triangles) hit = pickWalls(walls.triangles, (row, facing) => vessel(row) !== facing, ray, span, hit);
    return hit.row < 0 ? null : { row: hit.row, id: frame.id[hit.row]!, at: hit.at };
  }

  // Where a place of the scene is in the picture, CSS pixels; null: behind the eye.
  project(place: Vec3): [number, number] | null {
    const o = this.#orbit, d = sub(sub(place, this.#origin), o.eye), depth = -dot(d, o.back), k = 1 / (o.pixel * depth);
    return depth > 0 ? [o.width / 2 + k * dot(d, o.right), o.height / 2 - k * dot(d, o.up)] : null;
  }

  // What a scale bar and axes need: how long a CSS pixel is at the middle of the view, m, and the axes x, y, z in the picture,
  // to the right and up, 1 long where they are seen from the side.
  get gauge(): { pixel: number; axes: [number, number][] } {
    const o = this.#orbit;
    return { pixel: o.pixel * o.distance, axes: [0, 1, 2].map((c) => [o.right[c]!, o.up[c]!]) };
  }

  get up(): Vec3 {
    return this.#orbit.axes.up;
  }

  /* ---- pictures ---- */

  // After the canvas has changed its size.
  resize(): void {
    this.#orbit.width = Math.max(1, this.canvas.clientWidth);
    this.#orbit.height = Math.max(1, this.canvas.clientHeight);
    if (this.#fitted) this.#orbit.fit(this.#fitted.box);
    this.#ratio = 0;
    this.draw();
  }

  // Asks for a picture, which is drawn at the next animation frame.
  draw(): void {
    this.#changed = true;
    this.#lastChange = performance.now();
    this.#ask();
  }

  #ask(): void {
    if (this.#asked === 0) this.#asked = requestAnimationFrame(() => this.#tick());
  }

  #tick(): void {
    this.#asked = 0;
    if (this.#lost) return;
    if (this.#changed) {
      this.#changed = false;
      this.#sample = 0;
      this.#rested = false;
      this.#picture(false);
      this.#ask();
      return;
    }
    if (performance.now() - this.#lastChange < REST || this.#fence) {
      this.#pollFence();
      window.setTimeout(() => this.#ask(), 25);
      return;
    }
    if (this.#rested) return;
    const now = performance.now();
    if (this.#sample === 0) this.#restFrom = now;
    this.#picture(true);
    this.#sample++;
    this.#rested = this.#sample >= SAMPLES[this.#quality] || now - this.#restFrom > LONGEST_REST || !this.#pipeline.averages;
    this.#ask();
  }

  #setRatio(ratio: number): void {
    if (ratio === this.#ratio) return;
    this.#ratio = ratio;
    this.#renderer.setPixelRatio(ratio);
    this.#renderer.setSize(this.#orbit.width, this.#orbit.height, false);
  }

  // Brings uniforms in line with camera, clip plane and light.
  #prepare(shadows: boolean): void {
    const orbit = this.#orbit, middle = centre(this.#bounds), reach = Math.max(this.#reach, 0.6 * diagonal(this.#bounds), this.#ghostWalls.reach);
    const away = dot(orbit.back, [orbit.eye[0] - middle[0], orbit.eye[1] - middle[1], orbit.eye[2] - middle[2]]);
    const far = Math.max(away + 1.05 * reach, 0.01 * reach), near = Math.max(away - 1.05 * reach, far / 5000);
    orbit.apply(this.#camera, near, far);
    const s = this.#shared, cut = this.#cut, plane = new Vector4(0, 0, 0, 1);
    if (cut) plane.set(...cut.normal, cut.offset);
    planeInView(plane, this.#camera.matrixWorldInverse, s.uClip.value);
    const light = direction(orbit.axes, orbit.azimuth + KEY.azimuth, KEY.elevation);
    s.uKey.value.set(...light).transformDirection(this.#camera.matrixWorldInverse);
    s.uUp.value.set(...orbit.axes.up).transformDirection(this.#camera.matrixWorldInverse);
    s.uShadowOn.value = shadows ? 1 : 0;
    if (shadows) {
      this.#shadow.draw(this.#renderer, this.#bounds, light, orbit.axes.up, plane);
      this.#shadow.place(this.#camera.matrixWorld);
    }
    const size = { x: this.canvas.width, y: this.canvas.height };
    for (const listener of this.#drawn) listener();
    s.uScreen.value.set(size.x, size.y);
    s.uPixel.value = (orbit.pixel * orbit.height) / size.y;
    const wide = size.y / orbit.height;
    this.#ring.wide = wide;
    for (const walls of [this.#walls, this.#ghostWalls]) walls.lines.width = GHOST.lineWidth * wide;
    for (const o of this.#outlines) o.width = 2.5 * wide;
  }

  #picture(resting: boolean): void {
    const start = performance.now(), full = this.#quality === "full", coarse = !resting && this.#level > 0 && !this.#whole;
    this.#setRatio(Math.min(devicePixelRatio || 1, full ? 2 : 1) * (coarse ? RATIOS[this.#level]! : 1));
    this.#prepare(!coarse);
    const look = { reach: 2.5 * (this.#frame?.head.radius ?? 1), crevices: resting || (full && !coarse) };
    this.#shared.uThin.value = resting ? thinOf(this.#sample) : 0;
    if (resting && this.#pipeline.averages) this.#pipeline.refine(this.#scene, this.#camera, look, this.#sample);
    else this.#pipeline.draw(this.#scene, this.#camera, look);
    if (!resting) this.#measure(start);
  }

  // How long a picture takes, by a fence behind it: what drawing calls take says nothing of the GPU.
  #measure(start: number): void {
    this.#pollFence();
    if (this.#fence) return;
    const gl = this.#renderer.getContext() as WebGL2RenderingContext;
    this.#fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    this.#fenceFrom = start;
    gl.flush();
  }

  #pollFence(): void {
    const gl = this.#renderer.getContext() as WebGL2RenderingContext;
    if (!this.#fence || gl.getSyncParameter(this.#fence, gl.SYNC_STATUS) !== gl.SIGNALED) return;
    gl.deleteSync(this.#fence);
    this.#fence = null;
    this.#frameMs = performance.now() - this.#fenceFrom;
    // One slow picture says little: the first of its kind waits for its shaders.
    this.#slow = this.#frameMs > SLOW ? this.#slow + 1 : 0;
    if (this.#slow > 2) this.#level = Math.min(RATIOS.length - 1, this.#level + 1);
    else if (this.#frameMs < QUICK) this.#level = Math.max(0, this.#level - 1);
  }

  // A PNG of the present view.
  async still(scale = 1): Promise<Blob> {
    const { width, height } = this.#orbit, most = Math.sqrt(MOST_PIXELS / (width * height));
    this.#setRatio(Math.min(scale, most, this.#renderer.capabilities.maxTextureSize / Math.max(width, height)));
    this.#prepare(true);
    const look = { reach: 2.5 * (this.#frame?.head.radius ?? 1), crevices: true };
    const samples = Math.max(1, Math.min(SAMPLES[this.#quality], LONGEST_STILL / this.#frameMs));
    if (this.#pipeline.averages) for (let k = 0; k < samples; k++) {
      this.#shared.uThin.value = thinOf(k);
      this.#pipeline.refine(this.#scene, this.#camera, look, k);
    }
    else this.#pipeline.draw(this.#scene, this.#camera, look);
    // The canvas is read before anything else can draw on it.
    const blob = await new Promise<Blob | null>((done) => this.canvas.toBlob(done, "image/png"));
    this.draw();
    if (!blob) throw new Error("the browser could not make a PNG of the picture");
    return blob;
  }
}

// What the parts of the viewer share: frames as they are shown, where they come from, and how they are seen.
// docs/reference/frames.md describes the file.

import type { FieldsTable } from "./data/fields";
import type { OwnersTable } from "./data/owners";
import type { StepsTable } from "./data/steps";

export type Vec3 = [number, number, number];

// How a shape is seen. Spheres have the radius of their body, half spaces are solid below z = 0 of it; others are
// triangles: solids of convex pieces, surfaces whose normals point away from what they hold (vessel), those of which
// either side may be the inner one (sheet), those that are stood on (ground).
export type Drawn = "sphere" | "half space" | "solid" | "vessel" | "sheet" | "ground";

// Triangles in the body's frame.
export interface Surface {
  position: Float32Array;
  normal: Float32Array;
  triangles: Uint32Array;
  lines: Float32Array; // two points each: sharp edges and free rims, or where it has none, sections through the middle
}

export interface Shape { kind: string; drawn: Drawn; levels: Surface[] } // levels of detail, coarse to fine

// Bodies of one entry of the scene: numbers first to last, Infinity for all that come later. By ascending numbers.
export interface Entry { name: string; first: number; last: number }

export interface Material { name: string; friction: number; density: number }

export interface Head {
  title: string;
  scene: string;
  gravity: Vec3;
  step: number;
  radius: number;
  quantum: number;
  origin: Vec3;
  detail: "full" | "lean";
  shapes: Shape[];
  materials: Material[];
  entries: Entry[];
}

export interface FrameInfo { offset: number; size: number; time: number; step: number; key: boolean; bodies: number }

// One frame, decoded. Positions are relative to head.origin, so that single precision is enough.
export interface Frame {
  head: Head;
  time: number;
  step: number;
  count: number;
  contacts: number;           // of the step
  id: Float64Array;           // numbers of bodies, each given once in a run; 0 is none
  position: Float32Array;     // 3 per body
  orientation: Float32Array;  // w x y z per body; identity for spheres
  velocity: Float32Array | null; // 3 per body; null in lean frames
  speed: Float32Array;
  force: Float32Array;
  touching: Uint8Array | null;
  dissipated: Float32Array | null; // J; null: the run does not sum it
  radius: Float32Array;
  shape: Uint16Array;
  material: Uint16Array;
  tag: Int32Array;
  fixed: Uint8Array;
  layer: Uint8Array;
  rank: Int32Array | null;    // that computed the body; null: not known
  chains: Chains | null;      // null in lean frames
}

export interface Chains { count: number; from: Float32Array; to: Float32Array; force: Float32Array } // ends, 3 each, relative to origin

export type RunState = "running" | "paused" | "finished" | "stopped" | "failed" | "died";

export interface Status {
  state: RunState; step: number; time: number; until: number; stepsPerSecond: number; message: string;
  control: boolean;           // the run can be paused and stopped from here
}

// Where frames come from: the page itself, or the server, which may still be following a run.
export interface Source {
  readonly title: string;
  readonly scene: string;
  readonly note: string;
  readonly producer: string;             // the program that wrote the page
  readonly served: boolean;
  readonly frames: readonly FrameInfo[]; // grows while a run goes on
  readonly steps: StepsTable;            // grows as well
  readonly owners: OwnersTable;          // of a served run on several ranks; else nothing is known
  readonly fields: FieldsTable;          // of a served run beside which fields were measured
  readonly status: Status;
  load(index: number): Promise<Frame>;   // decodes from the nearest key frame; recent frames are kept
  glance(index: number): Promise<Frame>; // the same in passing: nothing is kept or read ahead for it
  onChange(listener: () => void): void;  // frames, steps or status have changed
  onTrouble(listener: (message: string | null) => void): void; // the server is gone; null: it is back
  control(action: "pause" | "run" | "stop"): Promise<void>;
}

export type ColourBy = "speed" | "force" | "touching" | "id" | "layer" | "material" | "tag" | "rank" | "entry" | "radius" | "dissipated";
export type Container = "shown" | "ghost" | "hidden";
// Bodies of an entry (by its name), tag (as a number) or material (by its name) that are seen in another way than others.
export interface Rule { by: "entry" | "tag" | "material"; key: string; how: Container }
export type Axis = "x" | "y" | "z";
export type ViewName = "home" | "front" | "side" | "top";

export interface Scale { low: number; high: number; log: boolean } // of a colour scale; categories have none

// A slice of a field of fields.csv; `at` from 0 to 1 across its grid.
export interface Slice { field: string; axis: Axis; at: number }

// `at` from 0 to 1 across the scene's bounds; not flipped, the side towards the viewer at "home" is cut away.
export interface Clip { axis: Axis; at: number; flip: boolean }

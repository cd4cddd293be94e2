// A frame's chunks into the arrays that are shown. A frame that is not a key frame builds on the one before it.
// Arrays that have not changed are shared between frames, which keeps a long row of decoded frames small.

import type { Chains, Frame, Head } from "../types";
import { Arrays, Name, type Before, type Part } from "./arrays";
import { openFrame } from "./file";

// A frame with the numbers that the next one is predicted from.
export interface Decoded {
  frame: Frame;
  grid: Int32Array;  // positions in quanta, 3 per body
  turns: Int32Array; // orientations times 32767, 4 per body that is not a sphere
  bytes: number;     // of memory that this frame does not share with the one before
}

type Numbers = Int32Array | Float32Array | Float64Array | Uint8Array | Uint16Array;

function sameNumbers(a: Numbers, b: Numbers): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

interface Population {
  id: Float64Array;
  rows: Int32Array | null; // each body's row in the frame before, -1 for none; null: the same rows
  fresh: number;           // bodies that the frame before does not have
}

const HIGH = 2 ** 32; // what the upper half of a number counts

const PART = 2 ** 16;  // numbers of bodies in a part of a frame
const partOf = (id: number): number => Math.floor((id - 1) / PART);

// Numbers are told as differences from the body that is next in the frame before (docs/reference/frames.md), in a frame in parts from the next of
// the same part: those that stay keep their order, those that come have larger numbers than all that were there.
function idsOfNumbers(steps: Int32Array, old: Float64Array, parts: Part[]): Pick<Population, "id" | "rows"> {
  const n = steps.length / 2, id = new Float64Array(n), rows = new Int32Array(n).fill(-1);
  let first = 0, from = 0;
  for (const { number: part, bodies } of parts) {
    while (part !== null && from < old.length && partOf(old[from]!) < part) from++;
    let end = part === null ? old.length : from, newest = 0;
    while (end < old.length && partOf(old[end]!) === part) end++;
    for (let row = from; row < end; row++) newest = Math.max(newest, old[row]!);
    for (let k = first, row = from; k < first + bodies; k++) {
      const guess = row < end ? old[row]! : k > first ? id[k - 1]! : 0;
      const number = id[k] = guess + steps[2 * k + 1]! * HIGH + (steps[2 * k]! >>> 0);
      if (!(number >= 1 && number <= Number.MAX_SAFE_INTEGER)) throw new Error(`array number: ${number} in row ${k}`);
      if (part !== null && partOf(number) !== part) throw new Error(`array number: ${number} in row ${k} is not of part ${part}`);
      if (number > newest) continue;
      while (row < end && old[row] !== number) row++;
      if (row === end) throw new Error(`array number: ${number} in row ${k} is not in the frame before, or in another order`);
      rows[k] = row++;
    }
    first += bodies;
    from = end;
  }
  return { id, rows };
}

// Of files before version 3: slots, which ascend, and how many bodies each has had.
function idsOfSlots(index: Uint32Array, generation: Uint32Array, old: Float64Array): Pick<Population, "id" | "rows"> {
  const n = index.length, id = new Float64Array(n), rows = new Int32Array(n).fill(-1);
  for (let k = 0, row = 0; k < n; k++) {
    if (k > 0 && index[k]! <= index[k - 1]!) throw new Error(`array index: ${index[k]} in row ${k} after ${index[k - 1]}; it must ascend`);
    id[k] = (generation[k]! - 1) * HIGH + index[k]! + 1;
    while (row < old.length && (old[row]! - 1) % HIGH < index[k]!) row++;
    if (row < old.length && old[row] === id[k]) rows[k] = row;
  }
  return { id, rows };
}

async function readPopulation(arrays: Arrays, key: boolean, before: Decoded | null): Promise<Population> {
  const n = arrays.bodies, old = before?.frame.id ?? new Float64Array(0), base = key ? new Float64Array(0) : old;
  const steps = await arrays.integers(Name.number, n), i = await arrays.integers(Name.index, n), g = await arrays.integers(Name.generation, n);
  if (!steps && (!i || !g)) throw new Error("frame without the array number");
  const { id, rows } = steps ? idsOfNumbers(steps, base, arrays.parts) : idsOfSlots(new Uint32Array(i!.buffer), new Uint32Array(g!.buffer), base);
  const same = sameNumbers(id, old);
  if (same && !key) return { id: old, rows: null, fresh: 0 };
  return { id: same ? old : id, rows, fresh: rows!.reduce((sum, row) => sum + (row < 0 ? 1 : 0), 0) };
}

// What a body brings when it comes and keeps: its columns, and their arrays in a frame.
const KEPT = {
  radius: [Name.radius, Float32Array], shape: [Name.shape, Uint16Array], material: [Name.material, Uint16Array],
  tag: [Name.tag, Int32Array], fixed: [Name.fixed, Uint8Array], layer: [Name.layer, Uint8Array],
} as const;
type Kept = Pick<Frame, keyof typeof KEPT>;

function checkNumbers(name: string, values: ArrayLike<number> | null, count: number): void {
  for (let k = 0; values && k < values.length; k++) {
    if (values[k]! < 0 || values[k]! >= count) throw new Error(`array ${name}: number ${values[k]}; the head has ${count} of them`);
  }
}

// New bodies bring their values; the others keep what they had. Key frames repeat what has not changed: the copy is dropped again.
async function readKept(arrays: Arrays, head: Head, { rows, fresh: n }: Population, before: Frame | null): Promise<Kept> {
  const kept: Partial<Record<keyof Kept, Numbers>> = {};
  for (const [column, [name, Form]] of Object.entries(KEPT) as [keyof Kept, (typeof KEPT)[keyof Kept]][]) {
    const news = await (column === "radius" ? arrays.floats(name, n) : arrays.integers(name, n)), old = before?.[column];
    if (n > 0 && !news && (column === "radius" || column === "shape")) throw new Error(`frame with ${n} new bodies and without their ${column}`);
    if (column === "shape" || column === "material") checkNumbers(column, news, head[`${column}s`].length);
    const out = rows ? new Form(rows.length) : old!;
    for (let k = 0, next = 0; rows && k < rows.length; k++) out[k] = rows[k]! >= 0 ? old![rows[k]!]! : news ? news[next++]! : 0;
    kept[column] = old && sameNumbers(out, old) ? old : out;
  }
  return kept as Kept;
}

// Which bodies are not spheres.
function rowsWithTurn(head: Head, shape: Uint16Array): Int32Array {
  const turning = head.shapes.map((s) => s.drawn !== "sphere");
  if (!turning.includes(true)) return new Int32Array(0);
  let n = 0;
  for (let k = 0; k < shape.length; k++) if (turning[shape[k]!]) n++;
  const rows = new Int32Array(n);
  n = 0;
  for (let k = 0; k < shape.length; k++) if (turning[shape[k]!]) rows[n++] = k;
  return rows;
}

// For each turned body its place among the turned bodies of the frame before.
function turnsBefore(turned: Int32Array, people: Population, before: Decoded): Before {
  if (!people.rows) return { values: before.turns, rows: null };
  const old = before.frame, place = new Int32Array(old.count).fill(-1);
  rowsWithTurn(old.head, old.shape).forEach((row, k) => (place[row] = k));
  const rows = turned.map((row) => {
    const o = people.rows![row]!;
    return o < 0 ? -1 : place[o]!;
  });
  return { values: before.turns, rows };
}

function unitQuaternions(count: number, turned: Int32Array, turns: Int32Array): Float32Array {
  const out = new Float32Array(4 * count);
  for (let k = 0; k < count; k++) out[4 * k] = 1;
  for (let k = 0; k < turned.length; k++) {
    const w = turns[4 * k]!, x = turns[4 * k + 1]!, y = turns[4 * k + 2]!, z = turns[4 * k + 3]!;
    const length = Math.hypot(w, x, y, z);
    if (length === 0) continue;
    const at = 4 * turned[k]!;
    out[at] = w / length;
    out[at + 1] = x / length;
    out[at + 2] = y / length;
    out[at + 3] = z / length;
  }
  return out;
}

function lengths(v: Float32Array): Float32Array {
  const out = new Float32Array(v.length / 3);
  for (let i = 0, k = 0; i < out.length; i++, k += 3) out[i] = Math.sqrt(v[k]! * v[k]! + v[k + 1]! * v[k + 1]! + v[k + 2]! * v[k + 2]!);
  return out;
}

function scaled(grid: Int32Array, quantum: number): Float32Array {
  const out = new Float32Array(grid.length);
  for (let i = 0; i < out.length; i++) out[i] = grid[i]! * quantum;
  return out;
}

const LARGE = 3; // times the radius of the other: a chain ends at the contact point of such a body, not at its centre

// Which of the two moving bodies of a chain is large beside the other: 0 or 1; -1: neither.
const largeEnd = (a: number, b: number): number => (a > LARGE * b ? 0 : b > LARGE * a ? 1 : -1);

async function readChains(arrays: Arrays, head: Head, position: Float32Array, { fixed, radius }: Kept): Promise<Chains | null> {
  if (head.detail === "lean") return null;
  const n = arrays.tuples(Name.chain_a), bodies = arrays.bodies;
  const a = await arrays.integers(Name.chain_a, n), b = await arrays.integers(Name.chain_b, n), force = await arrays.floats(Name.chain_force, n);
  const chains: Chains = { count: n, from: new Float32Array(3 * n), to: new Float32Array(3 * n), force: force ?? new Float32Array(0) };
  if (n === 0) return chains;
  if (!a || !b || !force) throw new Error("frame with chain_a and without chain_b or chain_force");
  let walls = 0, large = 0;
  for (let k = 0; k < n; k++) {
    const second = a[k]! + b[k]!;
    if (a[k]! < 0 || a[k]! >= bodies || second < 0 || second >= bodies) throw new Error(`chain ${k}: rows ${a[k]} and ${second}; the frame has ${bodies} bodies`);
    if (fixed[second]) walls++;
    else if (largeEnd(radius[a[k]!]!, radius[second]!) >= 0) large++;
  }
  const point = await arrays.integers(Name.chain_point, walls);
  if (walls > 0 && !point) throw new Error("frame with chains to fixed bodies and without chain_point");
  const end = await arrays.integers(Name.chain_end, arrays.tuples(Name.chain_end) === 0 ? 0 : large); // older files have none
  for (let k = 0, wall = 0, next = 0; k < n; k++) {
    const second = a[k]! + b[k]!, i = 3 * a[k]!, j = 3 * second, toWall = fixed[second] !== 0;
    const which = !toWall && end ? largeEnd(radius[a[k]!]!, radius[second]!) : -1, small = which === 0 ? j : i;
    for (let c = 0; c < 3; c++) {
      const met = toWall ? position[i + c]! + point![3 * wall + c]! * head.quantum : which >= 0 ? position[small + c]! + end![3 * next + c]! * head.quantum : 0;
      chains.from[3 * k + c] = which === 0 ? met : position[i + c]!;
      chains.to[3 * k + c] = toWall || which === 1 ? met : position[j + c]!;
    }
    if (toWall) wall++;
    if (which >= 0) next++;
  }
  return chains;
}

// Bytes of a frame's arrays that are not those of the frame before.
function ownBytes(now: Decoded, before: Decoded | null): number {
  const arrays = (d: Decoded): ArrayBufferLike[] => [...Object.values(d.frame), d.grid, d.turns, ...Object.values(d.frame.chains ?? {})]
    .filter((v): v is Float32Array => ArrayBuffer.isView(v)).map((v) => v.buffer);
  const known = new Set(before ? arrays(before) : []);
  return arrays(now).reduce((sum, b) => sum + (known.has(b) ? 0 : b.byteLength), 0);
}

// Decodes the frame in `bytes`, all of its chunks. `before`, the frame before it, is needed unless this is a key
// frame; given with a key frame it only saves memory.
export async function decodeFrame(bytes: Uint8Array, head: Head, before: Decoded | null): Promise<Decoded> {
  const { parts, frame: chunk } = openFrame(bytes);
  const arrays = new Arrays(chunk.payload, parts.map((part) => part.payload));
  const base = chunk.key ? null : before;
  if (!chunk.key && !before) throw new Error("frame that needs the one before it, which is not there");

  const people = await readPopulation(arrays, chunk.key, before);
  const kept = await readKept(arrays, head, people, before?.frame ?? null);
  const grid = await arrays.integers(Name.position, arrays.bodies, base && { values: base.grid, rows: people.rows });
  if (!grid) throw new Error("frame without the array position");

  const turned = rowsWithTurn(head, kept.shape);
  let turns = await arrays.integers(Name.orientation, turned.length, base && turnsBefore(turned, people, base));
  if (!turns && turned.length > 0) throw new Error(`frame with ${turned.length} bodies that are not spheres and without the array orientation`);
  turns ??= new Int32Array(0);
  const still = before !== null && before.frame.head === head && kept.shape === before.frame.shape && sameNumbers(turns, before.turns);
  const orientation = still ? before.frame.orientation : unitQuaternions(arrays.bodies, turned, turns);

  const position = scaled(grid, head.quantum);
  const velocity = await arrays.floats(Name.velocity, arrays.bodies);
  const touching = await arrays.integers(Name.touching, arrays.bodies);
  const frame: Frame = {
    head, time: chunk.time, step: chunk.step, count: arrays.bodies, contacts: arrays.contacts,
    id: people.id, position, orientation, velocity,
    speed: velocity ? lengths(velocity) : (await arrays.floats(Name.speed, arrays.bodies)) ?? new Float32Array(arrays.bodies),
    force: (await arrays.floats(Name.force, arrays.bodies)) ?? new Float32Array(arrays.bodies),
    touching: touching && new Uint8Array(touching),
    dissipated: await arrays.floats(Name.dissipated, arrays.bodies),
    ...kept,
    rank: null,
    chains: await readChains(arrays, head, position, kept),
  };
  const decoded: Decoded = { frame, grid, turns, bytes: 0 };
  decoded.bytes = ownBytes(decoded, before);
  return decoded;
}

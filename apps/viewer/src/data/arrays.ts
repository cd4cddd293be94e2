// The arrays inside a frame (docs/reference/frames.md): found, inflated, taken out of their byte planes.

import { viewOf } from "./file";

export const enum Name {
  index = 1, generation, position, velocity, speed, orientation, radius, shape, material, tag, fixed, layer, force, touching,
  chain_a, chain_b, chain_force, chain_point, point, normal, triangle, edge, piece, number, chain_end, dissipated = 35,
}
const enum Type { integer = 1, bf16, f32 }

// What the array of each name must be, by its number; other numbers are left out.
const FORMS: ([name: string, type: Type, components: number] | undefined)[] = [undefined,
  ["index", Type.integer, 1], ["generation", Type.integer, 1], ["position", Type.integer, 3], ["velocity", Type.bf16, 3], ["speed", Type.bf16, 1],
  ["orientation", Type.integer, 4], ["radius", Type.f32, 1], ["shape", Type.integer, 1], ["material", Type.integer, 1], ["tag", Type.integer, 1],
  ["fixed", Type.integer, 1], ["layer", Type.integer, 1], ["force", Type.bf16, 1], ["touching", Type.integer, 1], ["chain_a", Type.integer, 1],
  ["chain_b", Type.integer, 1], ["chain_force", Type.bf16, 1], ["chain_point", Type.integer, 3], ["point", Type.f32, 3], ["normal", Type.integer, 3],
  ["triangle", Type.integer, 3], ["edge", Type.integer, 2], ["piece", Type.integer, 1], ["number", Type.integer, 2],
  ["chain_end", Type.integer, 3],
];
FORMS[Name.dissipated] = ["dissipated", Type.f32, 1];
const labelOf = (name: number): string => `array ${FORMS[name]?.[0] ?? name}`;

// Bodies and chains together per byte of a frame: writers fill up frames that would have more, so that no small
// file can ask for much memory.
const MOST_PER_BYTE = 8;

interface Place { type: Type; components: number; prediction: number; width: number; deflated: boolean; tuples: number; data: Uint8Array }

function placeOf(view: DataView, at: number, payload: Uint8Array, label: string): Place {
  const u8 = (k: number): number => view.getUint8(at + k);
  const bytes = view.getUint32(at + 12, true);
  if (bytes > payload.length - at - 16) throw new Error(`${label}: ${bytes} bytes of data, of which ${payload.length - at - 16} are there`);
  return {
    type: u8(1), components: u8(2), prediction: u8(3), width: u8(4), deflated: u8(5) === 1, tuples: view.getUint32(at + 8, true),
    data: payload.subarray(at + 16, at + 16 + bytes),
  };
}

function checkForm(p: Place, name: number, coding: number, label: string): void {
  const [, type, components] = FORMS[name]!;
  if (p.type !== type || p.components !== components) throw new Error(`${label}: type ${p.type} with ${p.components} components; expected ${type} with ${components}`);
  const widths = type === Type.integer ? [1, 2, 4] : type === Type.bf16 ? [2] : [4];
  if (!widths.includes(p.width)) throw new Error(`${label}: values of ${p.width} bytes; expected ${widths.join(" or ")}`);
  if (p.prediction > 2 || (type !== Type.integer && p.prediction !== 0)) throw new Error(`${label}: prediction ${p.prediction} is not one that it can have`);
  if (coding > 1) throw new Error(`${label}: coding ${coding}; expected 0 (stored) or 1 (zlib)`);
}

// Lets the page breathe: decoding a large frame must not hold it for longer than a few pictures.
let breath = 0;
export async function breathe(): Promise<void> {
  const now = performance.now();
  if (now - breath < 12) return;
  await new Promise((done) => setTimeout(done));
  breath = performance.now();
}

// Inflates to exactly `size` bytes. What the stream gives is counted as it comes, so that a few bytes
// that claim to be gigabytes cost nothing.
async function inflate(data: Uint8Array, size: number, label: string): Promise<Uint8Array> {
  const stream = new DecompressionStream("deflate");
  const writer = stream.writable.getWriter();
  // Faults of the data also reach the reader below, where they are reported.
  writer.write(data as Uint8Array<ArrayBuffer>).catch(() => {});
  writer.close().catch(() => {});
  const reader = stream.readable.getReader();
  const parts: Uint8Array[] = [];
  let total = 0;
  for (;;) {
    const { done, value } = await reader.read().catch(() => {
      throw new Error(`${label}: its deflated data are damaged`);
    });
    if (done) break;
    total += value.length;
    if (total > size) {
      reader.cancel().catch(() => {});
      throw new Error(`${label}: inflates to more than the ${size} bytes that it should have`);
    }
    parts.push(value);
  }
  if (total !== size) throw new Error(`${label}: inflates to ${total} bytes; expected ${size}`);
  if (parts.length === 1) return parts[0]!;
  const all = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

// The values of one component as they are on disk, unsigned.
function gather(planes: Uint8Array, component: number, width: number, n: number, out: Uint32Array): void {
  const p = component * width * n;
  if (width === 1) {
    for (let i = 0; i < n; i++) out[i] = planes[p + i]!;
  } else if (width === 2) {
    for (let i = 0; i < n; i++) out[i] = planes[p + i]! | (planes[p + n + i]! << 8);
  } else {
    for (let i = 0; i < n; i++) out[i] = planes[p + i]! | (planes[p + n + i]! << 8) | (planes[p + 2 * n + i]! << 16) | (planes[p + 3 * n + i]! << 24);
  }
}

// What prediction 2 goes by: tuples of the frame before, and for each tuple its row there, -1 for none; no
// rows: the same row.
export interface Before { values: Int32Array; rows: Int32Array | null }

// The bodies of a part of a frame, by its number; a frame that is not in parts is one, without number.
export interface Part { number: number | null; bodies: number }

export class Arrays {
  bodies = 0;
  contacts = 0;
  parts: Part[] = [];
  #places = new Map<number, Place[]>(); // of each array its places in all parts

  // The arrays of a frame: of its parts, one behind the other, if it is in parts.
  constructor(frame: Uint8Array | null, parts: Uint8Array[] = []) {
    if (!frame) return;
    for (const part of parts) this.#addPart(part, true);
    if (parts.length === 0) {
      this.contacts = this.#addPart(frame, false);
      return;
    }
    if (frame.length < 16) throw new Error(`frame of ${frame.length} bytes; its counts alone take 16`);
    const view = viewOf(frame), bodies = view.getUint32(0, true), there = view.getUint32(12, true);
    if (bodies !== this.bodies || there !== parts.length) {
      throw new Error(`frame of ${there} parts with ${bodies} bodies; ${parts.length} with ${this.bodies} are there`);
    }
    this.contacts = view.getUint32(4, true);
  }

  // Takes the arrays of a part; returns its number of contacts.
  #addPart(payload: Uint8Array, numbered: boolean): number {
    if (payload.length < 16) throw new Error(`frame of ${payload.length} bytes; its counts alone take 16`);
    const view = viewOf(payload), bodies = view.getUint32(0, true), arrays = view.getUint32(8, true), before = this.tuples(Name.chain_a);
    const number = numbered ? view.getUint32(12, true) : null, last = this.parts.at(-1)?.number ?? -1;
    if (number !== null && number <= last) throw new Error(`part ${number} after part ${last}; they must ascend`);
    const taken = new Set<number>();
    let at = 16;
    for (let k = 0; k < arrays; k++) {
      if (at + 16 > payload.length) throw new Error(`frame says ${arrays} arrays; it ends within number ${k + 1}`);
      at = this.#take(view, at, payload, taken);
    }
    const most = MOST_PER_BYTE * payload.length, chains = this.tuples(Name.chain_a) - before;
    if (bodies + chains > most) throw new Error(`frame of ${payload.length} bytes that claims ${bodies} bodies and ${chains} chains; at most ${most} are read`);
    this.parts.push({ number, bodies });
    this.bodies += bodies;
    return view.getUint32(4, true);
  }

  // Arrays that follow one another from `at` to the end, or to a zero.
  static list(payload: Uint8Array, at: number): Arrays {
    const arrays = new Arrays(null), view = viewOf(payload), taken = new Set<number>();
    while (at < payload.length && payload[at] !== 0) {
      if (at + 16 > payload.length) throw new Error("arrays that end within one");
      at = arrays.#take(view, at, payload, taken);
    }
    return arrays;
  }

  // Takes the array that begins here; where the next one does. `taken`: the names that this part has so far.
  #take(view: DataView, at: number, payload: Uint8Array, taken: Set<number>): number {
    const name = view.getUint8(at), label = labelOf(name);
    const place = placeOf(view, at, payload, label);
    if (FORMS[name]) {
      checkForm(place, name, view.getUint8(at + 5), label);
      if (taken.has(name)) throw new Error(`${label}: it is there twice`);
      taken.add(name);
      this.#places.set(name, [...(this.#places.get(name) ?? []), place]);
    }
    return at + 16 + Math.ceil(place.data.length / 8) * 8;
  }

  has(name: Name): boolean {
    return this.#places.has(name);
  }

  tuples(name: Name): number {
    return (this.#places.get(name) ?? []).reduce((sum, p) => sum + p.tuples, 0);
  }

  // The places of an array that must have n tuples; null where it is not there.
  #placesOf(name: Name, n: number): Place[] | null {
    const places = this.#places.get(name);
    if (places && this.tuples(name) !== n) throw new Error(`${labelOf(name)}: ${this.tuples(name)} tuples; expected ${n}`);
    return places ?? null;
  }

  async #planes(name: Name, p: Place): Promise<Uint8Array> {
    const label = labelOf(name), size = p.tuples * p.components * p.width;
    if (!p.deflated && p.data.length !== size) throw new Error(`${label}: ${p.data.length} bytes; expected ${size}`);
    await breathe();
    return p.deflated ? await inflate(p.data, size, label) : p.data;
  }

  async integers(name: Name, n: number, before: Before | null = null): Promise<Int32Array | null> {
    const places = this.#placesOf(name, n);
    if (!places) return null;
    const k = FORMS[name]![2], out = new Int32Array(n * k);
    for (let first = 0, next = 0; next < places.length; first += places[next]!.tuples, next++) {
      const p = places[next]!, planes = await this.#planes(name, p), m = p.tuples, raw = new Uint32Array(m);
      if (p.prediction === 2 && !before) throw new Error(`${labelOf(name)}: predicted from a frame before, and there is none`);
      for (let c = 0; c < k; c++) {
        gather(planes, c, p.width, m, raw);
        if (p.prediction === 1) {
          for (let i = 0, at = first * k + c, last = 0; i < m; i++, at += k) out[at] = last = (last + ((raw[i]! >>> 1) ^ -(raw[i]! & 1))) | 0;
        } else {
          for (let i = 0, at = first * k + c; i < m; i++, at += k) out[at] = (raw[i]! >>> 1) ^ -(raw[i]! & 1);
        }
      }
      if (p.prediction === 2 && before) addBefore(out, before, first, first + m, k);
    }
    return out;
  }

  async floats(name: Name, n: number): Promise<Float32Array | null> {
    const places = this.#placesOf(name, n);
    if (!places) return null;
    const k = FORMS[name]![2], out = new Float32Array(n * k), bits = new Uint32Array(out.buffer);
    for (let first = 0, next = 0; next < places.length; first += places[next]!.tuples, next++) {
      const p = places[next]!, planes = await this.#planes(name, p), m = p.tuples, raw = new Uint32Array(m);
      const shift = p.type === Type.bf16 ? 16 : 0;
      for (let c = 0; c < k; c++) {
        gather(planes, c, p.width, m, raw);
        for (let i = 0, at = first * k + c; i < m; i++, at += k) bits[at] = raw[i]! << shift;
      }
    }
    return out;
  }
}

// Adds the predictions of the tuples [first, end).
function addBefore(out: Int32Array, before: Before, first: number, end: number, k: number): void {
  const { values, rows } = before;
  if (!rows) {
    for (let i = first * k; i < end * k; i++) out[i] = (out[i]! + values[i]!) | 0;
    return;
  }
  for (let i = first; i < end; i++) {
    const row = rows[i]!;
    if (row < 0) continue;
    for (let c = 0; c < k; c++) out[i * k + c] = (out[i * k + c]! + values[row * k + c]!) | 0;
  }
}

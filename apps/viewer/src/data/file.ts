// The outer shape of a frames file (docs/frames.md): chunks and heads. Nothing here trusts a length or a
// number before it has been checked against the bytes that are really there.

import type { FrameInfo, Head, Material, Part, Shape, Vec3 } from "../types";

const FILE_HEADER = 16;
const CHUNK_HEADER = 40;
const VERSION = 1;

// Four letters as the little-endian number that stands in the file.
const word = (s: string): number => s.charCodeAt(0) | (s.charCodeAt(1) << 8) | (s.charCodeAt(2) << 16) | (s.charCodeAt(3) << 24);
const TCHK = word("TCHK");
const HEAD = word("HEAD");
const FRAM = word("FRAM");

export interface HeadPlace { offset: number; size: number }
export interface Listing { heads: HeadPlace[]; frames: FrameInfo[] }

// The CRC-32 of PNG and zlib, four bytes at a time.
const CRC = new Uint32Array(1024);
for (let n = 0; n < 256; n++) {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  CRC[n] = c;
}
for (let n = 0; n < 256; n++) {
  for (let k = 1; k < 4; k++) CRC[256 * k + n] = CRC[CRC[256 * (k - 1) + n]! & 255]! ^ (CRC[256 * (k - 1) + n]! >>> 8);
}

function crc32(crc: number, bytes: Uint8Array): number {
  let c = ~crc;
  const whole = bytes.length & ~3;
  let i = 0;
  for (; i < whole; i += 4) {
    c ^= bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24);
    c = CRC[768 + (c & 255)]! ^ CRC[512 + ((c >>> 8) & 255)]! ^ CRC[256 + ((c >>> 16) & 255)]! ^ CRC[c >>> 24]!;
  }
  for (; i < bytes.length; i++) c = CRC[(c ^ bytes[i]!) & 255]! ^ (c >>> 8);
  return ~c >>> 0;
}

export const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

// A 64-bit number as a JavaScript number; beyond 2^53 it cannot be a place in a file, and Infinity fails every bound.
function u64(view: DataView, at: number): number {
  const high = view.getUint32(at + 4, true);
  return high < 0x200000 ? high * 4294967296 + view.getUint32(at, true) : Infinity;
}

function i64(view: DataView, at: number): number {
  return view.getInt32(at + 4, true) * 4294967296 + view.getUint32(at, true);
}

function checkFile(bytes: Uint8Array): void {
  if (bytes.length < FILE_HEADER || String.fromCharCode(...bytes.subarray(0, 8)) !== "TALUSFRM") {
    throw new Error("not a frames file: it does not begin with TALUSFRM");
  }
  const version = viewOf(bytes).getUint32(8, true);
  if (version !== VERSION) throw new Error(`frames file of version ${version}; this page reads version ${VERSION}`);
}

// Where heads and frames stand, up to the first chunk that is not whole.
export function walk(bytes: Uint8Array): Listing {
  checkFile(bytes);
  const view = viewOf(bytes), listing: Listing = { heads: [], frames: [] };
  for (let at = FILE_HEADER; at + CHUNK_HEADER <= bytes.length; ) {
    if (view.getInt32(at, true) !== TCHK) break;
    const payload = u64(view, at + 8);
    const size = CHUNK_HEADER + Math.ceil(payload / 8) * 8;
    if (!(at + size <= bytes.length)) break;
    const kind = view.getInt32(at + 4, true);
    if (kind === HEAD) listing.heads.push({ offset: at, size });
    if (kind === FRAM && payload >= 16 && listing.heads.length > 0) {
      listing.frames.push({
        offset: at, size, time: view.getFloat64(at + 16, true), step: i64(view, at + 24),
        key: (view.getUint32(at + 32, true) & 1) !== 0, bodies: view.getUint32(at + CHUNK_HEADER, true),
      });
    }
    at += size;
  }
  return listing;
}

export interface Chunk { kind: "head" | "frame"; time: number; step: number; key: boolean; payload: Uint8Array }

// One chunk, which begins where `bytes` begin, checked by its CRC.
export function openChunk(bytes: Uint8Array): Chunk {
  if (bytes.length < CHUNK_HEADER) throw new Error(`chunk of ${bytes.length} bytes; its header alone takes ${CHUNK_HEADER}`);
  const view = viewOf(bytes);
  if (view.getInt32(0, true) !== TCHK) throw new Error("no chunk begins here: TCHK is missing");
  const length = u64(view, 8);
  if (length > bytes.length - CHUNK_HEADER) throw new Error(`chunk of ${length} bytes, of which ${bytes.length - CHUNK_HEADER} are there`);
  const payload = bytes.subarray(CHUNK_HEADER, CHUNK_HEADER + length);
  const kind = view.getInt32(4, true);
  if (kind !== HEAD && kind !== FRAM) throw new Error("chunk of a kind that is neither HEAD nor FRAM");
  if (crc32(crc32(0, bytes.subarray(0, 36)), payload) !== view.getUint32(36, true)) throw new Error("damaged chunk: its CRC-32 does not fit its bytes");
  return {
    kind: kind === HEAD ? "head" : "frame", time: view.getFloat64(16, true), step: i64(view, 24), key: (view.getUint32(32, true) & 1) !== 0, payload,
  };
}

/* ---- heads ---- */

type Fields = Record<string, unknown>;

function fail(where: string, wanted: string): never {
  throw new Error(`head of the frames: ${where} must be ${wanted}`);
}

function fields(value: unknown, where: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) fail(where, "an object");
  return value as Fields;
}

function number(value: unknown, where: string, positive = false): number {
  if (typeof value !== "number" || !Number.isFinite(value) || (positive && value <= 0)) fail(where, positive ? "a positive number" : "a number");
  return value;
}

function vector(value: unknown, where: string): Vec3 {
  if (!Array.isArray(value) || value.length !== 3) fail(where, "three numbers");
  return [number(value[0], where), number(value[1], where), number(value[2], where)];
}

function list(value: unknown, where: string): unknown[] {
  if (!Array.isArray(value) || value.length > 65535) fail(where, "a list of at most 65535");
  return value;
}

// Base64 of little-endian numbers, so many to an element.
function bytesOf(value: unknown, where: string, element: number): ArrayBuffer {
  if (typeof value !== "string") fail(where, "a text of base64");
  let text: string;
  try {
    text = atob(value);
  } catch {
    return fail(where, "a text of base64");
  }
  if (text.length % element !== 0) fail(where, `base64 of elements of ${element} bytes`);
  const bytes = new Uint8Array(text.length);
  for (let k = 0; k < text.length; k++) bytes[k] = text.charCodeAt(k);
  return bytes.buffer;
}

function doubles(value: unknown, where: string, components: number): Float64Array {
  const numbers = new Float64Array(bytesOf(value, where, 8 * components));
  if (!numbers.every(Number.isFinite)) fail(where, "numbers");
  return numbers;
}

function meshOf(s: Fields, where: string): Shape {
  const vertex = doubles(s["vertex"], `${where}.vertex`, 3), triangle = new Int32Array(bytesOf(s["triangle"], `${where}.triangle`, 12));
  if (!triangle.every((v) => v >= 0 && 3 * v < vertex.length)) fail(`${where}.triangle`, "numbers of vertices that are there");
  return { kind: "mesh", vertex, triangle };
}

function fieldOf(s: Fields, where: string): Shape {
  const columns = number(s["columns"], `${where}.columns`, true), rows = number(s["rows"], `${where}.rows`, true);
  const height = doubles(s["height"], `${where}.height`, 1);
  if (!Number.isInteger(columns) || columns < 2 || rows < 2 || columns * rows !== height.length) fail(where, "as many heights as columns times rows");
  return { kind: "field", columns, rows, spacing: number(s["spacing"], `${where}.spacing`, true), height };
}

function partOf(value: unknown, where: string): Part {
  const p = fields(value, where), q = p["orientation"];
  if (!Array.isArray(q) || q.length !== 4) return fail(`${where}.orientation`, "four numbers");
  const shape = shapeOf(p["shape"], `${where}.shape`), turn = q.map((v) => number(v, `${where}.orientation`)) as Part["orientation"];
  if (["plane", "revolve", "mesh", "field", "compound"].includes(shape.kind)) fail(`${where}.shape`, "a convex shape");
  if (shape.kind === "sphere" && shape.radius === undefined) fail(`${where}.shape.radius`, "a positive number");
  return { position: vector(p["position"], `${where}.position`), orientation: turn, shape };
}

function shapeOf(value: unknown, where: string): Shape {
  const s = fields(value, where), kind = s["kind"];
  switch (kind) {
    case "sphere": return s["radius"] === undefined ? { kind } : { kind, radius: number(s["radius"], `${where}.radius`, true) };
    case "plane": return { kind };
    case "box":
    case "ellipsoid": {
      const half = vector(s["half"], `${where}.half`);
      if (!half.every((h) => h > 0)) fail(`${where}.half`, "three positive numbers");
      return { kind, half };
    }
    case "cylinder":
    case "capsule":
    case "cone": return { kind, radius: number(s["radius"], `${where}.radius`, true), half_height: number(s["half_height"], `${where}.half_height`, true) };
    case "revolve": {
      const profile = list(s["profile"], `${where}.profile`).map((p, k): [number, number] => {
        if (!Array.isArray(p) || p.length !== 2) fail(`${where}.profile[${k}]`, "two numbers");
        return [number(p[0], `${where}.profile[${k}]`), number(p[1], `${where}.profile[${k}]`)];
      });
      if (profile.length < 2) fail(`${where}.profile`, "two points or more");
      return { kind, profile };
    }
    case "hull": return { kind, vertex: doubles(s["vertex"], `${where}.vertex`, 3) };
    case "mesh": return meshOf(s, where);
    case "field": return fieldOf(s, where);
    case "compound": return { kind, parts: list(s["parts"], `${where}.parts`).map((p, k) => partOf(p, `${where}.parts[${k}]`)) };
    default: return fail(`${where}.kind`, "that of a shape this page knows");
  }
}

function materialOf(value: unknown, where: string): Material {
  const m = fields(value, where);
  return { name: String(m["name"] ?? ""), friction: number(m["friction"] ?? 0, `${where}.friction`), density: number(m["density"] ?? 0, `${where}.density`) };
}

export function parseHead(payload: Uint8Array): Head {
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(payload));
  } catch {
    throw new Error("head of the frames: not JSON");
  }
  const h = fields(parsed, "it");
  return {
    title: String(h["title"] ?? ""),
    scene: String(h["scene"] ?? ""),
    gravity: vector(h["gravity"], "gravity"),
    step: number(h["step"], "step"),
    radius: number(h["radius"], "radius", true),
    quantum: number(h["quantum"], "quantum", true),
    origin: vector(h["origin"], "origin"),
    detail: h["detail"] === "lean" ? "lean" : "full",
    shapes: list(h["shapes"], "shapes").map((s, k) => shapeOf(s, `shapes[${k}]`)),
    materials: list(h["materials"], "materials").map((m, k) => materialOf(m, `materials[${k}]`)),
  };
}

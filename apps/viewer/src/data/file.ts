// The outer shape of a frames file (docs/reference/frames.md): its chunks. Nothing here trusts a length or a
// number before it has been checked against the bytes that are really there.

import type { FrameInfo } from "../types";

const FILE_HEADER = 16;
const CHUNK_HEADER = 40;
const VERSIONS = [3, 4]; // talus view and talus export bring older files to them

// Four letters as the little-endian number that stands in the file.
const word = (s: string): number => s.charCodeAt(0) | (s.charCodeAt(1) << 8) | (s.charCodeAt(2) << 16) | (s.charCodeAt(3) << 24);
const TCHK = word("TCHK");
const HEAD = word("HEAD");
const FRAM = word("FRAM");
const PART = word("PART");

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
  if (!VERSIONS.includes(version)) throw new Error(`frames file of version ${version}; this page reads versions ${VERSIONS.join(" and ")}`);
}

// Where heads and frames stand, up to the first chunk that is not whole.
export function walk(bytes: Uint8Array): Listing {
  checkFile(bytes);
  const view = viewOf(bytes), listing: Listing = { heads: [], frames: [] };
  for (let at = FILE_HEADER, first = at; at + CHUNK_HEADER <= bytes.length; ) { // first: of the parts of a frame, which come before it
    if (view.getInt32(at, true) !== TCHK) break;
    const payload = u64(view, at + 8);
    const size = CHUNK_HEADER + Math.ceil(payload / 8) * 8;
    if (!(at + size <= bytes.length)) break;
    const kind = view.getInt32(at + 4, true);
    if (kind === HEAD) listing.heads.push({ offset: at, size });
    if (kind === FRAM && payload >= 16 && listing.heads.length > 0) {
      const from = view.getUint32(at + CHUNK_HEADER + 12, true) > 0 ? first : at;
      listing.frames.push({
        offset: from, size: at + size - from, time: view.getFloat64(at + 16, true), step: i64(view, at + 24),
        key: (view.getUint32(at + 32, true) & 1) !== 0, bodies: view.getUint32(at + CHUNK_HEADER, true),
      });
    }
    at += size;
    if (kind !== PART) first = at;
  }
  return listing;
}

export interface Chunk { kind: "head" | "frame" | "part"; time: number; step: number; key: boolean; payload: Uint8Array; size: number }
const KINDS = new Map<number, Chunk["kind"]>([[HEAD, "head"], [FRAM, "frame"], [PART, "part"]]);

// One chunk, which begins where `bytes` begin, checked by its CRC.
export function openChunk(bytes: Uint8Array): Chunk {
  if (bytes.length < CHUNK_HEADER) throw new Error(`chunk of ${bytes.length} bytes; its header alone takes ${CHUNK_HEADER}`);
  const view = viewOf(bytes);
  if (view.getInt32(0, true) !== TCHK) throw new Error("no chunk begins here: TCHK is missing");
  const length = u64(view, 8);
  if (length > bytes.length - CHUNK_HEADER) throw new Error(`chunk of ${length} bytes, of which ${bytes.length - CHUNK_HEADER} are there`);
  const payload = bytes.subarray(CHUNK_HEADER, CHUNK_HEADER + length);
  const kind = KINDS.get(view.getInt32(4, true));
  if (!kind) throw new Error("chunk of a kind that is none of HEAD, FRAM and PART");
  if (crc32(crc32(0, bytes.subarray(0, 36)), payload) !== view.getUint32(36, true)) throw new Error("damaged chunk: its CRC-32 does not fit its bytes");
  return {
    kind, time: view.getFloat64(16, true), step: i64(view, 24), key: (view.getUint32(32, true) & 1) !== 0, payload,
    size: CHUNK_HEADER + Math.ceil(length / 8) * 8,
  };
}

// The parts of a frame, if it is in parts, and behind them its own chunk.
export function openFrame(bytes: Uint8Array): { parts: Chunk[]; frame: Chunk } {
  const parts: Chunk[] = [];
  let frame = openChunk(bytes);
  for (let at = 0; frame.kind === "part"; frame = openChunk(bytes.subarray(at))) {
    parts.push(frame);
    at += frame.size;
  }
  if (frame.kind !== "frame") throw new Error("a head stands where a frame should");
  for (const part of parts) {
    if (part.time !== frame.time || part.step !== frame.step || part.key !== frame.key) throw new Error("a part of one frame stands before another");
  }
  return { parts, frame };
}

// Decoded frames by number: read, decoded from the nearest key frame, kept within a bound of memory, and read
// ahead while they are asked for one after the other.

import type { Frame, FrameInfo, Head } from "../types";
import { breathe } from "./arrays";
import { decodeFrame, type Decoded } from "./decode";
import { openChunk, type HeadPlace } from "./file";
import { parseHead } from "./head";

export type Reader = (offset: number, size: number) => Promise<Uint8Array>;
export type HeadReader = (place: HeadPlace, number: number) => Promise<Uint8Array>;

const KEPT = 256 * 2 ** 20;    // bytes of decoded frames
const REQUEST = 32 * 2 ** 20;  // most bytes of one request
const AHEAD_BYTES = 4 * 2 ** 20; // read beyond what is needed, while playing
const AHEAD = 3;               // frames decoded before they are asked for
const STRIDE = 8;              // a step of so many frames forward still counts as playing

export class Store {
  frames: FrameInfo[] = [];
  heads: HeadPlace[] = [];
  #decoded = new Map<number, Decoded>(); // the oldest first
  #bytes = 0;
  #raw = new Map<number, Uint8Array>();  // read, not decoded yet
  #heads = new Map<number, Head>();
  #pending = new Map<number, Promise<Frame>>();
  #queue: Promise<unknown> = Promise.resolve();
  #asked = 0;    // loads that somebody waits for
  #last = -1;    // what was asked for last
  #epoch = 0;    // of the file: numbers mean something else after reset()

  // Heads are read from the file, unless there is another way to them.
  constructor(private read: Reader, private readHead: HeadReader = ({ offset, size }) => read(offset, size)) {}

  // The file is another one now, or has been cut.
  reset(): void {
    this.frames = [];
    this.heads = [];
    this.#decoded.clear();
    this.#raw.clear();
    this.#heads.clear();
    this.#pending.clear();
    this.#bytes = 0;
    this.#last = -1;
    this.#epoch++;
  }

  async load(number: number): Promise<Frame> {
    if (!(Number.isInteger(number) && number >= 0 && number < this.frames.length)) {
      throw new Error(`frame ${number} is not among the ${this.frames.length} there are`);
    }
    const step = number - this.#last, playing = step > 0 && step <= STRIDE;
    this.#last = number;
    this.#asked++;
    try {
      return await this.#get(number, playing);
    } finally {
      this.#asked--;
      if (playing) void this.#ahead(number, step);
    }
  }

  // A frame of which only a look is wanted: decoded without a place among those that are kept.
  async glance(number: number): Promise<Frame> {
    const there = this.#decoded.get(number), epoch = this.#epoch;
    if (there) return there.frame;
    const first = this.#firstFor(number), start = this.frames[first]!.offset, infos = this.frames.slice(first, number + 1);
    let before = this.#decoded.get(first - 1) ?? null;
    const bytes = await this.read(start, infos.at(-1)!.offset + infos.at(-1)!.size - start);
    for (const info of infos) {
      before = await decodeFrame(bytes.subarray(info.offset - start, info.offset - start + info.size), await this.#headOf(info), before);
      this.#sameFile(epoch);
    }
    return before!.frame;
  }

  // The frame that decoding has to begin with: a key frame, or the one after a frame that is there.
  #firstFor(number: number): number {
    let first = number;
    while (first > 0 && !this.frames[first]?.key && !this.#decoded.has(first - 1)) first--;
    return first;
  }

  #sameFile(epoch: number): void {
    if (epoch !== this.#epoch) throw new Error("the run was replaced while its frames were being read");
  }

  #get(number: number, playing: boolean): Promise<Frame> {
    const there = this.#decoded.get(number);
    if (there) {
      this.#decoded.delete(number); // and back, as the newest
      this.#decoded.set(number, there);
      return Promise.resolve(there.frame);
    }
    const pending = this.#pending.get(number);
    if (pending) return pending;
    // One at a time: what one load decodes the next one may build on.
    const job = this.#queue.then(() => this.#decode(number, playing));
    this.#queue = job.catch(() => {});
    this.#pending.set(number, job);
    const epoch = this.#epoch;
    const over = (): void => {
      if (epoch === this.#epoch) this.#pending.delete(number);
    };
    job.then(over, over);
    return job;
  }

  async #ahead(from: number, step: number): Promise<void> {
    const epoch = this.#epoch;
    for (let k = 1; k <= AHEAD; k++) {
      const number = from + k * step;
      await breathe();
      if (this.#asked > 0 || epoch !== this.#epoch || number >= this.frames.length) return;
      if (this.#decoded.has(number) || this.#bytes > KEPT) continue;
      try {
        await this.#get(number, true);
      } catch {
        return; // told to whoever asks for that frame
      }
    }
  }

  async #decode(number: number, playing: boolean): Promise<Frame> {
    const epoch = this.#epoch, there = this.#decoded.get(number);
    if (there) return there.frame;
    const first = this.#firstFor(number);
    let before = this.#decoded.get(first - 1) ?? null;
    for (let k = first; k <= number; k++) {
      const bytes = await this.#bytesOf(k, number, playing), head = await this.#headOf(this.frames[k]!);
      this.#sameFile(epoch);
      before = await decodeFrame(bytes, head, before);
      this.#sameFile(epoch);
      this.#keep(k, before);
    }
    return before!.frame;
  }

  #keep(number: number, decoded: Decoded): void {
    this.#raw.delete(number);
    this.#decoded.set(number, decoded);
    this.#bytes += decoded.bytes;
    for (const [k, old] of this.#decoded) {
      if (this.#bytes <= KEPT || k === number) break;
      this.#decoded.delete(k);
      this.#bytes -= old.bytes;
    }
  }

  // The chunk of a frame, read together with those after it up to `last` and, while playing, some beyond.
  async #bytesOf(number: number, last: number, playing: boolean): Promise<Uint8Array> {
    const there = this.#raw.get(number);
    if (there) return there;
    const start = this.frames[number]!.offset;
    let end = start + this.frames[number]!.size, to = number;
    for (let k = number + 1; k < this.frames.length; k++) {
      const info = this.frames[k]!, stop = info.offset + info.size;
      if (stop - start > (k <= last ? REQUEST : playing ? AHEAD_BYTES : 0)) break;
      end = stop;
      to = k;
    }
    const epoch = this.#epoch, bytes = await this.read(start, end - start);
    this.#raw.clear(); // what was read before and never decoded would hold its memory for good
    if (epoch === this.#epoch) {
      for (let k = number; k <= to; k++) {
        const info = this.frames[k]!;
        this.#raw.set(k, bytes.subarray(info.offset - start, info.offset - start + info.size));
      }
    }
    return bytes.subarray(0, this.frames[number]?.size ?? 0);
  }

  async #headOf(info: FrameInfo): Promise<Head> {
    let number = -1;
    this.heads.forEach((h, k) => {
      if (h.offset < info.offset && h.offset >= (this.heads[number]?.offset ?? 0)) number = k;
    });
    const place = this.heads[number];
    if (!place) throw new Error("frames file without a head before its frames");
    const known = this.#heads.get(place.offset);
    if (known) return known;
    const epoch = this.#epoch, chunk = openChunk(await this.readHead(place, number));
    if (chunk.kind !== "head") throw new Error("a frame stands where a head should");
    const head = await parseHead(chunk.payload);
    if (epoch === this.#epoch) this.#heads.set(place.offset, head);
    return head;
  }
}

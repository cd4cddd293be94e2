// Time: which frame is shown, and when the next one is. Loads the frame that is wanted now and never a
// queue of those that were wanted before.

import { countUpTo } from "../../../look/ticks";
import type { Frame, FrameInfo, Source } from "../types";
import { isLive } from "./live";
import { EVERY_FRAME } from "./state";

const EVERY_FRAME_RATE = 25; // frames a second when every frame is shown
const SKIP = 4;              // frames that playing may leave out where loading cannot keep up

export interface PlayerEvents {
  shown(frame: Frame, index: number): void;
  changed(): void; // playing or not, following or not
  failed(message: string): void;
}

// The last frame at or before a time; 0 if there is none.
function frameAt(frames: readonly FrameInfo[], time: number): number {
  return Math.max(0, countUpTo(frames.length, (k) => frames[k]!.time, time) - 1);
}

function nearestFrame(frames: readonly FrameInfo[], time: number): number {
  const i = frameAt(frames, time), next = frames[i + 1];
  return next && next.time - time < time - frames[i]!.time ? i + 1 : i;
}

export class Player {
  index = -1; // of the frame shown
  playing = false;
  following = false;
  speed = 1;
  loop = false;
  readonly loaded = new Set<number>(); // frames that have been here
  private info: FrameInfo | undefined; // of the frame shown last
  private wanted = -1;
  private missed = -1; // the frame that could not be loaded, until another one is shown: a step goes on from it
  private busy = false;
  private clock = 0; // simulated time while playing
  private last = 0;  // of the animation frame before
  private waiters: (() => void)[] = [];

  constructor(private source: Source, private events: PlayerEvents) {}

  get end(): number {
    return this.source.frames.length - 1;
  }

  // ---- what the reader does ----

  seek(index: number): void {
    this.stop();
    this.want(index);
  }

  seekTime(time: number): void {
    this.seek(nearestFrame(this.source.frames, time));
  }

  step(by: number): void {
    this.seek((this.wanted >= 0 ? this.wanted : this.missed >= 0 ? this.missed : this.index) + by);
  }

  play(): void {
    if (this.playing || this.end < 1) return;
    this.following = false;
    this.playing = true;
    if (this.index >= this.end) this.want(0);
    this.clock = this.source.frames[Math.max(0, this.wanted >= 0 ? this.wanted : this.index)]!.time;
    this.last = performance.now();
    this.events.changed();
    requestAnimationFrame((now) => this.tick(now));
  }

  // Stops playing and following.
  stop(): void {
    if (!this.playing && !this.following) return;
    this.playing = this.following = false;
    this.events.changed();
  }

  toggle(): void {
    if (this.playing) this.stop();
    else this.play();
  }

  follow(on: boolean): void {
    this.playing = false;
    this.following = on;
    if (on) this.want(this.end);
    this.events.changed();
  }

  // Frames have come, or others have taken their place.
  grown(): void {
    if (this.index >= 0 && this.source.frames[this.index] !== this.info) {
      this.index = -1;
      this.loaded.clear();
    }
    if (this.following) this.want(this.end);
    else if (this.index < 0) this.want(nearestFrame(this.source.frames, this.info?.time ?? -Infinity));
  }

  // When the frame asked for last is on the screen.
  settled(): Promise<void> {
    return this.busy ? new Promise((resolve) => this.waiters.push(resolve)) : Promise.resolve();
  }

  // ---- playing ----

  private tick(now: number): void {
    if (!this.playing) return;
    const passed = Math.min(0.25, (now - this.last) / 1000);
    if (this.speed === EVERY_FRAME) this.nextFrame(now);
    else {
      this.last = now;
      this.advance(passed * this.speed);
    }
    requestAnimationFrame((later) => this.tick(later));
  }

  private nextFrame(now: number): void {
    if (this.busy || now - this.last < 1000 / EVERY_FRAME_RATE - 4) return;
    this.last = now;
    if (this.index < this.end) this.want(this.index + 1);
    else this.atEnd();
    this.clock = this.source.frames[this.index]?.time ?? 0;
  }

  private advance(by: number): void {
    const { frames } = this.source;
    if (frames.length === 0) return; // another run is about to take the place of this one
    if (this.busy && this.index > frameAt(frames, this.clock)) return; // back to an earlier frame: time waits for it
    // Where loading is slower than time, time waits.
    const limit = frames[Math.min(this.end, this.index + SKIP)]?.time ?? 0;
    this.clock = Math.min(this.clock + by, this.busy ? Math.max(limit, this.clock) : Infinity);
    const next = frameAt(frames, this.clock);
    if (next !== this.index) this.want(next);
    if (this.clock >= frames[this.end]!.time && this.index >= this.end) this.atEnd();
  }

  private atEnd(): void {
    if (this.loop) {
      this.clock = this.source.frames[0]?.time ?? 0;
      this.want(0);
    } else if (isLive(this.source)) this.follow(true);
    else this.stop();
  }

  // ---- loading ----

  private want(index: number): void {
    if (this.end < 0) return;
    this.wanted = Math.min(this.end, Math.max(0, index));
    if (!this.busy) void this.work();
  }

  private async work(): Promise<void> {
    this.busy = true;
    while (this.wanted >= 0 && this.wanted !== this.index) {
      const index = this.wanted, info = this.source.frames[index];
      try {
        const frame = await this.source.load(index);
        this.index = index;
        this.missed = -1;
        this.info = info;
        this.loaded.add(index);
        this.events.shown(frame, index);
      } catch (e) {
        this.missed = index;
        this.playing = false;
        this.events.failed(`Frame ${index + 1} could not be loaded: ${(e as Error).message}`);
        this.events.changed();
        if (this.wanted === index) break;
      }
    }
    this.wanted = -1;
    this.busy = false;
    for (const tell of this.waiters.splice(0)) tell();
  }
}

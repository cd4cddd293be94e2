// What holds for a whole run, by a few frames spread over it: colour scales from 0 to the widest end of any of them,
// and the room that they take. Of a finished run it is always the same, whatever the reader does; while a run goes on it
// only widens.

import { boundsOf } from "../engine/bounds";
import { endOf, isCategory } from "../engine/colour";
import { emptyBox, isEmpty, joined, moved, type Box } from "../engine/vector";
import type { ColourBy, Frame, FrameInfo, Source } from "../types";
import { isLive } from "./live";
import { COLOURS } from "./state";

const LOOKS = 9;               // frames looked at
const BYTES = 32 * 2 ** 20;    // that reading them may take
const LONGEST_WAIT = 500;      // ms for the page to have a moment, before each

const SCALED = COLOURS.filter((by) => !isCategory(by));

const idle = (): Promise<void> => new Promise((done) => {
  if (typeof requestIdleCallback === "function") requestIdleCallback(() => done(), { timeout: LONGEST_WAIT });
  else setTimeout(done, 50); // Safari
});

// The key frame that a frame is decoded from.
function keyOf(frames: readonly FrameInfo[], index: number): number {
  while (index > 0 && !frames[index]!.key) index--;
  return index;
}

const spread = (count: number, looks: number): number[] =>
  [...new Set(Array.from({ length: looks }, (_, k) => Math.round((k * (count - 1)) / (looks - 1))))];

// Frames spread evenly; where reading them would take too much, the key frames before them, and then fewer of those.
export function samples(frames: readonly FrameInfo[]): number[] {
  const bytes = (all: number[]): number => all.reduce((sum, i) => {
    const last = frames[i]!;
    return sum + last.offset + last.size - frames[keyOf(frames, i)]!.offset;
  }, 0);
  if (frames.length === 0) return [];
  let chosen = spread(frames.length, LOOKS);
  for (let looks = LOOKS; looks > 2 && bytes(chosen) > BYTES; looks--) {
    chosen = [...new Set(spread(frames.length, looks).map((i) => keyOf(frames, i)))];
  }
  return chosen;
}

type Ends = Map<ColourBy, number>;

function widen(ends: Ends, by: ColourBy, high: number): void {
  ends.set(by, Math.max(ends.get(by) ?? 0, high));
}

function take(ends: Ends, frame: Frame): void {
  for (const by of SCALED) {
    const high = endOf(frame, by);
    if (high > 0) widen(ends, by, high); // no forces yet, say: other frames tell the end
  }
}

export class Steady {
  private ends: Ends = new Map();
  private known = 0;      // frames that there were at the last look
  private missed = false; // one of them could not be read then
  private looking: Promise<void> | null = null;

  constructor(private source: Source, private looked: (room: Box | null) => void) {}

  // Where a scale ends; undefined before the first look is over.
  end(by: ColourBy): number | undefined {
    return this.ends.get(by);
  }

  // A frame has been shown.
  show(frame: Frame): void {
    if (isLive(this.source)) take(this.ends, frame);
  }

  forget(): void {
    this.ends.clear();
    this.known = 0;
  }

  // Frames may have come. While a run goes on it is looked at again whenever it has doubled, and once more at its end;
  // `again`: also if a frame could not be read the last time.
  grown(again = false): Promise<void> {
    if (!this.looking && (this.due || (again && this.missed))) {
      this.looking = this.look().finally(() => {
        this.looking = null;
        if (this.due) void this.grown(); // it ended meanwhile, or another one has taken its place
      });
    }
    return this.looking ?? Promise.resolve();
  }

  private get due(): boolean {
    const { length } = this.source.frames;
    return isLive(this.source) ? length >= 2 * Math.max(1, this.known) : length !== this.known;
  }

  private async look(): Promise<void> {
    const { frames } = this.source, first = frames[0], ends: Ends = new Map();
    let room = emptyBox();
    this.known = frames.length;
    this.missed = false;
    for (const index of samples(frames)) {
      await idle();
      if (this.source.frames[0] !== first) return;
      try {
        const frame = await this.source.glance(index);
        const box = boundsOf(frame);
        take(ends, frame);
        if (box) room = joined(room, moved(box, frame.head.origin));
      } catch {
        this.missed = true; // why is told to whoever goes to that frame
      }
    }
    if (this.source.frames[0] !== first || ends.size === 0) return;
    for (const [by, high] of ends) widen(this.ends, by, high);
    this.looked(isEmpty(room) ? null : room);
  }
}

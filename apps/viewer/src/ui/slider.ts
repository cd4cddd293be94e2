// The time slider: a range of frames' times, with a tick per frame, what has been loaded, and the live end.

import { htmlElement } from "../../../look/dom";
import type { FrameInfo } from "../types";

const THUMB = 14;   // pixels, as in style.css
const CROWDED = 5;  // pixels between ticks below which there are only some

export class Slider {
  readonly node: HTMLElement;
  readonly input: HTMLInputElement;
  private strip = htmlElement("canvas", { "aria-hidden": "true" });
  private frames: readonly FrameInfo[] = [];
  private drawn = ""; // what the strip shows
  private width = 0;
  private height = 0;

  constructor(seek: (time: number) => void, private loaded: ReadonlySet<number>, private marksLoaded: boolean) {
    this.input = htmlElement("input", { type: "range", min: 0, max: 0, step: "any", "aria-label": "Time", input: () => seek(Number(this.input.value)) });
    this.node = htmlElement("div", { class: "slider" }, this.strip, this.input);
    new ResizeObserver(([entry]) => {
      ({ width: this.width, height: this.height } = entry!.contentRect);
      this.draw();
    }).observe(this.node);
  }

  setFrames(frames: readonly FrameInfo[], live: boolean): void {
    this.frames = frames;
    this.node.classList.toggle("live", live);
    this.input.disabled = frames.length < 2;
    this.input.min = String(frames[0]?.time ?? 0);
    this.input.max = String(frames.at(-1)?.time ?? 0);
    this.draw();
  }

  set(time: number, text: string): void {
    this.input.value = String(time);
    this.input.setAttribute("aria-valuetext", text);
    if (this.marksLoaded) this.draw();
  }

  // Draws only where something has changed; a theme is something else.
  draw(anew = false): void {
    const { width, height, frames } = this;
    const key = `${width} ${height} ${devicePixelRatio} ${frames.length} ${this.marksLoaded ? this.loaded.size : 0} ${frames.at(-1)?.time}`;
    if (width <= THUMB || (key === this.drawn && !anew)) return;
    this.drawn = key;
    this.strip.width = Math.round(width * devicePixelRatio);
    this.strip.height = Math.round(height * devicePixelRatio);
    const ctx = this.strip.getContext("2d")!;
    ctx.scale(devicePixelRatio, devicePixelRatio);
    this.paint(ctx, width, height);
  }

  private paint(ctx: CanvasRenderingContext2D, width: number, height: number): void {
    const { frames } = this, inks = getComputedStyle(this.node);
    const first = frames[0]?.time ?? 0, span = (frames.at(-1)?.time ?? 0) - first || 1;
    const inner = width - THUMB, middle = height / 2;
    const x = (i: number) => THUMB / 2 + ((frames[i]!.time - first) / span) * inner;
    ctx.fillStyle = inks.getPropertyValue("--rule");
    ctx.fillRect(THUMB / 2, middle - 1, inner, 2);
    if (frames.length < 2) return;
    if (this.marksLoaded) {
      ctx.fillStyle = inks.getPropertyValue("--muted");
      const each = inner / (frames.length - 1);
      for (const i of this.loaded) if (i < frames.length) ctx.fillRect(x(i) - each / 2, middle - 1.5, Math.max(each, 2), 3);
    }
    let every = 1;
    while ((every * inner) / (frames.length - 1) < CROWDED) every *= every === 1 || String(every).startsWith("1") ? 5 : 2;
    ctx.fillStyle = inks.getPropertyValue("--muted");
    for (let i = 0; i < frames.length; i += every) ctx.fillRect(Math.round(x(i)) - 0.5, middle + 6, 1, i % (10 * every) === 0 ? 5 : 3);
  }
}

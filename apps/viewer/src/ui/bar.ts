// The bar below the picture: play, step, time, speed, loop.

import { htmlElement } from "../../../look/dom";
import { formatInteger } from "../../../look/format";
import type { FrameInfo, Source } from "../types";
import { type Control, iconButton, icon, list } from "./controls";
import type { Player } from "./player";
import { Slider } from "./slider";
import { EVERY_FRAME, SPEEDS } from "./state";

export interface BarEvents {
  speed(speed: number): void;
  loop(): void;
  panel(): void;
  help(): void;
}

// Digits after the point that tell neighbouring frames apart, and show their spacing where that is short.
export function timeDigits(frames: readonly FrameInfo[]): number {
  const last = frames.length - 1, spacing = last < 1 ? 0 : (frames[last]!.time - frames[0]!.time) / last;
  if (!(spacing > 0)) return 3;
  const least = Math.min(6, Math.max(1, Math.ceil(-Math.log10(spacing) - 1e-6)));
  const even = (d: number) => Math.abs(spacing * 10 ** d - Math.round(spacing * 10 ** d)) < 1e-3;
  return even(least) ? least : Math.min(6, least + 1);
}

export class Bar {
  readonly node: HTMLElement;
  readonly slider: Slider;
  private play: HTMLButtonElement;
  private loop: HTMLButtonElement;
  private panel: HTMLButtonElement;
  private speed: Control<string>;
  private time = htmlElement("span", { class: "time" });
  private where = htmlElement("span", { class: "where" });
  private digits = 3;
  private playing: boolean | null = null;

  constructor(private source: Source, private player: Player, events: BarEvents) {
    this.slider = new Slider((time) => player.seekTime(time), player.loaded, source.served);
    this.play = iconButton("play", "Play (space)", () => player.toggle(), { class: "icon play" });
    this.loop = iconButton("loop", "Start again at the end (l)", () => events.loop(), { "aria-pressed": "false" });
    this.panel = iconButton("panel", "Panel (b)", () => events.panel(), { "aria-pressed": "true" });
    this.speed = list("Speed", [
      ...SPEEDS.map((s) => ({ value: String(s), label: `${s}×` })), { value: String(EVERY_FRAME), label: "every frame" },
    ], "1", (v) => events.speed(Number(v)));
    this.speed.node.title = "Simulated seconds per second (+ and −)";
    this.speed.node.classList.add("speed");
    this.node = htmlElement("div", { class: "bar", role: "group", "aria-label": "Time" },
      htmlElement("div", { class: "transport" },
        iconButton("back", "One frame back (←)", () => player.step(-1)),
        this.play,
        iconButton("forward", "One frame on (→)", () => player.step(1))),
      this.slider.node,
      htmlElement("div", { class: "readout" }, this.time, this.where),
      htmlElement("div", { class: "rest" }, this.speed.node, this.loop, this.panel,
        htmlElement("button", { type: "button", class: "icon", title: "Keys and help (?)", "aria-label": "Keys and help", click: () => events.help() }, "?")));
  }

  setFrames(live: boolean): void {
    this.digits = timeDigits(this.source.frames);
    this.slider.setFrames(this.source.frames, live);
    this.show();
  }

  // The frame on the screen.
  show(): void {
    const { frames } = this.source, info = frames[this.player.index];
    if (!info) return;
    const text = `${info.time.toFixed(this.digits)} s`;
    this.time.textContent = text;
    this.where.textContent = `${formatInteger(this.player.index + 1)} / ${formatInteger(frames.length)}`;
    this.where.title = `Frame ${formatInteger(this.player.index + 1)} of ${formatInteger(frames.length)}, step ${formatInteger(info.step)}`;
    this.slider.set(info.time, `${text}, frame ${this.player.index + 1} of ${frames.length}`);
  }

  setPlaying(playing: boolean): void {
    if (playing === this.playing) return;
    this.playing = playing;
    this.play.replaceChildren(icon(playing ? "pause" : "play"));
    this.play.title = playing ? "Pause (space)" : "Play (space)";
    this.play.setAttribute("aria-label", playing ? "Pause" : "Play");
  }

  setChoices(speed: number, loop: boolean, panel: boolean): void {
    this.speed.set(String(speed));
    this.loop.setAttribute("aria-pressed", String(loop));
    this.panel.setAttribute("aria-pressed", String(panel));
  }
}

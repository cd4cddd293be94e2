// Files for elsewhere: a still picture, and a film of what is played.

import { download } from "../../../look/dom";
import { fileName } from "../../../look/format";
import type { Engine } from "../engine/engine";
import type { Source } from "../types";
import type { Player } from "./player";

const FORMS: [type: string, ending: string][] = [
  ["video/webm;codecs=vp9", "webm"], ["video/webm;codecs=vp8", "webm"], ["video/webm", "webm"], ["video/mp4", "mp4"],
];
const RATE = 30;
// A slow machine may not have encoded a single picture of a short film when playing ends: how many times to look again, and ms between looks.
const LOOKS = 40, WAIT = 250;

export function filmForm(): { type: string; ending: string } | null {
  if (typeof MediaRecorder === "undefined" || typeof HTMLCanvasElement.prototype.captureStream !== "function") return null;
  const found = FORMS.find(([type]) => MediaRecorder.isTypeSupported(type));
  return found ? { type: found[0], ending: found[1] } : null;
}

export class Saver {
  private recorder: MediaRecorder | null = null;
  private parts: Blob[] = [];
  private ending = false; // playing has ended, the recorder still runs

  constructor(private source: Source, private engine: Engine, private player: Player, private tell: (message: string) => void) {}

  get recording(): boolean {
    return this.recorder !== null;
  }

  private name(ending: string): string {
    const time = this.source.frames[this.player.index]?.time ?? 0;
    return `${fileName(this.source.title || "talus")}-${time.toFixed(3)}s.${ending}`;
  }

  async picture(): Promise<void> {
    const blob = await this.engine.still(Math.max(2, devicePixelRatio));
    const name = this.name("png");
    download(name, "image/png", blob);
    this.tell(`Saved ${name}`);
  }

  // Plays from the frame shown, or from the start if that is the last, to the end and records it.
  film(changed: () => void): void {
    const form = filmForm();
    if (!form || this.recorder) return;
    if (this.player.end < 1) {
      this.tell("There is one frame only: nothing to record.");
      return;
    }
    const stream = this.engine.canvas.captureStream(RATE);
    const recorder = new MediaRecorder(stream, { mimeType: form.type, videoBitsPerSecond: 12e6 });
    const name = `${fileName(this.source.title || "talus")}.${form.ending}`;
    this.recorder = recorder;
    this.parts = [];
    this.ending = false;
    recorder.addEventListener("dataavailable", (e) => this.parts.push(e.data));
    recorder.addEventListener("stop", () => {
      for (const track of stream.getTracks()) track.stop();
      this.recorder = null;
      this.engine.setWhole(false);
      const film = new Blob(this.parts.splice(0), { type: form.type });
      if (film.size > 0) download(name, form.type, film);
      this.tell(film.size > 0 ? `Saved ${name}` : "The browser has recorded nothing: try a lower speed.");
      changed();
    });
    this.player.stop();
    this.engine.setWhole(true);
    recorder.start(1000);
    this.player.play();
    this.engine.draw();
    changed();
  }

  // Playing has ended, or the reader has had enough. The last picture is given time to reach the film.
  finish(): void {
    const { recorder } = this;
    if (recorder?.state !== "recording" || this.ending) return;
    this.ending = true;
    this.engine.draw();
    recorder.requestData();
    setTimeout(() => this.stopOnceRecorded(recorder, LOOKS), 1500 / RATE);
  }

  // Ends the film at once, with what there is of it.
  stop(): void {
    if (this.recorder?.state === "recording") this.recorder.stop();
  }

  private stopOnceRecorded(recorder: MediaRecorder, looks: number): void {
    if (recorder.state !== "recording") return;
    if (looks === 0 || this.parts.some((part) => part.size > 0)) {
      this.stop();
      return;
    }
    this.engine.draw();
    recorder.requestData();
    setTimeout(() => this.stopOnceRecorded(recorder, looks - 1), WAIT);
  }
}

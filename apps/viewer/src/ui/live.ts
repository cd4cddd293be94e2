// The head of the picture: title, how many bodies, and how the run stands; pause and stop where it can be
// reached.

import { htmlElement } from "../../../look/dom";
import { capitalise, formatCount, formatInteger, formatSignificant } from "../../../look/format";
import type { Frame, RunState, Source } from "../types";
import { tick, type Control } from "./controls";

const ABOUT: Record<RunState, string> = {
  running: "The run goes on; new frames appear as it writes them.",
  paused: "The run waits; it goes on when told to.",
  finished: "The run has reached its end.",
  stopped: "The run was stopped; talus run --resume goes on with it.",
  failed: "The run ended in an error.",
  died: "The run ended without a word, perhaps killed; what it had written is shown.",
};

const COPIED = "The run was still going on when this page was made.";

const TELL = new Set<RunState>(["stopped", "failed", "died"]); // worth a line, even without a message of the run's own

export const isGoingOn = (state: RunState): boolean => state === "running" || state === "paused";

// More can come of it; a page that was made from a run that goes on is a copy nevertheless.
export const isLive = (source: Source): boolean => source.served && isGoingOn(source.status.state);

export function duration(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return seconds < 48 * 3600 ? `${formatSignificant(seconds / 3600)} h` : `${Math.round(seconds / 86400)} days`;
}

export class Live {
  readonly node: HTMLElement;
  private title = htmlElement("h1", {});
  private facts = htmlElement("p", { class: "facts" });
  private badge = htmlElement("span", { class: "badge", role: "status" });
  private pace = htmlElement("span", { class: "pace" });
  private pause = htmlElement("button", { type: "button", class: "button small", click: () => this.send(this.source.status.state === "paused" ? "run" : "pause") });
  private stop = htmlElement("button", { type: "button", class: "button small", click: () => this.askToStop() }, "Stop");
  private follow: Control<boolean>;
  private message = htmlElement("p", { class: "message" });
  private sure = 0; // timer while a second press stops
  private stepSize = 0;
  private fixed: Uint8Array | null = null; // of the frame shown
  private free = 0;

  constructor(private source: Source, follow: (on: boolean) => void, private failed: (message: string) => void) {
    this.follow = tick("follow", false, follow);
    this.follow.node.title = "Stay at the newest frame";
    this.stop.addEventListener("blur", () => this.unsure());
    this.node = htmlElement("header", { class: "top" }, this.title, this.facts,
      htmlElement("div", { class: "run" }, this.badge, this.pace, this.pause, this.stop, this.follow.node), this.message);
  }

  update(following: boolean): void {
    const { title, scene, served, note, status } = this.source;
    const name = title || scene || "Talus", live = isLive(this.source);
    const about = !live && isGoingOn(status.state) ? COPIED : ABOUT[status.state];
    if (this.title.textContent !== name) {
      this.title.textContent = name;
      document.title = name;
    }
    if (this.badge.textContent !== status.state) this.badge.textContent = status.state; // said aloud at every change
    this.badge.title = about;
    this.badge.dataset.state = status.state;
    this.badge.hidden = !served && status.state === "finished";
    this.pace.textContent = this.paceText();
    this.pause.textContent = status.state === "paused" ? "Go on" : "Pause";
    this.pause.hidden = this.stop.hidden = !live || !status.control;
    this.follow.node.hidden = !live;
    this.follow.set(following);
    this.message.textContent = [status.message || (TELL.has(status.state) || about === COPIED ? about : ""), capitalise(note)].filter(Boolean).join(" ");
    this.message.hidden = !this.message.textContent;
    if (!live) this.unsure();
  }

  show(frame: Frame): void {
    this.stepSize = frame.head.step;
    const text = `${formatCount(this.moving(frame), "body", "bodies")}, ${formatCount(frame.contacts, "contact")}`;
    if (this.facts.textContent !== text) this.facts.textContent = text;
  }

  // How many bodies move; the container is none of them. Frames share the array as long as nothing comes or goes.
  private moving({ fixed, count }: Frame): number {
    if (fixed !== this.fixed) this.free = count - fixed.reduce((n, f) => n + (f ? 1 : 0), 0);
    this.fixed = fixed;
    return this.free;
  }

  private paceText(): string {
    const { state, stepsPerSecond, time, until, step } = this.source.status;
    if (!isLive(this.source)) return "";
    if (state === "paused") return `at ${formatSignificant(time)} s`;
    const left = (until - time) / (stepsPerSecond * this.stepSize);
    const parts = [stepsPerSecond > 0 ? `${formatSignificant(stepsPerSecond)} steps/s` : `step ${formatInteger(step)}`];
    if (Number.isFinite(left) && left > 0) parts.push(`about ${duration(left)} left`);
    return parts.join(", ");
  }

  // One question is enough: the same button, pressed again within a few seconds.
  private askToStop(): void {
    if (this.sure) {
      this.unsure();
      this.send("stop");
      return;
    }
    this.stop.textContent = "Stop the run?";
    this.stop.classList.add("sure");
    this.sure = window.setTimeout(() => this.unsure(), 5000);
  }

  private unsure(): void {
    clearTimeout(this.sure);
    this.sure = 0;
    this.stop.textContent = "Stop";
    this.stop.classList.remove("sure");
  }

  private send(action: "pause" | "run" | "stop"): void {
    this.source.control(action).catch((e: Error) => {
      const why = e.message.includes(" 403") ? "this page is from an earlier talus view; load it again" : e.message;
      this.failed(`The run could not be told to ${action === "run" ? "go on" : action}: ${why}.`);
    });
  }
}

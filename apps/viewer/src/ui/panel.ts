// The side panel: how bodies are coloured, what is shown of them, from where, the plots, and files.

import { THEMES } from "../../../look/choices";
import { el } from "../../../look/dom";
import { plain } from "../../../look/format";
import type { Axis, ViewName } from "../types";
import { button, choice, type Control, list, number, slide, tick } from "./controls";
import { AXES, CONTAINERS, SCALINGS, type State, VIEW_NAMES } from "./state";

export interface PanelEvents {
  set(change: Partial<State>): void;
  view(name: ViewName | "fit"): void;
  picture(): void;
  film(): void;
}

export const COLOUR_LABELS: Record<State["colour"], string> = {
  speed: "speed", force: "contact force", touching: "contacts", id: "id", layer: "starting layer", material: "material", tag: "tag",
};

function row(label: string, ...controls: HTMLElement[]): HTMLElement {
  return el("div", { class: "row" }, el("span", { class: "label" }, label), el("div", { class: "what" }, ...controls));
}

export class Panel {
  readonly node: HTMLElement;
  private colour: Control<State["colour"]>;
  private contacts: HTMLOptionElement;
  private scaling: Control<State["scaling"]>;
  private log: Control<boolean>;
  private low: Control<number>;
  private high: Control<number>;
  private range: HTMLElement;
  private scaleRow: HTMLElement;
  private chains: Control<boolean>;
  private threshold: Control<number>;
  private chainsNote = el("p", { class: "note" });
  private container: Control<State["container"]>;
  private axis: Control<Axis | "off">;
  private at: Control<number>;
  private flip: Control<boolean>;
  private plane: HTMLElement;
  private theme: Control<State["theme"]>;
  private filmButton: HTMLButtonElement;
  private progress = el("progress", { max: 1, value: 0, "aria-label": "Recorded", hidden: true });
  private plots: HTMLDetailsElement;
  private state: State;

  constructor(state: State, plots: HTMLElement, filmMissing: string | null, events: PanelEvents) {
    this.state = state;
    const set = (change: Partial<State>) => events.set(change);
    const clip = () => this.state.clip ?? { axis: "x" as Axis, at: 0.5, flip: false };
    this.colour = list("Colour by", Object.entries(COLOUR_LABELS).map(([value, label]) => ({ value: value as State["colour"], label })), state.colour, (colour) => set({ colour }));
    this.contacts = this.colour.node.querySelector<HTMLOptionElement>("option[value=touching]")!;
    this.scaling = choice("Scale", SCALINGS, state.scaling, (scaling) => set({ scaling }));
    this.scaling.node.title = "Steady: one for the whole run. Frame: its own values. Fixed: from and to as given.";
    this.log = tick("log", state.log, (log) => set({ log }));
    this.low = number("Low end of the scale", state.low, (low) => set({ low }));
    this.high = number("High end of the scale", state.high, (high) => set({ high }));
    this.range = el("span", { class: "range" }, this.low.node, "to", this.high.node);
    this.scaleRow = row("Scale", this.scaling.node, this.log.node, this.range);
    this.chains = tick("force chains", state.chains, (chains) => set({ chains }));
    this.threshold = slide("Chains stronger than, in multiples of the mean force", [1, 10, 0.5], state.threshold, (v) => `> ${plain(v)} × mean`, (threshold) => set({ threshold }));
    this.container = choice("Container", CONTAINERS, state.container, (container) => set({ container }));
    this.axis = choice("Clip", ["off", ...AXES] as const, state.clip?.axis ?? "off",
      (v) => set({ clip: v === "off" ? null : { ...clip(), axis: v } }));
    this.at = slide("Where the plane cuts", [0, 1, 0.005], clip().at, (v) => `${Math.round(100 * v)} %`, (at) => set({ clip: { ...clip(), at } }));
    this.flip = tick("other side", clip().flip, (flip) => set({ clip: { ...clip(), flip } }));
    this.plane = el("div", { class: "plane" }, this.at.node, this.flip.node);
    this.theme = choice("Theme", THEMES, state.theme, (theme) => set({ theme }));
    this.filmButton = button("Record", filmMissing ?? "Play to the end and save it as a film", () => events.film());
    this.filmButton.disabled = filmMissing !== null;
    this.plots = el("details", { class: "section", toggle: () => set({ plots: this.plots.open }) }, el("summary", {}, el("h2", {}, "Plots")), plots);
    this.plots.open = state.plots;
    this.node = el("aside", { class: "panel", "aria-label": "Panel" }, el("div", { class: "inner" },
      el("div", { class: "section" },
        row("Colour by", this.colour.node), this.scaleRow,
        row("Forces", this.chains.node, this.threshold.node, this.chainsNote),
        row("Container", this.container.node),
        row("Clip", this.axis.node, this.plane),
        row("View", el("div", { class: "buttons" }, ...VIEW_NAMES.map((name) => button(name, `From ${name === "home" ? "where it began" : name} (v goes on to the next)`, () => events.view(name))),
          button("fit", "All into the picture (f)", () => events.view("fit")))),
        row("Theme", this.theme.node),
        row("Save", el("div", { class: "buttons" }, button("Picture", "A PNG of what is shown (s)", () => events.picture()), this.filmButton, this.progress),
          filmMissing ? el("p", { class: "note" }, filmMissing) : el("span", { hidden: true }))),
      this.plots));
  }

  // Shows what was chosen, here or elsewhere.
  update(state: State, scaled: boolean, chainsMissing: string | null): void {
    this.state = state;
    this.colour.set(state.colour);
    this.contacts.disabled = chainsMissing !== null; // frames that lack chains lack these as well
    this.scaling.set(state.scaling);
    this.log.set(state.log);
    this.low.set(state.low);
    this.high.set(state.high);
    this.scaleRow.hidden = !scaled;
    this.range.hidden = state.scaling !== "fixed";
    this.chains.set(state.chains && chainsMissing === null);
    this.chains.node.querySelector("input")!.disabled = chainsMissing !== null;
    this.threshold.set(state.threshold);
    this.threshold.node.hidden = !state.chains || chainsMissing !== null;
    this.chainsNote.hidden = chainsMissing === null;
    this.chainsNote.textContent = chainsMissing ?? "";
    this.container.set(state.container);
    this.axis.set(state.clip?.axis ?? "off");
    this.plane.hidden = !state.clip;
    if (state.clip) {
      this.at.set(state.clip.at);
      this.flip.set(state.clip.flip);
    }
    this.theme.set(state.theme);
    if (this.plots.open !== state.plots) this.plots.open = state.plots;
    this.node.hidden = !state.panel;
  }

  // Of a film that is being made, from 0 to 1; null: none is.
  setFilm(done: number | null): void {
    const recording = done !== null;
    this.filmButton.textContent = recording ? "Stop recording" : "Record";
    this.filmButton.classList.toggle("recording", recording);
    this.progress.hidden = !recording;
    if (recording) this.progress.value = done;
  }
}

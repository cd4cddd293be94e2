// The side panel: how bodies are coloured, what is shown of them, from where, the plots, and files.

import { THEMES } from "../../../look/choices";
import { htmlElement } from "../../../look/dom";
import { formatGiven } from "../../../look/format";
import type { FieldsTable } from "../data/fields";
import type { Axis, Frame, Slice, ViewName } from "../types";
import { button, choice, type Control, list, number, slide, tick } from "./controls";
import { Groups } from "./groups";
import { TOOLS } from "./measure";
import { AXES, CONTAINERS, SCALINGS, type State, VIEW_NAMES } from "./state";

export interface PanelEvents {
  set(change: Partial<State>): void;
  view(name: ViewName | "fit"): void;
  picture(): void;
  film(): void;
}

export const COLOUR_LABELS: Record<State["colour"], string> = {
  speed: "speed", force: "contact force", touching: "contacts", id: "id", layer: "starting layer", material: "material", tag: "tag", rank: "rank", entry: "entry", radius: "radius", dissipated: "dissipated energy",
};

function row(label: string, ...controls: HTMLElement[]): HTMLElement {
  return htmlElement("div", { class: "row" }, htmlElement("span", { class: "label" }, label), htmlElement("div", { class: "what" }, ...controls));
}

// What a control of its own shows.
type Shown = "colour" | "scaling" | "log" | "low" | "high" | "histogram" | "chains" | "threshold" | "container" | "tool" | "gauge" | "theme";

export class Panel {
  readonly node: HTMLElement;
  private shown: { [K in Shown]: Control<State[K]> };
  private contacts: HTMLOptionElement;
  private ranks: HTMLOptionElement;
  private entries: HTMLOptionElement;
  private energies: HTMLOptionElement;
  private groups: Groups;
  private range: HTMLElement;
  private scaleRow: HTMLElement;
  private chainsNote = htmlElement("p", { class: "note" });
  private axis: Control<Axis | "off">;
  private at: Control<number>;
  private flip: Control<boolean>;
  private plane: HTMLElement;
  private fieldRow: HTMLElement;
  private field = htmlElement("select", { "aria-label": "Field" });
  private fieldNote = htmlElement("p", { class: "note" });
  private fieldAxis: Control<Axis>;
  private fieldAt: Control<number>;
  private fieldPlane: HTMLElement;
  private filmButton: HTMLButtonElement;
  private progress = htmlElement("progress", { max: 1, value: 0, "aria-label": "Recorded", hidden: true });
  private plots: HTMLDetailsElement;
  private state: State;

  constructor(state: State, plots: HTMLElement, filmMissing: string | null, events: PanelEvents) {
    this.state = state;
    const set = (change: Partial<State>) => events.set(change);
    const clip = () => this.state.clip ?? { axis: "x" as Axis, at: 0.5, flip: false };
    const shown = this.shown = {
      colour: list("Colour by", Object.entries(COLOUR_LABELS).map(([value, label]) => ({ value: value as State["colour"], label })), state.colour, (colour) => set({ colour })),
      scaling: choice("Scale", SCALINGS, state.scaling, (scaling) => set({ scaling })),
      log: tick("log", state.log, (log) => set({ log })),
      low: number("Low end of the scale", state.low, (low) => set({ low })),
      high: number("High end of the scale", state.high, (high) => set({ high })),
      histogram: tick("histogram", state.histogram, (histogram) => set({ histogram })),
      tool: choice("Measure", TOOLS, state.tool, (tool) => set({ tool })),
      gauge: tick("scale bar", state.gauge, (gauge) => set({ gauge })),
      chains: tick("force chains", state.chains, (chains) => set({ chains })),
      threshold: slide("Chains stronger than, in multiples of the mean force", [1, 10, 0.5], state.threshold, (v) => `> ${formatGiven(v)} × mean`, (threshold) => set({ threshold })),
      container: choice("Container", CONTAINERS, state.container, (container) => set({ container })),
      theme: choice("Theme", THEMES, state.theme, (theme) => set({ theme })),
    };
    this.contacts = shown.colour.node.querySelector<HTMLOptionElement>("option[value=touching]")!;
    this.ranks = shown.colour.node.querySelector<HTMLOptionElement>("option[value=rank]")!;
    this.entries = shown.colour.node.querySelector<HTMLOptionElement>("option[value=entry]")!;
    this.energies = shown.colour.node.querySelector<HTMLOptionElement>("option[value=dissipated]")!;
    this.groups = new Groups((rules) => set({ rules }));
    const groups = htmlElement("details", { class: "section" }, htmlElement("summary", {}, htmlElement("h2", {}, "Show and hide")), this.groups.node);
    groups.open = state.rules.length > 0;
    shown.tool.node.title = "The ruler takes two places, the angle three (m)";
    shown.scaling.node.title = "Steady: one for the whole run. Frame: its own values. Fixed: from and to as given.";
    this.range = htmlElement("span", { class: "range" }, shown.low.node, "to", shown.high.node);
    this.scaleRow = row("Scale", shown.scaling.node, shown.log.node, this.range, shown.histogram.node);
    this.axis = choice("Clip", ["off", ...AXES] as const, state.clip?.axis ?? "off", (v) => set({ clip: v === "off" ? null : { ...clip(), axis: v } }));
    this.at = slide("Where the plane cuts", [0, 1, 0.005], clip().at, (v) => `${Math.round(100 * v)} %`, (at) => set({ clip: { ...clip(), at } }));
    this.flip = tick("other side", clip().flip, (flip) => set({ clip: { ...clip(), flip } }));
    this.plane = htmlElement("div", { class: "plane" }, this.at.node, this.flip.node);
    const slice = (): Slice => this.state.slice ?? { field: "", axis: "y", at: 0.5 };
    this.field.addEventListener("change", () => set({ slice: this.field.value === "" ? null : { ...slice(), field: this.field.value } }));
    this.fieldAxis = choice("Plane across", AXES, slice().axis, (axis) => set({ slice: { ...slice(), axis } }));
    this.fieldAt = slide("Where the slice lies", [0, 1, 0.005], slice().at, (v) => `${Math.round(100 * v)} %`, (at) => set({ slice: { ...slice(), at } }));
    this.fieldPlane = htmlElement("div", { class: "plane" }, this.fieldAxis.node, this.fieldAt.node);
    this.fieldRow = row("Field", htmlElement("label", { class: "control" }, this.field), this.fieldPlane, this.fieldNote);
    this.filmButton = button("Record", filmMissing ?? "Play to the end and save it as a film", () => events.film());
    this.filmButton.disabled = filmMissing !== null;
    this.plots = htmlElement("details", { class: "section", toggle: () => set({ plots: this.plots.open }) }, htmlElement("summary", {}, htmlElement("h2", {}, "Plots")), plots);
    this.plots.open = state.plots;
    this.node = htmlElement("aside", { class: "panel", "aria-label": "Panel" }, htmlElement("div", { class: "inner" },
      htmlElement("div", { class: "section" },
        row("Colour by", shown.colour.node), this.scaleRow,
        row("Forces", shown.chains.node, shown.threshold.node, this.chainsNote),
        row("Container", shown.container.node),
        row("Clip", this.axis.node, this.plane),
        this.fieldRow,
        row("View", htmlElement("div", { class: "buttons" }, ...VIEW_NAMES.map((name) => button(name, `From ${name === "home" ? "where it began" : name} (v goes on to the next)`, () => events.view(name))),
          button("fit", "All into the picture (f)", () => events.view("fit")))),
        row("Measure", shown.tool.node, shown.gauge.node),
        row("Theme", shown.theme.node),
        row("Save", htmlElement("div", { class: "buttons" }, button("Picture", "A PNG of what is shown (s)", () => events.picture()), this.filmButton, this.progress),
          filmMissing ? htmlElement("p", { class: "note" }, filmMissing) : htmlElement("span", { hidden: true }))),
      groups, this.plots));
  }

  // Shows what was chosen, here or elsewhere.
  update(state: State, scaled: boolean, chainsMissing: string | null, ranked: boolean, frame: Frame | null): void {
    this.state = state;
    this.show(frame);
    this.energies.hidden = this.energies.disabled = frame !== null && !frame.dissipated;
    this.entries.hidden = this.entries.disabled = frame !== null && frame.head.entries.length === 0;
    for (const name of Object.keys(this.shown) as Shown[]) (this.shown[name] as Control<unknown>).set(state[name]);
    this.contacts.disabled = chainsMissing !== null; // frames that lack chains lack these as well
    this.ranks.hidden = this.ranks.disabled = !ranked;
    this.scaleRow.hidden = !scaled;
    this.range.hidden = state.scaling !== "fixed";
    this.shown.chains.set(state.chains && chainsMissing === null);
    this.shown.chains.node.querySelector("input")!.disabled = chainsMissing !== null;
    this.shown.threshold.node.hidden = !state.chains || chainsMissing !== null;
    this.chainsNote.hidden = chainsMissing === null;
    this.chainsNote.textContent = chainsMissing ?? "";
    this.axis.set(state.clip?.axis ?? "off");
    this.plane.hidden = !state.clip;
    if (state.clip) {
      this.at.set(state.clip.at);
      this.flip.set(state.clip.flip);
    }
    if (this.plots.open !== state.plots) this.plots.open = state.plots;
    this.node.hidden = !state.panel;
  }

  // What can be sliced, and what is; `served`: fields may come.
  updateFields(slice: Slice | null, fields: FieldsTable, served: boolean): void {
    const names = ["", ...fields.fields.map((f) => f.name)], shown = [...this.field.options].map((o) => o.value);
    if (names.join() !== shown.join()) this.field.replaceChildren(...names.map((name) => htmlElement("option", { value: name }, name || "none")));
    this.field.value = slice && names.includes(slice.field) ? slice.field : "";
    this.field.parentElement!.hidden = !fields.known;
    this.fieldPlane.hidden = !slice || !fields.known;
    this.fieldRow.hidden = !served;
    this.fieldNote.hidden = fields.known;
    this.fieldNote.textContent = fields.trouble ?? "None yet: talus measure DIR -f velocity --grid 20,1,20 --every 0 -o DIR/fields.csv";
    if (!slice) return;
    this.fieldAxis.set(slice.axis);
    this.fieldAt.set(slice.at);
  }

  // The bodies of the frame shown, which come and go.
  show(frame: Frame | null): void {
    this.groups.show(frame, this.state.rules);
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

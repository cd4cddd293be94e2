// The keys, what the page is, and the licences.

import { htmlElement } from "../../../look/dom";

const KEYS: [string, string][] = [
  ["Space", "play, pause"], ["← →", "one frame back, on; with Shift ten"], ["Home End", "first, last frame"], ["+ −", "faster, slower"], ["L", "loop"],
  ["1–9 0", "colour by speed, contact force, contacts, id, starting layer, material, tag, rank where a run has several, entry, radius"], ["D", "colour by dissipated energy, where a run sums it"], ["C", "force chains"], ["G", "container: shown, ghost, hidden"],
  ["M", "measure: ruler, angle, off; Enter picks in the middle of the picture"], ["X", "clip plane: off, x, y, z"], ["F", "fit all into the picture"], ["V", "views: home, front, side, top"], ["T", "theme: auto, light, dark"],
  ["S", "save a picture"], ["P", "plots"], ["B", "panel"], ["Escape", "end measuring; let go of the body"], ["?", "this"],
];
const POINTER: [string, string][] = [
  ["Drag", "turn; one finger"], ["Right drag", "move; two fingers"], ["Wheel", "nearer, farther; pinch"], ["Click", "a body's state; a place while measuring"],
];

const table = (rows: [string, string][]): HTMLElement =>
  htmlElement("dl", {}, ...rows.flatMap(([key, what]) => [htmlElement("dt", {}, ...key.split(/ (?!drag)/).map((k) => htmlElement("kbd", {}, k))), htmlElement("dd", {}, what)]));

export function help(producer: string, note: string): HTMLDialogElement {
  const licences = document.getElementById("licences")?.textContent?.trim() ?? "";
  const dialog: HTMLDialogElement = htmlElement("dialog", { class: "help", "aria-label": "Keys and help", click: (e) => e.target === dialog && dialog.close() },
    htmlElement("div", {},
      htmlElement("div", { class: "head" }, htmlElement("h2", {}, "Keys"), htmlElement("button", { type: "button", class: "button small", click: () => dialog.close() }, "Close")),
      table(KEYS), htmlElement("h2", {}, "Pointer"), table(POINTER),
      note ? htmlElement("p", { class: "note" }, note) : null,
      htmlElement("p", { class: "note" }, `Written by ${producer || "Talus"}. The address holds the view: copy it to pass it on. This page asks nothing of any network but the server that gave it.`),
      htmlElement("details", {}, htmlElement("summary", {}, "Licences"), htmlElement("pre", {}, licences))));
  return dialog;
}

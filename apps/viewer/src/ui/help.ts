// The keys, what the page is, and the licences.

import { el } from "../../../look/dom";

const KEYS: [string, string][] = [
  ["Space", "play, pause"], ["← →", "one frame back, on; with Shift ten"], ["Home End", "first, last frame"], ["+ −", "faster, slower"], ["L", "loop"],
  ["1–7", "colour by speed, contact force, contacts, id, starting layer, material, tag"], ["C", "force chains"], ["G", "container: shown, ghost, hidden"],
  ["X", "clip plane: off, x, y, z"], ["F", "fit all into the picture"], ["V", "views: home, front, side, top"], ["T", "theme: auto, light, dark"],
  ["S", "save a picture"], ["P", "plots"], ["B", "panel"], ["Escape", "let go of the body"], ["?", "this"],
];
const POINTER: [string, string][] = [
  ["Drag", "turn; one finger"], ["Right drag", "move; two fingers"], ["Wheel", "nearer, farther; pinch"], ["Click", "a body's state"],
];

const table = (rows: [string, string][]): HTMLElement =>
  el("dl", {}, ...rows.flatMap(([key, what]) => [el("dt", {}, ...key.split(/ (?!drag)/).map((k) => el("kbd", {}, k))), el("dd", {}, what)]));

export function help(producer: string, note: string): HTMLDialogElement {
  const licences = document.getElementById("licences")?.textContent?.trim() ?? "";
  const dialog: HTMLDialogElement = el("dialog", { class: "help", "aria-label": "Keys and help", click: (e) => e.target === dialog && dialog.close() },
    el("div", {},
      el("div", { class: "head" }, el("h2", {}, "Keys"), el("button", { type: "button", class: "button small", click: () => dialog.close() }, "Close")),
      table(KEYS), el("h2", {}, "Pointer"), table(POINTER),
      note ? el("p", { class: "note" }, note) : null,
      el("p", { class: "note" }, `Written by ${producer || "Talus"}. The address holds the view: copy it to pass it on. This page asks nothing of any network but the server that gave it.`),
      el("details", {}, el("summary", {}, "Licences"), el("pre", {}, licences))));
  return dialog;
}

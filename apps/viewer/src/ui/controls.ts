// Controls that can also be set from elsewhere: a key, a link, the run itself.

import { checkbox, type Choice, htmlElement, segmentedChoice, dropDown, svgElement } from "../../../look/dom";

export interface Control<T> {
  node: HTMLElement;
  set(value: T): void; // shows the value, tells nobody
}

export function choice<T extends string>(label: string, values: readonly T[], value: T, change: (v: T) => void): Control<T> {
  const node = segmentedChoice(label, values.map((v) => ({ value: v, label: v })), value, (v) => change(v as T));
  return { node, set: (v) => (node.querySelector<HTMLInputElement>(`input[value="${v}"]`)!.checked = true) };
}

export function list<T extends string>(label: string, choices: (Choice & { value: T })[], value: T, change: (v: T) => void): Control<T> {
  const node = dropDown(label, choices, value, (v) => change(v as T));
  const box = node.querySelector("select")!;
  return { node, set: (v) => (box.value = v) };
}

export function tick(label: string, on: boolean, change: (on: boolean) => void): Control<boolean> {
  const node = checkbox(label, on, change);
  const box = node.querySelector("input")!;
  return { node, set: (v) => (box.checked = v) };
}

export function slide(label: string, [low, high, step]: [number, number, number], value: number, text: (v: number) => string, change: (v: number) => void): Control<number> {
  const says = htmlElement("output", {});
  const input = htmlElement("input", {
    type: "range", min: low, max: high, step, value, "aria-label": label,
    input: () => (show(), change(Number(input.value))),
  });
  const show = (): void => {
    says.textContent = text(Number(input.value));
    input.setAttribute("aria-valuetext", says.textContent);
  };
  show();
  return {
    node: htmlElement("div", { class: "control slide" }, input, says),
    set: (v) => ((input.value = String(v)), show()),
  };
}

export function number(label: string, value: number, change: (v: number) => void): Control<number> {
  const text = (v: number): string => String(Number(v.toPrecision(4)));
  const input = htmlElement("input", {
    type: "number", step: "any", value: text(value), class: "number", "aria-label": label,
    change: () => Number.isFinite(input.valueAsNumber) && change(input.valueAsNumber),
  });
  return { node: input, set: (v) => (input.value = text(v)) };
}

export function button(text: string, title: string, click: () => void): HTMLButtonElement {
  return htmlElement("button", { type: "button", class: "button", title, click }, text);
}

// ---- buttons with a drawing ----

const DRAWINGS = {
  play: "M4 2.5v11l9.5-5.5z",
  pause: "M4 2.5h2.8v11H4zM9.2 2.5H12v11H9.2z",
  back: "M11.5 3v10L5.5 8zM3.4 3h1.7v10H3.4z",
  forward: "M4.5 3v10l6-5zM10.9 3h1.7v10h-1.7z",
  loop: "M3 8a5 5 0 0 1 8.5-3.55V2.8h1.5v4.2H8.8V5.5h1.7A3.5 3.5 0 0 0 4.5 8zM13 8a5 5 0 0 1-8.5 3.55v1.65H3V9h4.2v1.5H5.5A3.5 3.5 0 0 0 11.5 8z",
  panel: "M1.5 2.5h13v11h-13zM3 4v8h6V4zM10.5 4v8H13V4z",
  close: "M3.2 4.3 4.3 3.2 8 6.9l3.7-3.7 1.1 1.1L9.1 8l3.7 3.7-1.1 1.1L8 9.1l-3.7 3.7-1.1-1.1L6.9 8z",
} as const;
export type Drawing = keyof typeof DRAWINGS;

export function icon(name: Drawing): SVGElement {
  return svgElement("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" },
    svgElement("path", { d: DRAWINGS[name], fill: "currentColor", "fill-rule": "evenodd" }));
}

export function iconButton(name: Drawing, label: string, click: () => void, attributes: Record<string, string> = {}): HTMLButtonElement {
  return htmlElement("button", { type: "button", class: "icon", "aria-label": label, title: label, click, ...attributes }, icon(name));
}

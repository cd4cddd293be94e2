// Elements from data: text always goes in as text, never as markup.

type Child = Node | string | null | undefined;
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: Event) => void)>;

function fill<E extends Element>(node: E, attributes: Attributes, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, String(value));
  }
  for (const child of children) if (child !== null && child !== undefined) node.append(child);
  return node;
}

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

export function svgEl(tag: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

// An SVG text made by this page, as an element.
export function parseSvg(text: string): Element {
  return document.importNode(new DOMParser().parseFromString(text, "image/svg+xml").documentElement, true);
}

export function download(name: string, type: string, data: BlobPart): void {
  const url = URL.createObjectURL(new Blob([data], { type }));
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

export interface Choice {
  value: string;
  label: string;
}

export function select(label: string, choices: Choice[], value: string, change: (v: string) => void): HTMLElement {
  const box = el("select", { change: (e) => change((e.target as HTMLSelectElement).value) },
    ...choices.map((c) => el("option", { value: c.value, selected: c.value === value }, c.label)));
  return el("label", { class: "control" }, el("span", {}, label), box);
}

// One of a few, all in sight: a group of radio buttons dressed as one bar.
export function segmented(label: string, choices: Choice[], value: string, change: (v: string) => void): HTMLElement {
  const name = "seg-" + label.replace(/\W+/g, "-").toLowerCase();
  return el("fieldset", { class: "control segmented" }, el("legend", {}, label),
    ...choices.map((c) => el("label", {},
      el("input", { type: "radio", name, value: c.value, checked: c.value === value, change: () => change(c.value) }),
      el("span", {}, c.label))));
}

export function checkbox(label: string, checked: boolean, change: (on: boolean) => void): HTMLElement {
  return el("label", { class: "control check" },
    el("input", { type: "checkbox", checked, change: (e) => change((e.target as HTMLInputElement).checked) }),
    el("span", {}, label));
}

// Elements of the page made from data. Text is always inserted as text, never as markup.

type Child = Node | string | null | undefined;
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: Event) => void)>;

// Sets attributes and appends children. A function is the listener of the event of its name; true is an attribute without
// a value; null, undefined and false leave the attribute out.
function fillElement<E extends Element>(node: E, attributes: Attributes, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, String(value));
  }
  for (const child of children) if (child !== null && child !== undefined) node.append(child);
  return node;
}

export function htmlElement<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fillElement(document.createElement(tag), attributes, children);
}

export function svgElement(tag: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  return fillElement(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

// The element that an SVG text describes; the text must have been made by this page.
export function parseSvg(text: string): Element {
  return document.importNode(new DOMParser().parseFromString(text, "image/svg+xml").documentElement, true);
}

// Makes the browser save the data as a file.
export function download(name: string, type: string, data: BlobPart): void {
  const url = URL.createObjectURL(new Blob([data], { type }));
  htmlElement("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

export interface Choice {
  value: string;
  label: string;
}

// A drop-down list with its label; `change` gets the value that the user chooses.
export function dropDown(label: string, choices: Choice[], value: string, change: (v: string) => void): HTMLElement {
  const box = htmlElement("select", { change: (e) => change((e.target as HTMLSelectElement).value) },
    ...choices.map((c) => htmlElement("option", { value: c.value, selected: c.value === value }, c.label)));
  return htmlElement("label", { class: "control" }, htmlElement("span", {}, label), box);
}

// A group of radio buttons, drawn as one bar, for a few choices that are all visible; `change` gets the chosen value.
export function segmentedChoice(label: string, choices: Choice[], value: string, change: (v: string) => void): HTMLElement {
  const name = "seg-" + label.replace(/\W+/g, "-").toLowerCase();
  return htmlElement("fieldset", { class: "control segmented" }, htmlElement("legend", {}, label),
    ...choices.map((c) => htmlElement("label", {},
      htmlElement("input", { type: "radio", name, value: c.value, checked: c.value === value, change: () => change(c.value) }),
      htmlElement("span", {}, c.label))));
}

export function checkbox(label: string, checked: boolean, change: (on: boolean) => void): HTMLElement {
  return htmlElement("label", { class: "control check" },
    htmlElement("input", { type: "checkbox", checked, change: (e) => change((e.target as HTMLInputElement).checked) }),
    htmlElement("span", {}, label));
}

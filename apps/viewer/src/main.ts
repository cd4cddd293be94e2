// Begins: the source of frames, the engine that draws them, the page around both.

import { isDark } from "../../look/choices";
import { htmlElement } from "../../look/dom";
import { createSource } from "./data/source";
import { Engine } from "./engine/engine";
import "./style.css";
import { App } from "./ui/app";

const root = document.documentElement;

function fail(message: string): void {
  root.dataset.errors = String(Number(root.dataset.errors ?? 0) + 1);
  document.body.prepend(htmlElement("p", { class: "failure", role: "alert" }, `This page failed: ${message}`));
}

function say(host: HTMLElement, title: string, ...lines: string[]): void {
  host.replaceChildren(htmlElement("section", { class: "cannot", role: "alert" }, htmlElement("h1", {}, title), ...lines.map((line) => htmlElement("p", {}, line))));
  root.dataset.ready = "1";
}

function hasWebgl2(): boolean {
  return document.createElement("canvas").getContext("webgl2") !== null;
}

async function main(): Promise<void> {
  const host = document.getElementById("app")!;
  root.dataset.theme = isDark("auto") ? "dark" : "light";
  if (!hasWebgl2()) {
    say(host, "This browser cannot draw the picture",
      "It needs WebGL 2, which this browser does not have or has switched off.",
      "Any current Firefox, Chrome, Edge or Safari has it. Where it is switched off, look for “hardware acceleration” in the browser's settings, or at about:support (Firefox) or chrome://gpu (Chrome) for the reason.",
      "Without it, talus render DIR -o picture.png makes still pictures.");
    return;
  }
  delete root.dataset.theme;
  const source = await createSource(document);
  const engine = new Engine(htmlElement("canvas", {}));
  const app = new App(source, engine, host);
  Object.assign(window, { talus: app.testing });
}

addEventListener("error", (e) => {
  // Browsers say this where an observed size changes once more within a picture; the next one takes it up.
  if (!e.message.startsWith("ResizeObserver loop")) fail(e.message);
});
addEventListener("unhandledrejection", (e) => fail(String((e.reason as Error)?.message ?? e.reason)));
main().catch((e: Error) => fail(e.message));

// Lines over the picture: one per kind of trouble, gone when the trouble is.

import { htmlElement } from "../../../look/dom";
import { iconButton } from "./controls";

export class Notices {
  readonly node = htmlElement("div", { class: "notices", role: "status", "aria-live": "polite" });
  private lines = new Map<string, HTMLElement>();

  // null takes the line away.
  set(kind: string, text: string | null, how: "bad" | "plain" = "bad"): void {
    this.lines.get(kind)?.remove();
    this.lines.delete(kind);
    if (text === null) return;
    const line = htmlElement("div", { class: `notice ${how}`, "data-kind": kind }, htmlElement("span", {}, text), iconButton("close", "Close", () => this.set(kind, null)));
    this.lines.set(kind, line);
    this.node.append(line);
  }

  // Shown for a while.
  brief(kind: string, text: string): void {
    this.set(kind, text, "plain");
    const line = this.lines.get(kind);
    setTimeout(() => this.lines.get(kind) === line && this.set(kind, null), 4000);
  }
}

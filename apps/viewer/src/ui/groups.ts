// The part of the panel that shows, ghosts and hides bodies by the entry of the scene that they come from, by tag or material.

import { htmlElement } from "../../../look/dom";
import { formatInteger } from "../../../look/format";
import { groupOf } from "../engine/styles";
import type { Container, Frame, Rule } from "../types";
import { choice, type Control, list } from "./controls";

export const GROUPS = ["entry", "tag", "material"] as const;
type Group = (typeof GROUPS)[number];

const MOST = 100; // rows; more would be found by nobody
const HOWS = [{ value: "auto", label: "as usual" }, { value: "shown", label: "shown" }, { value: "ghost", label: "ghost" }, { value: "hidden", label: "hidden" }] as const;

// The rules with another for these bodies; `auto`: none.
export function withRule(rules: readonly Rule[], by: Group, key: string, how: Container | "auto"): Rule[] {
  const others = rules.filter((r) => r.by !== by || r.key !== key);
  return how === "auto" ? others : [...others, { by, key, how }];
}

// What a group has in a frame, by ascending values, and how many bodies.
export function membersOf(frame: Frame, by: Group): { key: string; count: number }[] {
  const { values, name } = groupOf(frame, by), counts = new Map<number, number>();
  for (let i = 0; i < frame.count; i++) if (by === "tag" || values[i]! >= 0) counts.set(values[i]!, (counts.get(values[i]!) ?? 0) + 1);
  return [...counts].sort((a, b) => a[0] - b[0]).map(([value, count]) => ({ key: name(value), count }));
}

export class Groups {
  readonly node: HTMLElement;
  private by: Group = "entry";
  private choice: Control<Group>;
  private rows = htmlElement("div", { class: "groups" });
  private frame: Frame | null = null;
  private rules: readonly Rule[] = [];
  private drawn = "";

  constructor(private set: (rules: Rule[]) => void) {
    this.choice = choice("Bodies by", GROUPS, this.by, (by) => {
      this.by = by;
      this.draw();
    });
    this.node = htmlElement("div", {}, this.choice.node, this.rows);
  }

  show(frame: Frame | null, rules: readonly Rule[]): void {
    if (frame && frame.head.entries.length === 0 && this.frame === null && this.by === "entry") this.choice.set(this.by = "tag");
    this.frame = frame;
    this.rules = rules;
    this.draw();
  }

  private draw(): void {
    const members = this.frame ? membersOf(this.frame, this.by) : [], key = JSON.stringify([this.by, members, this.rules]);
    if (key === this.drawn || this.rows.contains(document.activeElement)) return; // a list that is open stays
    this.drawn = key;
    const rows = members.slice(0, MOST).map(({ key, count }) => {
      const how = this.rules.find((r) => r.by === this.by && r.key === key)?.how ?? "auto";
      const label = `${this.by} ${key}`, control = list(label, [...HOWS], how, (v) => {
        this.set(withRule(this.rules, this.by, key, v));
      });
      return htmlElement("div", { class: "member" }, htmlElement("span", { class: "name", title: key }, key), htmlElement("span", { class: "note" }, formatInteger(count)), control.node);
    });
    const more = members.length > MOST ? [htmlElement("p", { class: "note" }, `and ${formatInteger(members.length - MOST)} more, which the address can name: hide=${this.by}:NAME`)] : [];
    const none = members.length === 0 && this.by === "entry" ? [htmlElement("p", { class: "note" }, "The frames of this run do not say which entry of the scene bodies come from.")] : [];
    this.rows.replaceChildren(...rows, ...more, ...none);
  }
}

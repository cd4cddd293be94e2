// How single bodies are seen: by rules for the entry of the scene that they come from, their tag or their material.

import type { Container, Frame, Head, Rule } from "../types";

// `auto`: fixed bodies as the container, others shown.
export const enum Style { auto, shown, ghost, hidden }

const STYLES: Record<Container, Style> = { shown: Style.shown, ghost: Style.ghost, hidden: Style.hidden };

// The names of entries, each once, in the order of the scene; empty where the writer of the frames did not know them.
export const entryNames = (head: Head): string[] => [...new Set(head.entries.map((e) => e.name))];

const known = new WeakMap<Float64Array, { head: Head; of: Int32Array }>(); // by the array of ids, which frames share

// The index into entryNames of each body's entry, -1 where it has none.
export function entriesOf(frame: Frame): Int32Array {
  const before = known.get(frame.id);
  if (before?.head === frame.head) return before.of;
  const { entries } = frame.head, names = entryNames(frame.head), place = entries.map((e) => names.indexOf(e.name)), of = new Int32Array(frame.count).fill(-1);
  const starts = entries.map((e) => e.first);
  for (let i = 0; entries.length > 0 && i < frame.count; i++) {
    let low = 0, high = entries.length; // the last range that begins at or before the body lies in low..high
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (starts[middle]! <= frame.id[i]!) low = middle;
      else high = middle;
    }
    if (starts[low]! <= frame.id[i]! && frame.id[i]! <= entries[low]!.last) of[i] = place[low]!;
  }
  known.set(frame.id, { head: frame.head, of });
  return of;
}

// The value of each body in a group, and what the values are called.
export function groupOf(frame: Frame, by: Rule["by"]): { values: ArrayLike<number>; name: (value: number) => string } {
  if (by === "tag") return { values: frame.tag, name: String };
  if (by === "material") return { values: frame.material, name: (v) => frame.head.materials[v]?.name ?? "" };
  const names = entryNames(frame.head);
  return { values: entriesOf(frame), name: (v) => names[v] ?? "" };
}

// The style of each body; null: all are `auto`. Of two rules for a body the later one holds.
export function stylesOf(frame: Frame, rules: readonly Rule[]): Uint8Array | null {
  if (rules.length === 0) return null;
  const out = new Uint8Array(frame.count);
  for (const by of new Set(rules.map((r) => r.by))) {
    const { values, name } = groupOf(frame, by), of = new Map(rules.filter((r) => r.by === by).map((r) => [r.key, STYLES[r.how]])), found = new Map<number, Style>();
    for (let i = 0; i < frame.count; i++) {
      const value = values[i]!;
      let style = found.get(value);
      if (style === undefined) found.set(value, (style = of.get(name(value)) ?? Style.auto));
      if (style !== Style.auto) out[i] = style;
    }
  }
  return out;
}

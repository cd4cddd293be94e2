// Seven hues times seven dashes: 49 series before one repeats.

import { DARK_HUES, LIGHT_HUES } from "../../look/inks";

export interface Style {
  hue: number;
  dash: number[]; // empty: solid
}

const DASHES = [[], [7, 3], [2, 2.5], [9, 3, 2, 3], [14, 4], [9, 3, 2, 3, 2, 3], [3, 6]];

// What has no name to go by, such as problems.
export function styleOf(index: number): Style {
  const round = Math.floor(index / LIGHT_HUES.length);
  return { hue: index % LIGHT_HUES.length, dash: DASHES[round % DASHES.length]! };
}

// An algorithm looks alike in every report: its hue and dash. Those often drawn together have hues of
// their own; relatives share one.
const ALGORITHMS = new Map<string, [hue: number, dash: number]>([
  ["apgd", [0, 0]], ["pgd", [0, 1]], ["gs", [1, 0]], ["jacobi", [1, 1]], ["lbfgs-fb", [2, 0]], ["mprgp", [2, 1]],
  ["gpminres", [3, 0]], ["gpminres-p", [3, 1]], ["gpcg", [3, 2]], ["anderson", [4, 0]], ["admm", [4, 1]],
  ["spg", [5, 0]], ["kucera", [5, 1]], ["auto", [6, 0]], ["cpg", [6, 1]],
  ["ipm-chol", [1, 3]], ["ipm-aug", [3, 3]], ["ipm-soc", [1, 4]], ["tao-blmvm", [4, 3]], ["tao-tron", [5, 3]], ["tao-gpcg", [3, 4]],
  ["tao-bqpip", [4, 4]], ["ipm-hsd", [6, 3]], ["newton-pang", [2, 3]], ["newton-path", [2, 4]],
]);

// Any other name has a hue by its letters.
function hashed(name: string): number {
  let sum = 0;
  for (const c of name) sum = (31 * sum + c.codePointAt(0)!) % 65521;
  return sum % LIGHT_HUES.length;
}

// "gs:omega=1.5", "gs 1000" and "gs, 800" are variants of gs: its hue with the next dash that is free in this report.
const algorithm = (name: string): string => name.split(/[:, ]/, 1)[0]!;

export function solverStyles(names: string[]): Style[] {
  const taken = new Set<number>(), styles: Style[] = [];
  const take = (at: number, hue: number, first: number): void => {
    const count = LIGHT_HUES.length * DASHES.length;
    let dash = first, tries = 0;
    for (; taken.has(hue * DASHES.length + dash) && tries < count; tries++) {
      dash = (dash + 1) % DASHES.length;
      if (dash === first) hue = (hue + 1) % LIGHT_HUES.length;
    }
    taken.add(hue * DASHES.length + dash);
    styles[at] = { hue, dash: DASHES[dash]! };
  };
  // Whole names choose first, then variants, then names that the table does not have.
  const rank = (name: string) => (ALGORITHMS.has(name) ? 0 : ALGORITHMS.has(algorithm(name)) ? 1 : 2);
  const order = names.map((name, at) => ({ name, at })).sort((a, b) => rank(a.name) - rank(b.name) || a.at - b.at);
  for (const { name, at } of order) {
    const [hue, dash] = ALGORITHMS.get(algorithm(name)) ?? [hashed(algorithm(name)), 0];
    take(at, hue, dash);
  }
  return styles;
}

export const colour = (style: Style, dark: boolean): string => (dark ? DARK_HUES : LIGHT_HUES)[style.hue]!;

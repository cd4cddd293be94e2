// Seven hues that the common forms of colour blindness keep apart (after Okabe and Ito, darkened or
// lightened for contrast with the ground), times five dashes: 35 series before one repeats.

export interface Style {
  hue: number;
  dash: number[]; // empty: solid
}

const LIGHT = ["#0064ad", "#d04a02", "#00845f", "#b24a8c", "#c08400", "#3d9fd6", "#3a3a3a"];
const DARK = ["#6aa9ff", "#ff8b52", "#35c79c", "#e790c4", "#f0c04a", "#86d3ff", "#dcdcdc"];
const DASHES = [[], [7, 3], [2, 2.5], [9, 3, 2, 3], [14, 4]];

export function styleOf(index: number): Style {
  const round = Math.floor(index / LIGHT.length);
  return { hue: index % LIGHT.length, dash: DASHES[round % DASHES.length]! };
}

export const colour = (style: Style, dark: boolean): string => (dark ? DARK : LIGHT)[style.hue]!;

export interface Inks {
  text: string;
  muted: string;
  axis: string;
  grid: string;
  bars: [string, string, string]; // mean, standard deviation, maximum
  dark: boolean;
}

export const LIGHT_INKS: Inks = {
  text: "#1c1c1a", muted: "#66655f", axis: "#8d8b83", grid: "#ebe9e2",
  bars: ["#0b3c63", "#4d8fbf", "#bcd7ea"], dark: false,
};
export const DARK_INKS: Inks = {
  text: "#e6e4dd", muted: "#a09e96", axis: "#6f6d66", grid: "#2c2c2a",
  bars: ["#e3f1fb", "#6aa9d6", "#2b4a63"], dark: true,
};

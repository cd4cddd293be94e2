// The colours of drawings: seven hues that people with the common forms of colour blindness can tell apart (after Okabe and
// Ito, darkened or lightened for contrast with the background), and the inks, which are the colours of axes and text.

export const LIGHT_HUES = ["#0064ad", "#d04a02", "#00845f", "#b24a8c", "#c08400", "#3d9fd6", "#3a3a3a"];
export const DARK_HUES = ["#6aa9ff", "#ff8b52", "#35c79c", "#e790c4", "#f0c04a", "#86d3ff", "#dcdcdc"];

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

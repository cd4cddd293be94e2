// The look that the viewer and `talus render` share: colours, light, camera (docs/how-to/render.md). Colours are sRGB;
// lighting is done in linear light.

import type { ViewName } from "../types";

export const SEQUENTIAL = [
  "#3369af", "#4268ba", "#5167c3", "#6065c9", "#6e62cd", "#7c60cf", "#8a5dcf", "#975acd", "#a358ca", "#af56c5", "#ba55be",
  "#c454b6", "#ce53ae", "#d754a5", "#df559b", "#e65891", "#ec5b87", "#f1607e", "#f56674", "#f96d6b", "#fc7562", "#fe7d5b",
  "#ff8655", "#ff9052", "#ff994f", "#ffa24d", "#ffab4b", "#ffb54b", "#ffbe49", "#fec74a", "#fbd156", "#f8da66", "#f5e378",
];

// Neighbouring bodies should differ, and which colour a body has means nothing.
export const IDS = [
  "#a44869", "#c56373", "#e5807d", "#a74c38", "#c36b42", "#dc8c4e", "#985c00", "#ae7b10", "#c09d36", "#7a6d00", "#888d22",
  "#92ae51", "#4a7b29", "#4e9a57", "#53b982", "#007f61", "#0a9c89", "#0ab9b4", "#067b82", "#0096ae", "#2ab1dc", "#0074a5",
  "#3f8bcd", "#70a2ef", "#5066b4", "#7a7ccf", "#a492e9", "#7c57a6", "#a26dba", "#ca85cb", "#984c85", "#bc6492",
];

// Opacities are those of `talus render`, which blends in linear light, turned into what gives the same on a screen
// whose values are blended as they are.
export interface Theme {
  background: string; ink: string; fixed: string; categories: string[];
  ghost: string; face: number; edge: number; line: number; // of the ghosted container: colour, opacity face on, edge on, of its lines
  veil: string;                                            // colour of the bodies behind force chains
}

export const LIGHT: Theme = {
  background: "#fffffb", ink: "#1c1c1a", fixed: "#b4b2a8", ghost: "#6b7f95", face: 0.03, edge: 0.33, line: 0.4, veil: "#c9c8c2",
  categories: ["#0064ad", "#d04a02", "#00845f", "#b24a8c", "#c08400", "#3d9fd6", "#3a3a3a"],
};
export const DARK: Theme = {
  background: "#171716", ink: "#e6e4dd", fixed: "#6a6963", ghost: "#9fb2c8", face: 0.046, edge: 0.41, line: 0.5, veil: "#8b8a86",
  categories: ["#6aa9ff", "#ff8b52", "#35c79c", "#e790c4", "#f0c04a", "#86d3ff", "#dcdcdc"],
};

export const KEY = { azimuth: -40, elevation: 52, strength: 0.82, sky: 0.5, ground: 0.32, highlight: 0.1, power: 40 }; // azimuth from the camera's
export const GHOST = { lineWidth: 1.5, shadow: 0.3 };
export const CHAINS = { radius: 0.45, bodies: 0.4 }; // radius at the top of the scale, in typical radii; opacity of the bodies behind

export const VIEWS: Record<ViewName, { azimuth: number; elevation: number }> = {
  home: { azimuth: -60, elevation: 18 }, front: { azimuth: -90, elevation: 0 }, side: { azimuth: 0, elevation: 0 }, top: { azimuth: -90, elevation: 90 },
};
export const FIELD_OF_VIEW = 28; // degrees, vertical
export const MARGIN = 0.06;      // of the smaller side of the picture
export const GROUND_WITHIN = Math.cos(Math.PI / 6); // a plane whose normal is within 30 degrees of up

export function rgb(hex: string): [number, number, number] {
  const n = parseInt(hex.slice(1), 16);
  return [n >> 16, (n >> 8) & 255, n & 255];
}

export const toLinear = (byte: number): number => {
  const s = byte / 255;
  return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
};

// The colour at x, 0 to 1, of the scale from low to high, as CSS: for legends.
export function sequentialCss(x: number): string {
  const [r, g, b] = sequentialAt(x);
  return `rgb(${Math.round(r)} ${Math.round(g)} ${Math.round(b)})`;
}

export function sequentialAt(x: number): [number, number, number] {
  const at = Math.min(1, Math.max(0, x)) * (SEQUENTIAL.length - 1), k = Math.min(Math.floor(at), SEQUENTIAL.length - 2);
  const a = rgb(SEQUENTIAL[k]!), b = rgb(SEQUENTIAL[k + 1]!);
  return [0, 1, 2].map((c) => a[c]! + (b[c]! - a[c]!) * (at - k)) as [number, number, number];
}

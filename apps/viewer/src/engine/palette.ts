// The look that the viewer and `talus render` share: colours, light, camera (docs/render.md). Colours are sRGB;
// lighting is done in linear light.

import type { ViewName } from "../types";

export const SEQUENTIAL = [
  "#234993", "#31499e", "#3e49a9", "#4d48b1", "#5b47b7", "#6a46ba", "#7745ba", "#8544b9", "#9143b7", "#9e42b3", "#a941ad",
  "#b441a6", "#bf419f", "#c94296", "#d2448d", "#da4784", "#e14c7b", "#e75271", "#ec5968", "#f1615f", "#f46956", "#f7724e",
  "#f97c47", "#fa8641", "#fb913e", "#fb9b3c", "#fba53a", "#fcaf37", "#fcb937", "#fbc43d", "#f8ce4b", "#f6d95e", "#f3e271",
];

// Neighbouring bodies should differ, and which colour a body has means nothing.
export const IDS = [
  "#a44869", "#c56373", "#e5807d", "#a74c38", "#c36b42", "#dc8c4e", "#985c00", "#ae7b10", "#c09d36", "#7a6d00", "#888d22",
  "#92ae51", "#4a7b29", "#4e9a57", "#53b982", "#007f61", "#0a9c89", "#0ab9b4", "#067b82", "#0096ae", "#2ab1dc", "#0074a5",
  "#3f8bcd", "#70a2ef", "#5066b4", "#7a7ccf", "#a492e9", "#7c57a6", "#a26dba", "#ca85cb", "#984c85", "#bc6492",
];

export interface Theme { background: string; ink: string; fixed: string; ghost: string; categories: string[] }

export const LIGHT: Theme = {
  background: "#fffffb", ink: "#1c1c1a", fixed: "#b4b2a8", ghost: "#6b7f95",
  categories: ["#0064ad", "#d04a02", "#00845f", "#b24a8c", "#c08400", "#3d9fd6", "#3a3a3a"],
};
export const DARK: Theme = {
  background: "#171716", ink: "#e6e4dd", fixed: "#6a6963", ghost: "#9fb2c8",
  categories: ["#6aa9ff", "#ff8b52", "#35c79c", "#e790c4", "#f0c04a", "#86d3ff", "#dcdcdc"],
};

export const KEY = { azimuth: -40, elevation: 52, strength: 0.8, sky: 0.42, ground: 0.22, highlight: 0.12, power: 40 }; // azimuth from the camera's
export const GHOST = { face: 0.05, edge: 0.42, line: 0.55, lineWidth: 1.5, shadow: 0.35 };
export const CHAINS = { radius: 0.3, bodies: 0.3 }; // radius of the strongest in typical radii; what is left of the bodies' colour

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

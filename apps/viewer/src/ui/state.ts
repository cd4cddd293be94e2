// What the reader chose, and how it stands in the address after "#", so that a view can be passed on.

import { chooseWord, type Theme, THEMES } from "../../../look/choices";
import type { Axis, Clip, ColourBy, Container, Rule, Slice, ViewName } from "../types";
import { type Tool, TOOLS } from "./measure";

export const COLOURS: ColourBy[] = ["speed", "force", "touching", "id", "layer", "material", "tag", "rank", "entry", "radius", "dissipated"];
export const CONTAINERS: Container[] = ["shown", "ghost", "hidden"];
export const SCALINGS = ["steady", "frame", "fixed"] as const;
export const SPEEDS = [0.1, 0.2, 0.5, 1, 2, 5, 10]; // simulated seconds per second
export const EVERY_FRAME = 0; // as a speed
export const VIEW_NAMES: ViewName[] = ["home", "front", "side", "top"];
export const AXES: Axis[] = ["x", "y", "z"];


export interface State {
  colour: ColourBy;
  scaling: (typeof SCALINGS)[number];
  low: number;      // of a fixed scale
  high: number;
  log: boolean;
  chains: boolean;
  threshold: number;
  clip: Clip | null;
  slice: Slice | null;
  container: Container;
  rules: Rule[]; // of bodies that are seen in another way
  tool: Tool;
  histogram: boolean;
  gauge: boolean;
  theme: Theme;
  speed: number;
  loop: boolean;
  panel: boolean;
  plots: boolean;
}

export interface Address {
  state: State;
  time: number | null;
  camera: number[] | null;
  body: number; // 0: none
}

export const DEFAULTS: Readonly<State> = {
  colour: "speed", scaling: "steady", low: 0, high: 1, log: false, chains: false, threshold: 2, clip: null, slice: null, container: "ghost",
  rules: [], tool: "off", histogram: true, gauge: true, theme: "auto", speed: 1, loop: false, panel: true, plots: true,
};

function numbers(text: string | null, count?: number): number[] | null {
  if (!text) return null;
  const values = text.split(",").map(Number);
  return values.every(Number.isFinite) && (count === undefined || values.length === count) ? values : null;
}

function clipOf(text: string | null): Clip | null {
  const match = /^([xyz])([\d.]+)(-?)$/.exec(text ?? "");
  const at = Number(match?.[2]);
  return match && at >= 0 && at <= 1 ? { axis: chooseWord(match[1]!, AXES, "x"), at, flip: match[3] === "-" } : null;
}

function sliceOf(text: string | null): Slice | null {
  const match = /^([xyz])([\d.]+),(\w+)$/.exec(text ?? ""), at = Number(match?.[2]);
  return match && at >= 0 && at <= 1 ? { axis: chooseWord(match[1]!, AXES, "y"), at, field: match[3]! } : null;
}

const HOWS: Record<Container, string> = { shown: "show", ghost: "ghost", hidden: "hide" }; // in the address

// Several rules are parted by ";": names may hold commas.
function rulesOf(given: URLSearchParams): Rule[] {
  return CONTAINERS.flatMap((how) => (given.get(HOWS[how]) ?? "").split(";").flatMap((text): Rule[] => {
    const match = /^(entry|tag|material):(.+)$/s.exec(text);
    return match ? [{ by: match[1] as Rule["by"], key: match[2]!.replace(/%(25|3B)/g, decodeURIComponent), how }] : [];
  }));
}

// Whatever an address lacks or has wrong is as in `defaults`.
export function readAddress(hash: string, defaults: State): Address {
  const given = new URLSearchParams(hash.slice(1));
  const get = (name: string) => given.get(name);
  const flag = (name: string, otherwise: boolean) => (get(name) === null ? otherwise : get(name) !== "0");
  const range = numbers(get("range"), 2), threshold = Number(get("chains")), speed = Number(get("speed"));
  const time = numbers(get("t"), 1), body = numbers(get("body"), 1);
  return {
    state: {
      colour: chooseWord(get("colour"), COLOURS, defaults.colour),
      scaling: range && range[0]! < range[1]! ? "fixed" : chooseWord(get("scale"), SCALINGS, defaults.scaling),
      low: range?.[0] ?? defaults.low,
      high: range?.[1] ?? defaults.high,
      log: flag("log", defaults.log),
      chains: given.has("chains") ? threshold >= 1 : defaults.chains,
      threshold: threshold >= 1 && threshold <= 10 ? threshold : defaults.threshold,
      clip: clipOf(get("clip")),
      slice: sliceOf(get("slice")),
      container: chooseWord(get("container"), CONTAINERS, defaults.container),
      rules: rulesOf(given),
      tool: chooseWord(get("tool"), TOOLS, defaults.tool),
      histogram: flag("histogram", defaults.histogram),
      gauge: flag("gauge", defaults.gauge),
      theme: chooseWord(get("theme"), THEMES, defaults.theme),
      speed: get("speed") === "frames" ? EVERY_FRAME : SPEEDS.includes(speed) ? speed : defaults.speed,
      loop: flag("loop", defaults.loop),
      panel: flag("panel", defaults.panel),
      plots: flag("plots", defaults.plots),
    },
    time: time?.[0] ?? null,
    camera: numbers(get("camera")),
    body: body?.[0] ?? 0,
  };
}

const short = (v: number): string => String(Number(v.toPrecision(5)));

// Only what differs from `defaults`.
export function writeAddress({ state, time, camera, body }: Address, defaults: State): string {
  const parts: [string, string][] = [];
  const put = (name: string, value: string) => parts.push([name, value]);
  if (time !== null) put("t", String(Number(time.toPrecision(9))));
  for (const key of ["colour", "container", "tool", "theme"] as const) if (state[key] !== defaults[key]) put(key, state[key]);
  if (state.scaling === "fixed") put("range", `${short(state.low)},${short(state.high)}`);
  else if (state.scaling !== defaults.scaling) put("scale", state.scaling);
  for (const key of ["log", "loop", "panel", "plots", "histogram", "gauge"] as const) if (state[key] !== defaults[key]) put(key, state[key] ? "1" : "0");
  if (state.chains !== defaults.chains) put("chains", state.chains ? short(state.threshold) : "0");
  if (state.clip) put("clip", `${state.clip.axis}${short(state.clip.at)}${state.clip.flip ? "-" : ""}`);
  if (state.slice) put("slice", `${state.slice.axis}${short(state.slice.at)},${state.slice.field}`);
  for (const how of CONTAINERS) {
    const rules = state.rules.filter((r) => r.how === how);
    if (rules.length > 0) put(HOWS[how], rules.map((r) => `${r.by}:${r.key.replace(/[%;]/g, encodeURIComponent)}`).join(";"));
  }
  if (state.speed !== defaults.speed) put("speed", state.speed === EVERY_FRAME ? "frames" : String(state.speed));
  if (body) put("body", String(body));
  if (camera) put("camera", camera.map(short).join(","));
  return parts.map(([name, value]) => `${name}=${encodeURIComponent(value).replace(/%(2C|3A|3B)/g, decodeURIComponent)}`).join("&");
}

// What the report says in words and writes to files; numbers are those of apps/look.

import { formatCount, formatInteger, formatGiven, formatPower, formatSignificant } from "../../look/format";
import type { Terms } from "./data";

export const megabytes = (bytes: number): string => formatSignificant(bytes / 1e6);

// Where a run starts and ends, in words; empty where the data do not tell.
export function termsText(t: Terms): string {
  if (!(t.max_iterations > 0)) return "";
  const measure = t.measure === "siconos" ? "in Siconos's measure" : "of the residual at zero impulses";
  const aim = t.tolerance > 0 ? `to ${formatPower(t.tolerance)} ${measure}, at most ` : "";
  const limits = formatCount(t.max_iterations, "iteration") + (t.max_seconds > 0 ? ` or ${formatGiven(t.max_seconds)} s` : "");
  const rest = [t.start && `from ${t.start === "stored" ? "the stored impulses" : t.start}`, t.threads > 0 && formatCount(t.threads, "thread"), frictionText(t)];
  return [aim + limits, ...rest].filter(Boolean).join(", ");
}

// The law and its section, unless it is the relaxation over circular cones or half lines.
function frictionText(t: Terms): string {
  const usual = ["", "ccp"].includes(t.law) && ["", "disc", "none"].includes(t.section);
  return [usual ? "" : `law ${t.law} on ${t.section}`, t.outer && `outer loop ${t.outer}`].filter(Boolean).join(", ");
}

export function limitsText(t: Terms): string {
  const parts = [t.tolerance > 0 && formatPower(t.tolerance) + (t.measure === "siconos" ? " Siconos" : ""), formatInteger(t.max_iterations), t.max_seconds > 0 && `${formatGiven(t.max_seconds)} s`];
  return parts.filter(Boolean).join(" · ");
}

// A quoted field of CSV; a number in full.
export function csvField(v: string | number): string {
  if (typeof v === "number") return Number.isFinite(v) ? String(v) : "";
  return /[",\n\r]/.test(v) ? `"${v.replace(/"/g, '""')}"` : v;
}
export const csv = (rows: (string | number)[][]): string =>
  rows.map((row) => row.map(csvField).join(",") + "\n").join("");

// Numbers as text for readers: three significant digits, thousands grouped, powers of ten with raised exponents.

const RAISED: Record<string, string> = {
  "-": "⁻", "0": "⁰", "1": "¹", "2": "²", "3": "³", "4": "⁴", "5": "⁵", "6": "⁶", "7": "⁷", "8": "⁸", "9": "⁹",
};
const raiseDigits = (n: number): string => String(n).replace(/./g, (c) => RAISED[c] ?? c);

// Rounded, with thousands grouped; empty if not finite.
export function formatInteger(v: number): string {
  return Number.isFinite(v) ? Math.round(v).toString().replace(/\B(?=(\d{3})+$)/g, ",") : "";
}

// Three significant digits; empty for numbers that were not measured (not finite).
export function formatSignificant(v: number): string {
  if (!Number.isFinite(v)) return "";
  const size = Math.abs(v);
  if (v === 0) return "0";
  if (size < 1e-3 || size >= 1e6) return v.toExponential(2).replace("e+", "e");
  if (size >= 999.5) return (v < 0 ? "-" : "") + formatInteger(size);
  return v.toPrecision(3);
}

// A number that a user has written, such as a coefficient: at most three significant digits and no zeros at the end; empty if
// not finite.
export const formatGiven = (v: number): string => (Number.isFinite(v) ? String(Number(v.toPrecision(3))) : "");

// A power of ten, such as 1e-4, as 10 with a raised exponent. Other numbers as they are or, if large or small, as mantissa times
// a power of ten.
export function formatPower(v: number): string {
  const exponent = Math.round(Math.log10(v));
  if (Math.abs(v / 10 ** exponent - 1) < 1e-9) return "10" + raiseDigits(exponent);
  const [mantissa, e] = v.toExponential().split("e");
  return Math.abs(Number(e)) < 4 ? String(v) : `${mantissa}·10${raiseDigits(Number(e))}`;
}

export const capitalise = (s: string): string => s.charAt(0).toUpperCase() + s.slice(1);

// A number with its noun, in the singular or plural: "1 body", "1,000 bodies".
export function formatCount(n: number, one: string, many = one + "s"): string {
  return `${formatInteger(n)} ${n === 1 ? one : many}`;
}

// A title as a file name: lower case, words joined by hyphens, at most 60 characters.
export const fileName = (title: string): string =>
  title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 60) || "figure";

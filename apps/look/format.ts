// Numbers as people read them: three significant digits, thousands grouped, powers of ten raised.

const RAISED: Record<string, string> = {
  "-": "⁻", "0": "⁰", "1": "¹", "2": "²", "3": "³", "4": "⁴", "5": "⁵", "6": "⁶", "7": "⁷", "8": "⁸", "9": "⁹",
};
const raised = (n: number): string => String(n).replace(/./g, (c) => RAISED[c] ?? c);

export function integer(v: number): string {
  return Number.isFinite(v) ? Math.round(v).toString().replace(/\B(?=(\d{3})+$)/g, ",") : "";
}

// Empty for what was not measured.
export function significant(v: number): string {
  if (!Number.isFinite(v)) return "";
  const size = Math.abs(v);
  if (v === 0) return "0";
  if (size < 1e-3 || size >= 1e6) return v.toExponential(2).replace("e+", "e");
  if (size >= 999.5) return (v < 0 ? "-" : "") + integer(size);
  return v.toPrecision(3);
}

// A coefficient that somebody wrote down, without digits that were not there.
export const plain = (v: number): string => (Number.isFinite(v) ? String(Number(v.toPrecision(3))) : "");

// 1e-4 as 10 raised to -4; any other number as it is.
export function power(v: number): string {
  const exponent = Math.round(Math.log10(v));
  if (Math.abs(v / 10 ** exponent - 1) < 1e-9) return "10" + raised(exponent);
  const [mantissa, e] = v.toExponential().split("e");
  return Math.abs(Number(e)) < 4 ? String(v) : `${mantissa}·10${raised(Number(e))}`;
}

export const capital = (s: string): string => s.charAt(0).toUpperCase() + s.slice(1);

export function counted(n: number, one: string, many = one + "s"): string {
  return `${integer(n)} ${n === 1 ? one : many}`;
}

export const fileName = (title: string): string =>
  title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 60) || "figure";

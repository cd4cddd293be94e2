// Choices that both pages offer, and how an address tells them.

export const THEMES = ["auto", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

export const darkSystem = (): MediaQueryList => matchMedia("(prefers-color-scheme: dark)");
export const isDark = (theme: Theme): boolean => (theme === "auto" ? darkSystem().matches : theme === "dark");

export const oneOf = <T extends string>(text: string | null, allowed: readonly T[], otherwise: T): T =>
  allowed.includes(text as T) ? (text as T) : otherwise;

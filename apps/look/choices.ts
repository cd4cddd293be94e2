// Choices that both pages offer, and how they are read from the page's address.

export const THEMES = ["auto", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

// The system's wish for dark pages, as a query that can be watched.
export const darkSystemQuery = (): MediaQueryList => matchMedia("(prefers-color-scheme: dark)");
export const isDark = (theme: Theme): boolean => (theme === "auto" ? darkSystemQuery().matches : theme === "dark");

// The text if it is one of the allowed words, else `otherwise`.
export const chooseWord = <T extends string>(text: string | null, allowed: readonly T[], otherwise: T): T =>
  allowed.includes(text as T) ? (text as T) : otherwise;

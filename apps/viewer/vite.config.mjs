// How Vite bundles the viewer: one script and one style in memory; build.mjs puts them into the page.

import { defineConfig } from "vite";

export default defineConfig({
  publicDir: false,
  logLevel: "warn",
  define: { "process.env.NODE_ENV": '"production"' },
  build: {
    write: false,
    target: "es2022",
    cssTarget: "chrome100",
    lib: { entry: "src/main.ts", formats: ["iife"], name: "talusViewer", fileName: "viewer", cssFileName: "viewer" },
  },
});

// The viewer's own modules for a test: bundled from TypeScript by the Vite of apps/viewer. Without its node_modules
// (./dev page) the test is skipped.

import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("../../apps/viewer", import.meta.url));

// `code`: what the bundle's entry says, with imports relative to apps/viewer/src. As "es", a module's text; as
// "iife", a script that leaves its exports in `talusTest`.
export async function bundle(code, format) {
  if (!existsSync(`${root}/node_modules/vite`)) {
    console.log("skipped: no apps/viewer/node_modules to bundle the viewer with (./dev page)");
    process.exit(77);
  }
  const { build } = await import(pathToFileURL(createRequire(`${root}/package.json`).resolve("vite")).href);
  const entry = `${root}/src/test-entry.ts`;
  const made = await build({
    root, configFile: false, logLevel: "error",
    plugins: [{ name: "entry", enforce: "pre", resolveId: (id) => (id.endsWith("test-entry.ts") ? entry : null), load: (id) => (id === entry ? code : null) }],
    build: { write: false, minify: false, target: "es2022", lib: { entry, formats: [format], name: "talusTest", fileName: "test" } },
  });
  return made[0].output[0].code;
}

export async function load(code) {
  const script = await bundle(code, "es"), dir = mkdtempSync(join(tmpdir(), "talus-"));
  try {
    writeFileSync(join(dir, "test.mjs"), script);
    return await import(pathToFileURL(join(dir, "test.mjs")).href);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

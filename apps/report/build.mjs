// Builds dist/report.html, one file without a request to anywhere:
//
//   node build.mjs            build (needs node_modules: npm ci)
//   node build.mjs --check    say whether dist/report.html was built from these sources; needs Node alone
//
// The page carries a hash of what it was made from, and a policy that allows its own script and style by
// their hashes and nothing else.

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(fileURLToPath(import.meta.url));
const dist = join(root, "dist", "report.html");
const read = (...path) => readFileSync(join(root, ...path), "utf8");
const sha256 = (text, form) => createHash("sha256").update(text, "utf8").digest(form);

function sourcesHash() {
  const names = [
    "build.mjs", "package.json", "package-lock.json", "tsconfig.json", join("LICENSES", "uPlot.txt"),
    ...readdirSync(join(root, "src")).sort().map((name) => join("src", name)),
  ];
  return sha256(names.map((name) => `${name}\n${sha256(read(name), "hex")}\n`).join(""), "hex");
}

async function bundle(entry, options) {
  const { build } = await import("esbuild");
  const result = await build({
    entryPoints: [join(root, entry)], bundle: true, minify: true, write: false, charset: "utf8",
    legalComments: "none", logLevel: "warning", ...options,
  });
  return result.outputFiles[0].text.trim();
}

// Puts texts into the template. Each place must be there once, and no text may end its element.
function fill(template, texts) {
  return template.replace(/@([A-Z_]+)@/g, (place, name) => {
    if (name === "TALUS_DATA") return place;
    const text = texts[name];
    if (text === undefined) throw new Error(`src/page.html: nothing to put at ${place}`);
    if (/<\/(script|style)|<!--/i.test(text)) throw new Error(`${place}: the text would end its own element`);
    return text;
  });
}

async function build() {
  const script = await bundle("src/main.ts", { format: "iife", target: "es2020" });
  const style = await bundle("src/style.css", { loader: { ".css": "css" }, target: "chrome100" });
  const page = fill(read("src", "page.html"), {
    SCRIPT: script,
    STYLE: style,
    SCRIPT_HASH: "sha256-" + sha256(script, "base64"),
    STYLE_HASH: "sha256-" + sha256(style, "base64"),
    SOURCES: sourcesHash(),
    LICENCES: "Plots are drawn by uPlot, https://github.com/leeoniya/uPlot, under this licence:\n\n" +
      read("LICENSES", "uPlot.txt").trim(),
  });
  mkdirSync(dirname(dist), { recursive: true });
  writeFileSync(dist, page);
  console.log(`dist/report.html: ${Math.round(page.length / 1000)} kB`);
}

function check() {
  const found = readFileSync(dist, "utf8").match(/<meta name="talus-sources" content="([0-9a-f]*)">/)?.[1];
  if (found === sourcesHash()) return;
  console.error("apps/report/dist/report.html was not built from these sources; ./dev page builds it");
  process.exitCode = 1;
}

if (process.argv[2] === "--check") check();
else await build();

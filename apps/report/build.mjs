// Builds dist/report.html, one file without a request to anywhere:
//
//   node build.mjs            build (needs node_modules: npm ci)
//   node build.mjs --check    say whether dist/report.html was built from these sources; needs Node alone

import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { checkPage, licenceTexts, sourcesHash, writePage } from "../look/page.mjs";

const root = dirname(fileURLToPath(import.meta.url));
const dist = join(root, "dist", "report.html");
const sources = sourcesHash(root, ["build.mjs", "package.json", "package-lock.json", "tsconfig.json", "LICENSES", "src"]);

async function bundle(entry, options) {
  const { build } = await import("esbuild");
  const result = await build({
    entryPoints: [join(root, entry)], bundle: true, minify: true, write: false, charset: "utf8",
    legalComments: "none", logLevel: "warning", ...options,
  });
  return result.outputFiles[0].text.trim();
}

async function build() {
  writePage({
    template: join(root, "src", "page.html"), dist, later: ["TALUS_DATA"], sources,
    script: await bundle("src/main.ts", { format: "iife", target: "es2020" }),
    style: await bundle("src/style.css", { loader: { ".css": "css" }, target: "chrome100" }),
    licences: licenceTexts(root, [["Plots are drawn by uPlot, https://github.com/leeoniya/uPlot, under this licence:", "uPlot.txt"]]),
  });
}

if (process.argv[2] === "--check") checkPage(dist, "apps/report/dist/report.html", sources);
else await build();

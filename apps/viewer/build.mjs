// Builds dist/viewer.html, one file without a request to anywhere:
//
//   node build.mjs            build (needs node_modules: npm ci)
//   node build.mjs --check    say whether dist/viewer.html was built from these sources; needs Node alone

import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { checkPage, licenceTexts, sourcesHash, writePage } from "../look/page.mjs";

const root = dirname(fileURLToPath(import.meta.url));
const dist = join(root, "dist", "viewer.html");
const sources = sourcesHash(root, ["build.mjs", "vite.config.mjs", "package.json", "package-lock.json", "tsconfig.json", "LICENSES", "src"]);

async function bundle() {
  const vite = await import("vite");
  const [{ output }] = await vite.build({ root, configFile: join(root, "vite.config.mjs") });
  const one = (what, found) => {
    if (found.length !== 1) throw new Error(`the bundle has ${found.length} files of ${what}, expected one`);
    return found[0];
  };
  return {
    script: one("script", output.filter((o) => o.type === "chunk")).code.trim(),
    style: String(one("style", output.filter((o) => o.type === "asset")).source).trim(),
  };
}

async function build() {
  writePage({
    template: join(root, "src", "page.html"), dist, later: ["TALUS_RUN", "TALUS_FRAMES"], sources, ...await bundle(),
    licences: licenceTexts(root, [
      ["Pictures are drawn with three.js, https://threejs.org, under this licence:", "three.txt"],
      ["Plots are drawn by uPlot, https://github.com/leeoniya/uPlot, under this licence:", "uPlot.txt"],
    ]),
  });
}

if (process.argv[2] === "--check") checkPage(dist, "apps/viewer/dist/viewer.html", sources);
else await build();

// Pictures of an exported page for the documentation: node tests/viewer/pictures.mjs CHROMIUM PAGE.html OUTDIR
// Made for `talus export` of the hourglass; says which picture is too large for docs/img.

import { mkdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { launch, open, pixels } from "./support.mjs";

const [, , executablePath, page, out] = process.argv;
const PICTURES = [
  { name: "viewer", width: 1100, height: 680, hash: "#t=3&body=684" },
  { name: "viewer-dark", width: 1240, height: 760, dark: true, hash: "#t=4.5&colour=force&chains=1.5&clip=y0.5&container=ghost" },
  { name: "viewer-layers", width: 900, height: 700, hash: "#t=6&colour=layer&panel=0" },
  { name: "viewer-phone", width: 390, height: 780, touch: true, hash: "#t=5" },
];

if (!out) throw new Error("usage: node pictures.mjs CHROMIUM PAGE.html OUTDIR");
mkdirSync(out, { recursive: true });
const browser = await launch(executablePath);
for (const { name, hash, ...options } of PICTURES) {
  const view = await open(browser, options), file = join(out, `${name}.png`);
  await view.visit(pathToFileURL(resolve(page)).href + hash);
  await pixels(view.p); // until the picture has come to rest
  await view.p.waitForTimeout(3000);
  await view.p.screenshot({ path: file });
  const size = statSync(file).size;
  console.log(`${file}: ${Math.round(size / 1000)} kB${size > 200000 ? ", larger than the 200 kB that docs/img takes" : ""}`);
  await view.close();
}
await browser.close();

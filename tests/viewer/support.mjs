// What the tests of the viewer share: checks, a browser that draws in software, pages that are watched.

import { createHash } from "node:crypto";
import { createRequire } from "node:module";

const require = createRequire(new URL("../../apps/viewer/package.json", import.meta.url));
const { chromium } = require("playwright-core");

let failures = 0;

export function check(what, ok, seen = "") {
  if (ok) return;
  failures++;
  console.log(`FAILED: ${what}${seen === "" ? "" : `: ${JSON.stringify(seen)}`}`);
}
export const equal = (what, a, b) => check(what, JSON.stringify(a) === JSON.stringify(b), { got: a, expected: b });

export function report(name) {
  console.log(failures ? `${failures} checks failed` : `${name}: all checks passed`);
  process.exitCode = failures ? 1 : 0;
}

export const launch = (executablePath) => chromium.launch({
  executablePath,
  args: ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"],
});

// Opens a page and watches it: console, exceptions, requests to elsewhere than `allowed` begins.
export async function open(browser, { width = 800, height = 480, dark = false, touch = false, allowed = null, script = null } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light", hasTouch: touch, isMobile: touch, acceptDownloads: true });
  const p = await context.newPage();
  if (script) await p.addInitScript(script);
  const heard = [];
  p.on("console", (m) => heard.push(`console ${m.type()}: ${m.text()}`));
  p.on("pageerror", (e) => heard.push(`exception: ${e.message}`));
  let here;
  p.on("request", (r) => {
    const to = r.url().split("#")[0];
    if (to !== here && !/^(data|blob):/.test(to) && !(allowed && to.startsWith(allowed))) heard.push(`request: ${to}`);
  });
  const visit = async (url) => {
    here = url.split("#")[0];
    await p.goto(url);
    await p.waitForSelector("html[data-ready='1'], html[data-errors]", { timeout: 60000 });
  };
  return { p, heard, visit, width, close: () => context.close() };
}

// The picture as it is on the screen once it has come to rest, without what stands over it: a hash, and which part of it is not ground.
export async function pixels(p) {
  await p.waitForFunction(() => talus.drawn.settled, null, { timeout: 60000 });
  const overlays = (visibility) => p.evaluate((v) => document.querySelectorAll(".stage > :not(canvas)").forEach((e) => (e.style.visibility = v)), visibility);
  await overlays("hidden");
  const data = (await p.locator("canvas").first().screenshot()).toString("base64");
  await overlays("");
  const inked = await p.evaluate(async (base64) => {
    const image = new Image();
    image.src = `data:image/png;base64,${base64}`;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height }), ctx = canvas.getContext("2d");
    ctx.drawImage(image, 0, 0);
    const { data: rgba } = ctx.getImageData(0, 0, image.width, image.height), at = (i) => (rgba[i] << 16) | (rgba[i + 1] << 8) | rgba[i + 2];
    const ground = at(4 * (image.width - 2) + 4 * 2 * image.width);
    let other = 0;
    for (let i = 0; i < rgba.length; i += 4) if (at(i) !== ground) other++;
    return other / (rgba.length / 4);
  }, data);
  return { hash: createHash("sha256").update(data).digest("hex"), inked };
}

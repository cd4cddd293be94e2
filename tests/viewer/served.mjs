// The viewer's page from talus view, in Chromium: node served.mjs CHROMIUM TALUS FINISHED_RUN
// A finished run looks as from a file; a live one is followed, paused, let go on and stopped from the page, which says so
// when its server goes and comes back; fields that were measured are sliced. Called by tests/viewer_page.sh.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { check, equal, launch, open, pixels, report } from "./support.mjs";

const [, , executablePath, talusProgram, finished] = process.argv;
const talus = (p, what) => p.evaluate(`talus.${what}`);
const started = new Set();

function start(...args) {
  const child = spawn(talusProgram, args, { stdio: ["ignore", "pipe", "pipe"] });
  started.add(child);
  child.said = "";
  child.over = once(child, "exit").then(([code, signal]) => (started.delete(child), code ?? signal));
  child.stderr.on("data", (text) => (child.said += text));
  return child;
}

// talus view, and the address that it prints.
async function serve(dir, port = 0) {
  const child = start("view", dir, "--port", String(port));
  const [line] = await Promise.race([once(createInterface(child.stdout), "line"), child.over.then((code) => [`ended with ${code}: ${child.said}`])]);
  if (!line.startsWith("http://127.0.0.1:")) throw new Error(`talus view ${dir}: ${line}`);
  return { child, address: line.trim(), stop: () => (child.kill("SIGTERM"), child.over) };
}

async function whole(browser) {
  const server = await serve(finished), view = await open(browser, { allowed: server.address }), { p } = view;
  await view.visit(server.address);
  const { frames, count } = await p.evaluate(() => ({ frames: talus.frames, count: talus.count }));
  check("served: frames and bodies", frames > 5 && count > 100, { frames, count });
  equal("served: a finished run begins at its beginning", [await talus(p, "frame"), await p.locator(".badge").textContent()], [0, "finished"]);
  const first = await pixels(p);
  check("served: something is in the picture", first.inked > 0.05, first.inked);
  await p.keyboard.press("End");
  await p.waitForFunction((n) => talus.frame === n - 1, frames);
  check("served: the last frame is another picture", (await pixels(p)).hash !== first.hash);
  await p.keyboard.press("4");
  equal("served: recoloured", await talus(p, "colour"), "id");
  await p.keyboard.press("8");
  equal("served: no ranks of a run on one", [await talus(p, "colour"), await p.locator("option[value=rank]").isDisabled()], ["id", true]);
  check("served: plots", (await p.locator(".chart:visible canvas").count()) >= 3);
  equal("served: no buttons for a run that is over", await p.getByRole("button", { name: "Pause" }).filter({ hasText: "Pause" }).count(), 0);
  equal("served: console, exceptions, requests", view.heard, []);
  await view.close();
  await server.stop();
}

// A run on two ranks can be coloured by them.
async function ranks(browser) {
  rmSync("ranks", { recursive: true, force: true });
  const run = start("run", "settle-box", "--ranks", "2", "--threads", "1", "--until", "0.4", "--every", "0.1", "--out", "ranks", "--quiet");
  equal("ranks: the run ends", await run.over, 0);
  const server = await serve("ranks"), view = await open(browser, { allowed: server.address }), { p } = view;
  await view.visit(server.address);
  await p.keyboard.press("End");
  await p.waitForFunction(() => talus.frame === talus.frames - 1);
  await p.keyboard.press("6");
  const plain = (await pixels(p)).hash;
  await p.keyboard.press("8");
  equal("ranks: chosen by its key", [await talus(p, "colour"), await p.locator("select").first().inputValue()], ["rank", "rank"]);
  equal("ranks: in the legend", await p.locator(".legend li").allTextContents(), ["0", "1"]);
  check("ranks: in the picture", (await pixels(p)).hash !== plain);
  if (process.env.TALUS_PICTURE) await p.screenshot({ path: process.env.TALUS_PICTURE });
  check("ranks: in the address", (await p.evaluate(() => location.hash)).includes("colour=rank"));
  equal("ranks: console, exceptions, requests", view.heard, []);
  await view.close();
  await server.stop();
}

// Fields that were measured beside a run can be sliced: values, arrows, time, address; a new table takes the place of the old one.
async function fields(browser) {
  const table = `${finished}/fields.csv`;
  const measure = (...args) => start("measure", finished, "--source", "frames", "-o", table, ...args).over;
  rmSync(table, { force: true });
  const server = await serve(finished), view = await open(browser, { allowed: server.address }), { p } = view;
  await view.visit(server.address);
  const list = p.getByLabel("Field", { exact: true }), look = () => p.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  check("fields: none, and how to get some", !(await list.isVisible()) && (await p.locator(".panel").textContent()).includes("talus measure DIR"));
  equal("fields: measured", await measure("-f", "velocity", "-f", "density", "--grid", "6,1,8", "--every", "0"), 0);
  await look();
  await list.waitFor();
  equal("fields: all can be chosen", await list.locator("option").allTextContents(), ["none", "velocity", "velocity_x", "velocity_y", "velocity_z", "density"]);
  const plain = (await pixels(p)).hash;
  await list.selectOption("density");
  await p.evaluate(() => talus.seek(0.5));
  const rows = readFileSync(table, "utf8").trim().split("\n").slice(1).map((line) => line.split(",").map(Number));
  const at = (time) => rows.filter((row) => Math.abs(row[0] - time) < 1e-9);
  const slice = await talus(p, "slice");
  equal("fields: a slice across y has z first", [slice.columns, slice.rows, slice.axis, slice.value.length], [8, 6, 1, 48]);
  const cells = at(0.5), expected = slice.value.map((_, k) => cells[Math.floor(k / 8) + 6 * (k % 8)][7]); // x runs fastest in the table
  check("fields: the values of the table", cells.length === 48 && slice.value.every((v, k) => Math.abs(v - expected[k]) <= 1e-6 * Math.abs(expected[k])), { got: slice.value.slice(0, 4), expected: expected.slice(0, 4) });
  equal("fields: the scale holds all states", [slice.low, slice.high], [Math.min(...rows.map((r) => Math.fround(r[7]))), Math.max(...rows.map((r) => Math.fround(r[7])))]);
  check("fields: in the legend", (await p.locator(".legend .field").textContent()).startsWith("density, kg/m3, at 0.5 s"));
  const cellsOnly = (await pixels(p)).hash;
  check("fields: in the picture", cellsOnly !== plain);
  await list.selectOption("velocity");
  equal("fields: arrows", await p.evaluate(() => talus.slice.vector !== null && talus.slice.high === talus.slice.longest), true);
  check("fields: another field is another picture", (await pixels(p)).hash !== cellsOnly);
  if (process.env.TALUS_PICTURE) await p.screenshot({ path: process.env.TALUS_PICTURE });
  await p.evaluate(() => talus.set({ slice: { field: "velocity", axis: "z", at: 0.99 } }));
  equal("fields: across z, the uppermost layer", await p.evaluate(() => [talus.slice.columns, talus.slice.rows, talus.slice.place > 0.9 * talus.slice.hi[2]]), [6, 1, true]);
  await p.evaluate(() => talus.seek(0));
  equal("fields: of the time shown", await p.evaluate(() => talus.slice.time), 0);
  await p.waitForFunction(() => location.hash.includes("slice=z0.99,velocity"));
  await p.reload();
  await p.waitForSelector("html[data-ready='1']");
  equal("fields: from the address", await p.evaluate(() => talus.slice.field), "velocity");
  equal("fields: measured anew", await measure("-f", "solid", "--grid", "3,3,3", "--every", "0", "--mean"), 0);
  await look();
  await p.waitForFunction(() => talus.slice === null);
  await list.selectOption("solid");
  equal("fields: of one state at all times", await p.evaluate(() => [talus.slice.columns, talus.slice.rows]), [3, 3]);
  writeFileSync(table, "time,x,y\n0,0,0\n");
  await look();
  await p.waitForFunction(() => talus.slice === null && document.querySelector(".panel").textContent.includes("this is no table of fields"));
  rmSync(table);
  equal("fields: console, exceptions, requests", [view.heard, await p.evaluate(() => document.documentElement.dataset.errors)], [[], undefined]);
  await view.close();
  await server.stop();
}

async function live(browser) {
  rmSync("live", { recursive: true, force: true });
  const run = start("run", "hourglass", "--set", "bodies=400", "--until", "100000", "--every", "0.2", "--threads", "1", "--out", "live", "--quiet");
  const state = () => JSON.parse(readFileSync("live/run.json", "utf8")).state;
  for (let tries = 0; tries < 200; tries++) {
    await new Promise((go) => setTimeout(go, 50));
    try { if (state() === "running") break; } catch { /* not there yet */ }
  }
  let server = await serve("live");
  const port = new URL(server.address).port, view = await open(browser, { allowed: server.address }), { p } = view;
  const says = (text) => p.waitForFunction((t) => document.querySelector(".badge").textContent === t, text, { timeout: 30000 }).catch(() => check(`the badge says ${text}`, false));
  await view.visit(server.address);
  await says("running");
  equal("live: follows", await talus(p, "following"), true);
  const most = () => p.locator(".slider input").evaluate((i) => Number(i.max));
  const before = await most(), frame = await talus(p, "frame");
  await p.waitForFunction((m) => Number(document.querySelector(".slider input").max) > m + 0.5, before, { timeout: 30000 });
  await p.waitForFunction((k) => talus.frame > k, frame, { timeout: 30000 });
  check("live: its pace", /steps\/s|step/.test(await p.locator(".pace").textContent()), await p.locator(".pace").textContent());

  // Going back ends following; the box brings it back.
  await p.keyboard.press("Home");
  await p.waitForFunction(() => talus.frame === 0 && !talus.following);
  await p.getByLabel("follow").check();
  await p.waitForFunction(() => talus.frame > 0 && talus.following);

  await p.getByRole("button", { name: "Pause" }).filter({ hasText: "Pause" }).click();
  await says("paused");
  equal("live: the run's own word", state(), "paused");
  await p.getByRole("button", { name: "Go on" }).click();
  await says("running");

  // The server goes and comes back, at the same place; the token of the page is another server's then.
  await server.stop();
  await p.locator(".notice[data-kind=server]").waitFor({ timeout: 30000 });
  view.heard.length = 0; // what the browser says of a server that is gone
  server = await serve("live", port);
  await p.locator(".notice[data-kind=back]").waitFor({ timeout: 30000 });
  await view.visit(server.address);
  view.heard.length = 0;

  await says("running");
  const stop = p.getByRole("button", { name: "Stop" });
  await stop.click();
  equal("live: asks once", await stop.textContent(), "Stop the run?");
  equal("live: and goes on", state(), "running");
  await stop.click();
  await says("stopped");
  check("live: the run has ended by itself", (await run.over) !== null);
  equal("live: its state", state(), "stopped");
  check("live: says how to go on", (await p.locator(".top .message").textContent()).length > 0);
  equal("live: console, exceptions, requests", view.heard, []);
  await view.close();
  await server.stop();
}

// Another run takes the place of one that is being played: nothing of the old one is left.
async function replaced(browser) {
  rmSync("other", { recursive: true, force: true });
  const run = (...args) => start("run", ...args, "--threads", "1", "--out", "other", "--quiet").over;
  await run("hourglass", "--set", "bodies=100", "--until", "0.4", "--every", "0.02");
  const server = await serve("other"), view = await open(browser, { allowed: server.address }), { p } = view;
  await view.visit(server.address);
  const before = await p.evaluate(() => (talus.set({ loop: true, speed: 0.1 }), { camera: talus.camera, scale: talus.scale }));
  await p.keyboard.press("Space");
  equal("replaced: the new run", await run("dominoes", "--until", "0.3"), 0);
  await p.evaluate(() => document.dispatchEvent(new Event("visibilitychange"))); // look now
  await p.waitForFunction(() => talus.status.until === 0.3 && document.querySelector("h1").textContent === "Dominoes" && talus.count === 31, null, { timeout: 30000 });
  await p.keyboard.press("Space");
  await p.evaluate(() => talus.seek(0));
  await p.waitForFunction((high) => talus.scale.high < high, before.scale.high, { timeout: 30000 }).catch(() => {});
  const after = await p.evaluate(() => ({ camera: talus.camera, scale: talus.scale, frames: talus.frames, empty: document.querySelector(".empty").hidden }));
  check("replaced: scale, camera and frames are the new run's", after.scale.high < before.scale.high && after.camera[3] < before.camera[3] && after.empty, { before, after });
  equal("replaced: console, exceptions, requests", [view.heard, await p.evaluate(() => document.documentElement.dataset.errors)], [[], undefined]);
  await view.close();
  await server.stop();
}

const browser = await launch(executablePath);
try {
  await whole(browser);
  await ranks(browser);
  await fields(browser);
  await replaced(browser);
  await live(browser);
} finally {
  await browser.close();
  for (const child of started) child.kill("SIGKILL");
}
report("served page");

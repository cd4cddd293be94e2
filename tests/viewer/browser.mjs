// The viewer's page in Chromium, driven by playwright-core: node browser.mjs CHROMIUM [EXPORTED.html BODIES FRAMES]
// From file://, with made-up runs and with a page that talus export wrote: it draws, scrubs, recolours, picks, obeys the
// keyboard, fits a phone and saves files, without an error and without a request. Called by tests/viewer_page.sh;
// served.mjs does the same with talus view.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { BODIES, FRAMES, SPHERES, writePages } from "./samples.mjs";
import { check, equal, launch, open, pixels, report } from "./support.mjs";

const [, , executablePath, exported, exportedBodies, exportedFrames] = process.argv;
const chosen = process.env.TALUS_PART; // one part alone, while writing it
const url = (path) => pathToFileURL(resolve(path)).href;
const root = (p) => p.evaluate(() => ({ ...document.documentElement.dataset }));
const talus = (p, what) => p.evaluate(`talus.${what}`);

async function visit(view, path, hash = "") {
  await view.visit(url(path) + hash);
  const seen = await root(view.p);
  equal(`${path}: ready, errors`, [seen.ready, seen.errors], ["1", undefined]);
  equal(`${path}: console, exceptions, requests`, view.heard.splice(0), []);
  const outside = await view.p.evaluate((width) => [...document.querySelectorAll("#app *")].filter((e) => e.getClientRects().length > 0 && !e.closest(".numbers, .u-over"))
    .filter((e) => { const box = e.getBoundingClientRect(); return box.right > width + 0.5 || box.left < -0.5; }).map((e) => `${e.tagName} ${e.className}`), view.width);
  equal(`${path}: beyond the edge of the screen`, outside, []);
}

async function saved(p, act) {
  const [file] = await Promise.all([p.waitForEvent("download", { timeout: 60000 }), act()]);
  return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
}

async function picture(browser) {
  const view = await open(browser), { p } = view;
  await visit(view, "pages/heap.html");
  equal("title", [await p.title(), await p.locator("h1").textContent()], ["Heap", "Heap"]);
  equal("the head counts what moves", await p.locator(".facts").textContent(), `${BODIES - 2} bodies, 600 contacts`);
  equal("drawn", [await talus(p, "count"), await talus(p, "frames"), (await talus(p, "drawn")).spheres, (await talus(p, "drawn")).bodies], [BODIES, FRAMES, SPHERES, BODIES]);
  const first = await pixels(p);
  check("something is in the picture", first.inked > 0.05, first.inked);

  // Time: the slider, the readout, the picture; with colours that do not change with time.
  await p.evaluate(() => talus.set({ colour: "id" }));
  const start = await pixels(p);
  await p.locator(".slider input").fill("0.6");
  await p.waitForFunction(() => talus.frame === 12);
  equal("readout", [await p.locator(".readout .time").textContent(), await p.locator(".readout .where").textContent()], ["0.60 s", `13 / ${FRAMES}`]);
  const later = await pixels(p);
  check("scrubbing changes the picture", later.hash !== start.hash);
  await p.evaluate(() => talus.set({ colour: "speed" }));
  await p.waitForFunction(() => location.hash.includes("t=0.6"));

  // The steady scale is that of the run from the start, wherever one is: by frame 5, the fastest of the nine that are looked at.
  const steady = { low: 0, high: 3, log: false };
  for (const time of [0, 0.4, 2]) equal(`steady scale at ${time} s`, await p.evaluate((t) => talus.seek(t).then(() => talus.scale), time), steady);
  await p.evaluate(() => talus.set({ scaling: "frame" }));
  check("a frame's own scale", (await talus(p, "scale")).high < 1, await talus(p, "scale"));
  await p.evaluate(() => (talus.set({ scaling: "steady" }), talus.seek(0.6)));

  // Colours: numbers of the legend, pixels.
  const legend = () => p.locator(".legend").textContent();
  const speed = await legend();
  await p.locator("select").first().selectOption("force");
  check("the legend names the force", (await legend()).startsWith("contact force, N"), await legend());
  check("the legend changes", speed !== (await legend()));
  check("recolouring changes the picture", (await pixels(p)).hash !== later.hash);
  await p.locator(".panel .segmented span", { hasText: "fixed" }).click();
  await p.getByLabel("High end of the scale").fill("7");
  await p.getByLabel("High end of the scale").press("Enter");
  equal("a fixed scale", await talus(p, "scale"), { low: 0, high: 7, log: false });
  await p.getByLabel("log", { exact: true }).check();
  equal("a log scale ends above zero", await talus(p, "scale"), { low: 0.007, high: 7, log: true });
  await p.locator("select").first().selectOption("material");
  equal("materials by name", await p.locator(".legend li").allTextContents(), ["glass", "steel"]);

  // Chains, clip, container.
  const plain = (await pixels(p)).hash;
  await p.getByLabel("force chains").check();
  check("chains are drawn", (await talus(p, "drawn")).chains > 0);
  check("chains change the picture", (await pixels(p)).hash !== plain);
  const few = (await talus(p, "drawn")).chains;
  await p.getByLabel("Chains stronger than").fill("1");
  check("a lower threshold shows more chains", (await talus(p, "drawn")).chains > few);
  await p.getByLabel("force chains").uncheck();
  await p.locator(".panel .segmented").filter({ hasText: "Clip" }).locator("span", { hasText: "y" }).click();
  check("a clip plane changes the picture", (await pixels(p)).hash !== plain);
  await p.locator(".panel .segmented").filter({ hasText: "Clip" }).locator("span", { hasText: "off" }).click();
  await p.locator(".panel .segmented span", { hasText: "hidden" }).click();
  check("hiding the container changes the picture", (await pixels(p)).hash !== plain);
  equal("picture: console, exceptions, requests", view.heard, []);
  await view.close();
}

// Dissipated energies, where the run sums them: a scale in mJ that no frame without them spoils.
async function energies(browser) {
  const view = await open(browser), { p } = view;
  await visit(view, "pages/heap.html");
  const option = p.locator("select").first().locator("option[value=dissipated]");
  equal("no energies: not offered", await option.evaluate((o) => [o.hidden, o.disabled]), [true, true]);
  await p.keyboard.press("d");
  equal("no energies: the key does nothing", await talus(p, "colour"), "speed");
  await visit(view, "pages/energies.html", "#t=0.2");
  equal("energies: offered", await option.evaluate((o) => [o.hidden, o.disabled]), [false, false]);
  await p.keyboard.press("d");
  equal("key d", [await talus(p, "colour"), await p.locator("select").first().inputValue()], ["dissipated", "dissipated"]);
  const legend = await p.locator(".legend").textContent(), { low, high } = await talus(p, "scale");
  check("the legend names the energy", legend.startsWith("dissipated energy, J"), legend);
  check("its scale is of the run", low === 0 && high > 1e-5 && high < 1e-3, high);
  await p.evaluate(() => talus.select(6));
  check("a body's energy", / J$/.test(await p.locator(".body dt", { hasText: "dissipated" }).locator("+ dd").textContent()));
  equal("energies: console, exceptions, requests", view.heard, []);
  await view.close();
}

async function body(browser) {
  const view = await open(browser), { p } = view;
  await visit(view, "pages/heap.html", "#t=1");
  const box = await p.locator("canvas").first().boundingBox();
  for (const dy of [0.5, 0.55, 0.6, 0.65, 0.7]) {
    await p.mouse.click(box.x + box.width / 2, box.y + dy * box.height);
    if (await p.locator(".body").isVisible()) break;
  }
  const id = await talus(p, "selected");
  check("a click picks a body", id > 2);
  equal("its card", await p.locator(".body h2").textContent(), `Body ${id}`);
  const value = (name) => p.locator(".body dt", { hasText: name }).locator("+ dd").textContent();
  equal("at rest after a second", await value("speed"), "0 m/s");
  await p.keyboard.press("Home");
  await p.waitForFunction(() => talus.frame === 0);
  equal("free at the start", await value("contact force"), "0 N");
  await p.evaluate(() => talus.select(6));
  equal("a body by its number", [await p.locator(".body h2").textContent(), await value("radius"), await value("contacts")], ["Body 6", "0.100 m", "0"]);
  const before = await talus(p, "camera");
  await p.getByLabel("keep in view").check();
  await p.keyboard.press("End");
  await p.waitForFunction((n) => talus.frame === n, FRAMES - 1);
  const after = await talus(p, "camera");
  check("the camera goes with it", Math.abs(after[2] - before[2]) > 1e-3 && after[3] === before[3], [before, after]);
  await p.keyboard.press("Escape");
  equal("let go", [await talus(p, "selected"), await p.locator(".body").isVisible()], [0, false]);
  equal("body: console, exceptions, requests", view.heard, []);
  await view.close();
}

// Hiding by entry, the histogram, the ruler and the angle, the scale bar.
async function tools(browser) {
  const view = await open(browser), { p } = view;
  await visit(view, "pages/heap.html", "#t=2&colour=entry&hide=tag:1");
  equal("entries by name", await p.locator(".legend li").allTextContents(), ["grains", "<b>late</b>"]);
  const left = (await talus(p, "drawn")).spheres;
  check("a tag is hidden", left > 100 && left < 160, left);
  const row = p.locator(".member", { hasText: "grains" });
  equal("the panel lists entries", await p.locator(".member .name").allTextContents(), ["floor", "drum", "grains", "<b>late</b>"]);
  await row.locator("select").selectOption("hidden");
  equal("an entry is hidden", [(await talus(p, "drawn")).spheres, (await talus(p, "state")).rules.length], [left - left, 2]);
  await row.locator("select").selectOption("ghost");
  check("an entry is a ghost", (await talus(p, "drawn")).ghosts > 150);
  await p.waitForFunction(() => location.hash.includes("ghost=entry:grains"));
  await p.evaluate(() => talus.set({ rules: [], colour: "radius" }));
  const spread = await talus(p, "spread");
  equal("a histogram of radii", [spread.bodies, spread.counts.filter((n) => n > 0)], [BODIES - 2, [SPHERES, 2]]);
  await p.getByLabel("histogram").uncheck();
  equal("without it", [await talus(p, "spread"), await p.locator(".histogram").isVisible()], [null, false]);
  const gauge = await p.locator(".gauge").getAttribute("aria-label");
  check("a scale bar", /^Scale bar: [125]0* ?(0\.\d+ )?m/.test(gauge) || /^Scale bar: 0\.[125] m/.test(gauge), gauge);

  // The ruler, by pointer; the angle, by keys. From above, where bodies lie over the floor.
  const dd = (name) => p.locator(".measure dt", { hasText: name }).locator("+ dd").textContent();
  await p.keyboard.press("m");
  equal("the ruler", [(await talus(p, "state")).tool, await p.locator(".measure h2").textContent()], ["ruler", "Ruler"]);
  const box = await p.locator("canvas").first().boundingBox(), at = (x, y) => p.mouse.click(box.x + x * box.width, box.y + y * box.height);
  await at(0.5, 0.55);
  await at(0.5, 0.65);
  const { marks } = await talus(p, "measured"), [a, b] = marks.map((m) => m.place), distance = Math.hypot(...a.map((v, k) => v - b[k]));
  check("the ruler measures", Math.abs(parseFloat(await dd("distance")) - distance) < 1e-3 * distance && distance > 0.05, [await dd("distance"), distance]);
  check("its slope", (await dd("slope")).endsWith("°"));
  equal("no body was picked", [await talus(p, "selected"), await p.locator(".marks circle.ink").count(), await p.locator(".marks line.ink").count()], [0, 2, 1]);
  await p.evaluate(() => talus.set({ tool: "angle" }));
  equal("another tool begins anew", (await talus(p, "measured")).marks.length, 0);
  await at(0.5, 0.55);
  await p.keyboard.press("Enter");
  await at(0.5, 0.7);
  check("an angle", /^\d+\.\d\d°$/.test(await dd("angle")), await dd("angle"));
  await at(0.01, 0.01);
  check("nothing to measure", (await p.locator(".measure .note").textContent()).includes("nothing"));
  await p.keyboard.press("Escape");
  equal("Escape ends it", [(await talus(p, "state")).tool, await p.locator(".measure").isVisible()], ["off", false]);
  equal("tools: console, exceptions, requests", view.heard, []);
  await view.close();
}

async function keys(browser) {
  const view = await open(browser), { p } = view, press = (key) => p.keyboard.press(key);
  await visit(view, "pages/heap.html");
  const at = (n) => p.waitForFunction((k) => talus.frame === k, n, { timeout: 20000 }).catch(() => check(`frame ${n}`, false));
  await press("ArrowRight");
  await at(1);
  await press("Shift+ArrowRight");
  await at(11);
  await press("ArrowLeft");
  await at(10);
  await press("End");
  await at(FRAMES - 1);
  await press("Home");
  await at(0);
  for (const [k, name] of ["speed", "force", "touching", "id", "layer", "material", "tag"].entries()) {
    await press(String(k + 1));
    equal(`key ${k + 1}`, [await talus(p, "colour"), await p.locator("select").first().inputValue()], [name, name]);
  }
  const turns = [["c", "chains", true], ["g", "container", "hidden"], ["l", "loop", true], ["t", "theme", "light"], ["+", "speed", 2], ["-", "speed", 1], ["b", "panel", false], ["p", "panel", true], ["p", "plots", false]];
  for (const [key, name, value] of turns) {
    await press(key);
    equal(`key ${key}`, (await talus(p, "state"))[name], value);
  }
  await press("x");
  equal("key x", (await talus(p, "state")).clip?.axis, "x");
  const camera = JSON.stringify(await talus(p, "camera"));
  await press("v");
  check("key v", camera !== JSON.stringify(await talus(p, "camera")));
  await press("?");
  equal("help", [await p.locator("dialog").evaluate((d) => d.open), await p.locator("dialog pre").textContent().then((t) => t.includes("three.js authors") && t.includes("uPlot"))], [true, true]);
  await press("1");
  equal("help keeps the keys", await talus(p, "colour"), "tag");
  await press("Escape");
  await press("l");

  // Keys belong to a control that needs them.
  await p.locator("select").first().focus();
  await press("Home");
  equal("a list keeps its keys", [await talus(p, "colour"), await talus(p, "frame")], ["speed", 0]);
  await p.locator(".slider input").focus();
  await press("ArrowRight");
  await at(1);
  await p.getByLabel("Where the plane cuts").focus();
  await press("ArrowRight");
  equal("a slider keeps its arrows", [await talus(p, "frame"), (await talus(p, "state")).clip.at], [1, 0.505]);
  await press("Space");
  equal("and leaves the space bar", await talus(p, "playing"), true);
  await press("Space");
  await p.evaluate(() => talus.seek(0.05));

  // Playing ends at the end; every frame is shown on the way.
  await p.evaluate(() => talus.set({ speed: 0 }));
  await p.locator(".icon.play").click();
  equal("playing", await talus(p, "playing"), true);
  await at(FRAMES - 1);
  await p.waitForFunction(() => !talus.playing);
  equal("the button says so", await p.locator(".icon.play").getAttribute("aria-label"), "Play");
  equal("keys: console, exceptions, requests", view.heard, []);
  await view.close();
}

async function address(browser) {
  const view = await open(browser), { p } = view;
  await visit(view, "pages/heap.html", "#t=0.5&colour=layer&range=1,9&theme=dark&clip=z0.4-&container=hidden&chains=3&body=10&camera=0.5,0.5,1,9,30,40");
  const state = await talus(p, "state");
  equal("a view from the address", [await talus(p, "time"), state.colour, state.low, state.high, state.theme, state.clip, state.container, state.chains, state.threshold],
    [0.5, "layer", 1, 9, "dark", { axis: "z", at: 0.4, flip: true }, "hidden", true, 3]);
  equal("body and camera", [await talus(p, "selected"), await talus(p, "camera")], [10, [0.5, 0.5, 1, 9, 30, 40]]);
  equal("dark", (await root(p)).theme, "dark");
  await p.keyboard.press("ArrowRight");
  await p.waitForFunction(() => location.hash.includes("t=0.55"));
  for (const part of ["colour=layer", "range=1,9", "theme=dark", "clip=z0.4-", "container=hidden", "chains=3", "body=10", "camera=0.5,0.5,1,9,30,40"])
    check(`the address keeps ${part}`, p.url().includes(part), p.url());
  await p.goto("about:blank");
  await visit(view, "pages/heap.html", "#t=99&colour=<b>&camera=1,2&clip=q7&speed=-1&body=x");
  equal("an address full of errors", [await talus(p, "frame"), await talus(p, "colour"), await talus(p, "selected"), (await talus(p, "state")).speed], [FRAMES - 1, "speed", 0, 1]);
  await view.close();
}

async function plots(browser) {
  const view = await open(browser), { p } = view;
  await visit(view, "pages/heap.html");
  equal("plots", await p.locator(".chart:visible canvas").count(), 4);
  const over = p.locator(".chart .u-over").first(), box = await over.boundingBox();
  await over.click({ position: { x: box.width / 2, y: 20 } });
  await p.waitForFunction(() => Math.abs(talus.time - 1) < 0.051);
  const mark = await p.locator(".chart .now").first().boundingBox();
  check("the line stands at the frame", Math.abs(mark.x + 1 - box.x - box.width / 2) < 8, [mark.x, box.x + box.width / 2]);
  await view.close();
}

async function files(browser) {
  const view = await open(browser, { width: 500, height: 420 }), { p } = view;
  await visit(view, "pages/heap.html", "#panel=1&t=0.2");
  const png = await saved(p, () => p.getByRole("button", { name: "Picture" }).click());
  equal("a picture", [png.name, png.bytes.subarray(1, 4).toString("latin1"), png.bytes.length > 5000], ["heap-0.200s.png", "PNG", true]);
  await p.evaluate(() => (talus.set({ speed: 10, loop: true }), talus.seek(1)));
  const film = await saved(p, () => p.getByRole("button", { name: "Record" }).click());
  equal("a film", [film.name, film.bytes.readUInt32BE(0).toString(16), film.bytes.length > 1000], ["heap.webm", "1a45dfa3", true]);
  equal("at its end, although it plays in a loop", [await talus(p, "frame"), (await talus(p, "state")).loop], [FRAMES - 1, true]);
  equal("files: console, exceptions, requests", view.heard, []);
  await view.close();
}

async function odd(browser) {
  const night = await open(browser, { width: 360, height: 700, dark: true, touch: true });
  await visit(night, "pages/heap.html", "#panel=1");
  equal("dark by the system's choice", (await root(night.p)).theme, "dark");
  await night.close();

  const view = await open(browser, { width: 360, height: 700, touch: true }), { p } = view;
  await visit(view, "pages/lean.html", "#panel=1");
  equal("light by the system's choice", (await root(p)).theme, "light");
  equal("lean: chains cannot be chosen", [await p.getByLabel("force chains").isDisabled(), await p.locator(".panel .note:visible").first().textContent().then((t) => t.includes("force chains"))], [true, true]);
  check("lean: the note", (await p.locator(".top .message").textContent()).includes("Every 4th frame"));
  await visit(view, "pages/single.html");
  equal("single: texts are texts", [await p.title() !== "owned", await p.locator("main b:not(.key b)").count(), await p.locator("h1").textContent().then((t) => t.startsWith("</script>"))], [true, 0, true]);
  equal("single: a run that died", await p.locator(".badge").textContent(), "died");
  await p.evaluate(() => talus.set({ panel: true }));
  await p.getByRole("button", { name: "Record" }).click();
  check("single: nothing to record", (await p.locator(".notice").textContent()).includes("one frame"));
  await visit(view, "pages/copy.html");
  equal("copy: of a run that goes on", [await talus(p, "following"), await talus(p, "frame"), await p.getByLabel("follow").isVisible(), await p.locator(".top .message").textContent().then((t) => t.includes("still going on"))], [false, 0, false, true]);
  await visit(view, "pages/damaged.html");
  check("damaged: says which frame", (await p.locator(".notice").textContent()).startsWith("Frame 1 could not be loaded"));
  await p.keyboard.press("ArrowRight");
  await p.waitForFunction(() => talus.frame === 1);
  await visit(view, "pages/torn.html");
  equal("torn: what is whole", await talus(p, "frames"), 4);
  await visit(view, "pages/empty.html");
  check("empty: kind words", (await p.locator(".empty").textContent()).includes("no frames"));
  await view.close();

  const old = await open(browser, { script: () => { HTMLCanvasElement.prototype.getContext = () => null; } });
  await old.visit(url("pages/heap.html"));
  check("without WebGL 2", (await old.p.locator(".cannot").textContent()).includes("WebGL 2"));
  equal("without WebGL 2: console, exceptions, requests", old.heard, []);
  await old.close();

  // A recorder that hands over nothing before it has been asked `window.answer` times.
  const slow = await open(browser, { script: () => {
    const Recorder = window.MediaRecorder, wait = window.setTimeout;
    window.setTimeout = (f, ms) => wait(f, ms < 1000 ? ms / 50 : ms);
    window.MediaRecorder = class extends Recorder {
      constructor(...all) { super(...all); window.asked = 0; }
      addEventListener(type, f) { if (type === "dataavailable") this.take = f; else super.addEventListener(type, f); }
      requestData() { if (++window.asked === window.answer) this.take({ data: new Blob(["film"]) }); }
    };
  } });
  await visit(slow, "pages/heap.html", "#panel=1");
  const record = () => slow.p.getByRole("button", { name: "Record" }).click();
  let downloads = 0;
  slow.p.on("download", () => downloads++);
  await slow.p.evaluate(() => (talus.set({ speed: 10 }), talus.seek(1)));
  await record();
  await slow.p.waitForFunction(() => document.querySelector(".notice")?.textContent.includes("recorded nothing"));
  equal("nothing recorded: asked often, nothing saved", [(await slow.p.evaluate(() => window.asked)) > 20, downloads], [true, 0]);
  await slow.p.evaluate(() => (window.answer = 3, talus.seek(1)));
  const late = await saved(slow.p, record);
  equal("recorded late: saved", [late.bytes.toString("latin1"), await slow.p.evaluate(() => window.asked)], ["film", 3]);
  equal("slow: console, exceptions, requests", slow.heard, []);
  await slow.close();

  const mute = await open(browser, { script: () => { delete window.MediaRecorder; } });
  await visit(mute, "pages/heap.html");
  equal("without MediaRecorder", [await mute.p.getByRole("button", { name: "Record" }).isDisabled(), await mute.p.locator(".panel .note:visible").first().textContent().then((t) => t.includes("MediaRecorder"))], [true, true]);
  await mute.close();
}

async function written(browser) {
  const view = await open(browser), { p } = view;
  await visit(view, exported);
  equal("exported: bodies, frames", [await talus(p, "count"), await talus(p, "frames")], [Number(exportedBodies), Number(exportedFrames)]);
  check("exported: something is in the picture", (await pixels(p)).inked > 0.05);
  check("exported: plots", (await p.locator(".chart:visible canvas").count()) >= 3);
  check("exported: the residual's tolerance", Number(await p.locator(".chart .key:visible", { hasText: "tolerance" }).locator("b").textContent()) > 0);
  const first = (await pixels(p)).hash;
  await p.keyboard.press("End");
  await p.waitForFunction((n) => talus.frame === n - 1, Number(exportedFrames));
  check("exported: the last frame is another picture", (await pixels(p)).hash !== first);
  await view.close();
}

const browser = await launch(executablePath);
try {
  writePages("pages");
  for (const part of [picture, energies, body, tools, keys, address, plots, files, odd]) if (!chosen || part.name === chosen) await part(browser);
  if (exported) await written(browser);
} finally {
  await browser.close();
}
report("viewer page");

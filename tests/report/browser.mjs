// The report page in Chromium, driven by playwright-core: node browser.mjs CHROMIUM PAGES_OF_TEST_PAGE
// Every page renders without an error and without a request; tables, plots, switches and files saved
// from the page hold what the data says. Called by tests/report_page.sh.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { page as pageOf, samples, writePages } from "./samples.mjs";

const require = createRequire(new URL("../../apps/report/package.json", import.meta.url));
const { chromium } = require("playwright-core");

const [, , executablePath, written] = process.argv;
let failures = 0;

function check(what, ok, seen = "") {
  if (ok) return;
  failures++;
  console.log(`FAILED: ${what}${seen === "" ? "" : `: ${JSON.stringify(seen)}`}`);
}
const equal = (what, a, b) => check(what, JSON.stringify(a) === JSON.stringify(b), { got: a, expected: b });

const url = (path) => pathToFileURL(resolve(path)).href;

// Opens a page and watches it: console, exceptions, requests.
async function open(browser, { width = 1280, dark = false } = {}) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: dark ? "dark" : "light", acceptDownloads: true });
  const p = await context.newPage();
  const heard = [];
  p.on("console", (m) => heard.push(`console ${m.type()}: ${m.text()}`));
  p.on("pageerror", (e) => heard.push(`exception: ${e.message}`));
  let here;
  p.on("request", (r) => r.url().split("#")[0] !== here && !r.url().startsWith("data:") && heard.push(`request: ${r.url()}`));
  const visit = (path, hash = "") => p.goto((here = url(path)) + hash);
  return { p, heard, visit, close: () => context.close() };
}

async function healthy({ p, heard, visit }, path, options) {
  const name = `${path} ${JSON.stringify(options)}`;
  await visit(path);
  const seen = await p.evaluate(() => ({
    ready: document.documentElement.dataset.ready, errors: document.documentElement.dataset.errors, theme: document.documentElement.dataset.theme,
    wide: document.documentElement.scrollWidth - innerWidth,
  }));
  equal(`${name}: ready`, [seen.ready, seen.errors], ["1", undefined]);
  check(`${name}: wider than the screen`, seen.wide <= 0, seen.wide);
  equal(`${name}: theme`, seen.theme, options.dark ? "dark" : "light");
  equal(`${name}: console, exceptions, requests`, heard.splice(0), []);
}

const texts = (p, selector) => p.locator(selector).allTextContents();
const names = (p) => texts(p, "#runs tbody th");

async function saved(p, button) {
  const [file] = await Promise.all([p.waitForEvent("download"), button.click()]);
  return { name: file.suggestedFilename(), text: readFileSync(await file.path(), "utf8") };
}

// A report whose figures are known by hand: three solvers, two problems.
function known() {
  const run = (problem, solver, costs, more = {}) => ({
    problem, solver, outcome: "budget", iterations: 100, applies: 100, seconds: 1,
    trace: { iteration: [0, ...costs], applies: [0, ...costs], seconds: [0, ...costs.map((c) => c / 100)],
      natural_relative: [1, 1e-2, 1e-4].slice(0, costs.length + 1), objective: [0, -1.5, -2].slice(0, costs.length + 1) },
    residual: { natural_relative: 5e-3, complementarity_mean: 1e-9, complementarity_std: 1e-8, complementarity_max: 1e-7 }, ...more });
  return {
    title: "known", thresholds: [1e-4, 1e-2], problems: [{ name: "p0", contacts: 3 }, { name: "p1", contacts: 4 }], tables: [{ title: "Free", columns: ["a", "n"], rows: [["x", "10"], ["y", "9"], ["z", "-"]] }],
    runs: [run(0, "a", [10, 40]), run(0, "b", [20]), run(0, "c", [], { trace: null }),
      run(1, "a", [30, 90]), run(1, "b", [10, 30]), run(1, "c", [], { outcome: "unsupported", reason: "why", residual: null, trace: null, iterations: null, applies: null, seconds: null })],
  };
}

async function figures(browser) {
  mkdirSync("pages", { recursive: true });
  writeFileSync("pages/known.html", pageOf(known()));
  const { p, heard, visit, close } = await open(browser);
  await visit("pages/known.html", "#cost=applies");

  // b and c miss 1e-4: b got to 1e-2 at 20 products, c only at its end.
  equal("runs in order of cost", await names(p), ["a", "b", "c"]);
  equal("cells", await texts(p, "#runs tbody tr:nth-child(1) td:nth-child(3), #runs tbody tr:nth-child(1) td:nth-child(4)"), ["10", "40"]);
  equal("never", await texts(p, "#runs tbody tr:nth-child(2) td:nth-child(4)"), ["-"]);
  equal("only bounded", await texts(p, "#runs tbody tr:nth-child(3) td:nth-child(3)"), ["≤ 100"]);
  equal("plots", await p.locator("figure:visible canvas").count(), 2);
  equal("bars", await p.locator("#impulses svg rect").count(), 3 + 3 * 3);

  // Sorting, by keyboard and by pointer.
  await p.locator("#runs th[data-key=name] button").focus();
  await p.keyboard.press("Enter");
  await p.keyboard.press("Enter");
  equal("sorted downwards by name", await names(p), ["c", "b", "a"]);
  equal("aria-sort", await p.locator("#runs th[data-key=name]").getAttribute("aria-sort"), "descending");
  await p.locator(".toolbar .segmented span", { hasText: "iterations" }).click();
  equal("the reader's order stays", await names(p), ["c", "b", "a"]);
  await p.locator(".toolbar .segmented span", { hasText: "products" }).click();
  await p.locator(".free th[data-key='1'] button").click();
  equal("free table sorts as numbers", await texts(p, ".free tbody th"), ["y", "x", "z"]);

  // Tolerance 1e-4: a solves both (p1 at 3 times b), b one of two.
  await p.locator("#profiles select").selectOption({ label: "10⁻⁴" });
  const profile = await saved(p, p.locator("#profiles .actions button", { hasText: "CSV" }).first());
  const rows = profile.text.trim().split("\n").map((r) => r.split(","));
  equal("profile: file", [profile.name, rows[0]], ["performance-profile.csv", ["series", "tau", "fraction"]]);
  equal("profile of a", rows.filter((r) => r[0] === "a").map((r) => [+r[1], +r[2]]).slice(0, 2), [[1, 0.5], [3, 1]]);
  equal("profile of b at 1", rows.find((r) => r[0] === "b").slice(1), ["1", "0.5"]);
  equal("solved", await texts(p, "#profiles tbody tr:nth-child(1) td:nth-child(2), #profiles tbody tr:nth-child(1) td:nth-child(3)"), ["2", "1.73"]);

  // Objective above the best of the problem.
  await p.locator("#convergence select").focus();
  await p.locator("#convergence select").selectOption("gap");
  equal("focus stays", await p.evaluate(() => document.activeElement.tagName), "SELECT");
  const gap = await saved(p, p.locator("#convergence .actions button", { hasText: "CSV" }));
  equal("gap, in the order of the table", gap.text.trim().split("\n"), ["series,products,gap", "b,20,0.5", "a,10,0.5"]);

  // The legend hides a series in every figure, by keyboard too; the drawing has what is shown.
  await p.locator("#convergence select").selectOption("natural_relative");
  const drawing = async () => {
    const svg = await saved(p, p.locator("#convergence .actions button", { hasText: "SVG" }));
    return p.evaluate((text) => {
      const d = new DOMParser().parseFromString(text, "image/svg+xml");
      return { broken: d.querySelectorAll("parsererror").length, curves: d.querySelectorAll("path, circle").length, words: [...d.querySelectorAll("text")].map((t) => t.textContent) };
    }, svg.text);
  };
  const both = await drawing();
  equal("svg", [both.broken, both.curves], [0, 2]);
  check("svg has axis labels and legend", ["operator products", "natural residual, relative", "a", "b"].every((w) => both.words.includes(w)), both.words);
  await p.locator("#convergence .entry", { hasText: "b" }).focus();
  await p.keyboard.press("Enter");
  equal("legend pressed", await p.locator("#convergence .entry[aria-pressed=false] .name").allTextContents(), ["b"]);
  equal("svg without b", (await drawing()).curves, 1);
  equal("bars without b", await p.locator("#impulses svg rect").count(), 3 + 2 * 3);
  await p.locator("#convergence .all").click();
  equal("show all", await p.locator("#convergence .entry[aria-pressed=false]").count(), 0);

  // Hovering names the nearest point.
  const over = p.locator("#convergence .u-over"), box = await over.boundingBox();
  await over.hover({ position: { x: box.width - 12, y: box.height - 4 } });
  check("hover", (await p.locator("#convergence .tip").textContent()).startsWith("a"));

  // The other view, and a link to it.
  await p.locator(".toolbar .segmented span", { hasText: "one solver" }).click();
  await p.locator(".toolbar select").selectOption({ label: "b" });
  equal("one solver: rows are problems", await names(p), ["p1", "p0"]);
  check("address", p.url().includes("view=solver") && p.url().includes("solver=1"), p.url());
  await p.reload();
  equal("address restores the view", await names(p), ["p1", "p0"]);

  // Paper: every visible figure has a drawing in lines while printing, and none after.
  await p.evaluate(() => dispatchEvent(new Event("beforeprint")));
  equal("drawings for print", await p.locator("figure:not([hidden]) .print-only > svg").count(), await p.locator("figure:not([hidden])").count());
  await p.evaluate(() => dispatchEvent(new Event("afterprint")));
  equal("drawings after print", await p.locator(".print-only svg").count(), 0);
  equal("known page: console, exceptions, requests", heard, []);
  await close();
}

// An experiment's own figures: curves on a log axis, marks of which two share an x, and a curve with error bars.
async function free(browser) {
  const curves = [{ name: "a, 800", x: [1, 2, 3], y: [1, 10, null] }, { name: "b", x: [1, 2], y: [0, 5] }];
  const marks = [{ name: "a, 800", x: [3, 3, 9], y: [1, 2, 4] }];
  const barred = [{ name: "c", x: [1, 2, 3], y: [1, 2, 3], bar: [0.5, null, 4] }];
  const figure = (title, more) => ({ title, note: "Of " + title, x: "time, s", y: "energy", ...more });
  writeFileSync("pages/free.html", pageOf({ title: "free", figures: [
    figure("Curves", { y_log: true, curves }), figure("Marks", { x_log: true, points: true, curves: marks }), figure("Bars", { curves: barred })] }));
  const { p, heard, visit, close } = await open(browser);
  await visit("pages/free.html");
  equal("free figures", await texts(p, "#figures h3"), ["Curves", "Marks", "Bars"]);
  equal("free plots", await p.locator("#figures canvas").count(), 3);
  equal("free captions", await texts(p, "#figures figcaption"), ["Of Curves", "Of Marks", "Of Bars"]);
  const button = (at, name) => p.locator("#figures figure").nth(at).locator(".actions button", { hasText: name });
  equal("free curves: what the axes hold", (await saved(p, button(0, "CSV"))).text.trim().split("\n"),
    ["series,\"time, s\",energy", "\"a, 800\",1,1", "\"a, 800\",2,10", "b,2,5"]);
  const svg = (await saved(p, button(1, "SVG"))).text;
  equal("marks are not joined", [svg.split("<circle").length - 1, svg.split("<path").length - 1], [3, 0]);
  equal("error bars in CSV", (await saved(p, button(2, "CSV"))).text.trim().split("\n"),
    ["series,\"time, s\",energy,bar", "c,1,1,0.5", "c,2,2,", "c,3,3,4"]);
  // Of each bar the line and its two ends, along y alone, within the axes: -1 to 7.
  const bars = await p.evaluate((text) => {
    const d = new DOMParser().parseFromString(text, "image/svg+xml"), colour = d.querySelector("path").getAttribute("stroke");
    const at = (line, k) => Number(line.getAttribute(k));
    return [...d.querySelectorAll("svg svg line")].filter((l) => l.getAttribute("stroke") === colour)
      .map((l) => [at(l, "x2") - at(l, "x1"), at(l, "y2") - at(l, "y1")]);
  }, (await saved(p, button(2, "SVG"))).text);
  equal("error bars: lines", bars.map(([x, y]) => [Math.round(x), y === 0]), [[0, false], [6, true], [6, true], [0, false], [6, true], [6, true]]);
  check("error bars: lengths", Math.abs(bars[3][1] / bars[0][1] - 8) < 0.05, bars);
  // The longest bar is eight of the 8.5 or so along the axis: a column of pixels, which the curve alone never has.
  const column = await p.locator("#figures figure").nth(2).locator("canvas").evaluate((canvas) => {
    const { width, height } = canvas, data = canvas.getContext("2d").getImageData(0, 0, width, height).data;
    const coloured = (i) => data[i + 3] > 128 && Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]) > 60;
    let most = 0;
    for (let x = 0; x < width; x++) {
      let count = 0;
      for (let y = 0; y < height; y++) count += coloured(4 * (y * width + x));
      most = Math.max(most, count);
    }
    return most / height;
  });
  check("error bars on the screen", column > 0.5, column);
  const third = p.locator("#figures figure").nth(2), over = third.locator(".u-over"), box = await over.boundingBox();
  await over.hover({ position: { x: 4, y: box.height * 0.75 } });
  check("error bars in the tip", (await third.locator(".tip").textContent()).includes("±"), await third.locator(".tip").textContent());
  equal("free: errors", heard, []);
  await close();
}

async function large(browser) {
  const { p, visit, close } = await open(browser);
  await visit("pages/bench.html");
  equal("bench: runs", (await names(p)).length, 13);
  equal("bench: outcomes in words", (await texts(p, "#runs tbody tr:last-child td:nth-child(2)"))[0].includes("unsupported"), true);
  equal("bench: plots", await p.locator("figure:visible canvas").count(), 5);
  equal("bench: reference beside ours", await texts(p, "#runs .ref"), ["43,000", "14.2"]);
  await visit("pages/many.html");
  equal("many: runs", (await names(p)).length, 30);
  equal("many: matrix", await p.locator("#profiles tbody td").count(), 30 * 52);
  await close();
}

// The dash and colour of each solver in the table of runs.
const looks = (p) => p.locator("#runs tbody tr").evaluateAll((rows) => Object.fromEntries(rows.map((r) => {
  const line = r.querySelector(".sample line");
  return [r.querySelector("th").textContent, `${line.getAttribute("stroke")} ${line.getAttribute("stroke-dasharray")}`];
})));

// What follows from names and terms: one look per solver in every report, one line for terms that all share.
async function named(browser) {
  const terms = { tolerance: 1e-4, max_iterations: 10000, max_seconds: 5, start: "zero", threads: 2 };
  const run = (solver, more = {}) => ({ problem: 0, solver, outcome: "budget", iterations: 2, ...terms,
    trace: { iteration: [0, 1, 2], seconds: [1e-6, 1e-2, 2e-2], natural_relative: [1, 0.5, 0.2], active: [0, 1, 2] }, ...more });
  const page = (name, runs, problems) => writeFileSync(`pages/${name}.html`, pageOf({ title: name, problems, runs }));
  page("one", ["gs", "apgd", "apgd:metric=trace", "new"].map((s) => run(s)), [{ name: "p" }]);
  page("two", [run("apgd 100", { max_iterations: 100 }), run("new"), run("gpcg"), run("apgd"), run("pgd")],
    Array.from({ length: 12 }, (_, i) => ({ name: `q${i}` })));
  const { p, visit, close } = await open(browser);
  await visit("pages/one.html");
  const one = await looks(p);
  equal("shared terms", await texts(p, "header .terms"), ["Each run: to 10⁻⁴ of the residual at zero impulses, at most 10,000 iterations or 5 s, from zero, 2 threads."]);
  equal("no column of limits", await p.locator("#runs th[data-key=limits]").count(), 0);
  const curve = await saved(p, p.locator("#convergence .actions button", { hasText: "CSV" }));
  check("a log axis begins after the start", !curve.text.includes("e-6") && !curve.text.includes("0.000001"), curve.text);
  await visit("pages/two.html");
  const two = await looks(p);
  equal("one look per name", [one.apgd, one.new], [two.apgd, two.new]);
  const hue = (look) => look.split(" ")[0];
  check("a variant has the hue and another dash", hue(one["apgd:metric=trace"]) === hue(one.apgd) && hue(two["apgd 100"]) === hue(one.apgd), [one, two]);
  equal("no two alike", [new Set(Object.values(one)).size, new Set(Object.values(two)).size], [4, 5]);
  equal("limits per run", [(await texts(p, "header .terms")).length, await p.locator("#runs td:last-child", { hasText: "10⁻⁴ · 100 · 5 s" }).count()], [0, 1]);
  equal("problems by name", await texts(p, "header .names"), ["Problems: q0, q1, q2, q3, q4, q5, q6 and 5 more."]);
  await close();
  const phone = await open(browser, { width: 390 });
  await phone.visit("pages/one.html");
  const side = () => phone.p.locator("#runs .table").getAttribute("class");
  equal("more to the right", await side(), "table more-right");
  await phone.p.locator("#runs .scroll").evaluate((box) => { box.scrollLeft = 1e6; });
  await phone.p.waitForFunction(() => document.querySelector("#runs .table").className === "table more-left");
  await phone.close();
}

async function hostile(browser) {
  const { p, visit, close } = await open(browser);
  await visit(join(written, "page-hostile/report.html"));
  const title = await p.evaluate(() => JSON.parse(document.getElementById("talus-data").textContent).title);
  equal("written page: title is text", [await p.title() !== "owned", (await texts(p, "h1"))[0] === title], [true, true]);
  equal("written page: no markup from data", await p.locator("main b:not(.tip b)").count(), 0);
  equal("written page: runs", (await names(p)).length, 3);
  equal("written page: thresholds", await texts(p, "#runs tbody tr:nth-child(1) td:nth-child(3)"), ["0.00500"]);
  await close();
}

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--disable-quic"] });
try {
  writePages("pages");
  const all = [...Object.keys(samples).map((n) => `pages/${n}.html`), join(written, "page-hostile/report.html"), join(written, "page-empty/report.html")];
  for (const options of [{ width: 1280, dark: false }, { width: 390, dark: true }]) {
    const view = await open(browser, options);
    for (const path of all) await healthy(view, path, options);
    await view.close();
  }
  await figures(browser);
  await free(browser);
  await large(browser);
  await named(browser);
  await hostile(browser);
} finally {
  await browser.close();
}
console.log(failures ? `${failures} checks failed` : "report page: all checks passed");
process.exitCode = failures ? 1 : 0;

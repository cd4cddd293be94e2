// Made-up reports in the form of docs/reference/report.md, to look at the page and to test it:
//
//   node tests/report/samples.mjs DIR    writes DIR/NAME.html for every sample
//
// The curves have the shapes of real ones (fast start, stall, superlinear end) and mean nothing.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const template = join(dirname(fileURLToPath(import.meta.url)), "../../apps/report/dist/report.html");

// A small generator of its own, so that the samples are the same everywhere.
function random(seed) {
  let s = seed >>> 0;
  return () => {
    s = (Math.imul(s ^ (s >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return ((s ^ (s >>> 13)) >>> 0) / 2 ** 32;
  };
}

const SOLVERS = [
  ["jacobi", 1.2, 0.4], ["gs", 1, 0.7], ["gs:omega=1.5", 1, 0.8], ["pgd", 1.1, 0.6], ["spg", 1.3, 1.15],
  ["cpg", 2.1, 0.9], ["gpcg", 1.4, 1.3], ["gpminres", 1.5, 1.7], ["gpminres-p", 2.6, 1.75], ["kucera", 1.8, 1.45],
  ["mprgp", 1.3, 1.4], ["apgd", 1, 1.25], ["apgd:metric=trace", 1, 1.15], ["admm", 1.6, 1.2],
  ["anderson", 1.2, 1.35], ["pspg-fb", 2.2, 1.5],
];

function trace(rand, name, [, price, rate], contacts, points, budget) {
  const t = { iteration: [], applies: [], seconds: [], objective: [], natural: [], natural_relative: [], projected_gradient: [],
    complementarity_max: [], active: [], active_changes: [], velocity_error: [] };
  const best = -0.012 * contacts, start = 0.098 * (0.8 + 0.4 * rand());
  const hard = 0.8 + 0.6 * rand();
  let noise = 0;
  for (let k = 0; k < points; k++) {
    const it = k === 0 ? 0 : Math.max(k, Math.round(budget ** (k / (points - 1))));
    noise = 0.8 * noise + 0.12 * (rand() - 0.5);
    const decades = rate * hard * (0.35 * Math.log10(1 + it) + 1.1 * Math.max(0, Math.log10((it + 1) / 60)));
    const relative = Math.max(10 ** (noise - decades), 3e-13 * (1 + rand()));
    const changes = Math.round(contacts * 0.3 * (0.7 + 0.3 * rand()) * hard / (1 + it * rate / 12));
    t.iteration.push(it);
    t.applies.push(Math.round(it * price) + 1);
    t.seconds.push((it * price + 1) * contacts * 3.4e-8);
    t.natural_relative.push(relative);
    t.natural.push(relative * start);
    t.projected_gradient.push(relative * start * (1.5 + rand()));
    t.objective.push(best * (1 - Math.min(1, relative ** 1.6)));
    t.complementarity_max.push(relative * 0.02);
    t.velocity_error.push(Math.max(relative * start * 0.6, 2e-11));
    t.active.push(Math.round(contacts * (0.56 + 0.3 * hard / (1 + it * rate / 9))) + changes % 5);
    t.active_changes.push(changes);
    if (relative < 1e-9) break;
  }
  return t;
}

function impulses(rand, contacts, blur) {
  const n = Math.min(contacts, 400), rank = [], value = [];
  for (let i = 0; i < n; i++) {
    const q = i / (n - 1);
    rank.push(Math.round(q * (contacts - 1)));
    value.push(q < 0.38 ? blur * rand() * 1e-3 : 0.02 * ((q - 0.38) / 0.62) ** 1.7 * (1 + blur * (rand() - 0.5) * 0.02) + 0.06 * q ** 40);
  }
  return { rank, value: value.sort((a, b) => a - b) };
}

function run(rand, problem, contacts, solver, points, rich) {
  const t = trace(rand, solver[0], solver, contacts, points, 20000);
  const last = (key) => t[key][t[key].length - 1], relative = last("natural_relative");
  return {
    problem, solver: solver[0], outcome: relative < 1e-9 ? "converged" : "budget", iterations: last("iteration"), applies: last("applies"),
    seconds: last("seconds"), objective: last("objective"), memory_bytes: contacts * (180 + Math.round(200 * rand())),
    residual: {
      projected_gradient: last("projected_gradient"), natural: last("natural"), natural_max: 9 * last("natural"), natural_relative: relative,
      complementarity_mean: relative * 4e-4, complementarity_std: relative * 1.7e-3, complementarity_max: relative * 0.02,
      primal_infeasibility: relative * 0.3, duality_gap: relative * 0.9, siconos: relative * 0.4, siconos_over_q: relative * 0.5,
      velocity_error: last("velocity_error"),
    },
    contacts: { open: last("active"), sliding: 0, sticking: contacts - last("active") },
    trace: t,
    ...(rich && { impulses: impulses(rand, contacts, relative < 1e-8 ? 0.1 : 1) }),
  };
}

function report(title, kind, solvers, problems, points, rich) {
  const rand = random(7);
  const runs = problems.flatMap((p, i) => solvers.map((s) => run(rand, i, p.contacts, s, points, rich)));
  return { talus: { version: "0.1.0" }, title, kind, date: "2026-11-15", machine: "2 cores, aarch64", notes: [], thresholds: [1e-2, 1e-4, 1e-6, 1e-8], problems, runs, tables: [] };
}

const problem = (name, contacts, mu = 0.3) => ({ name, contacts, rows: contacts * (mu ? 3 : 1), bodies: Math.round(contacts / 3.5), mu_min: mu, mu_max: mu, source: `${name}.hdf5` });

function bench() {
  const r = report("heyn-2: spheres in a cylinder, 1,000 to 4,000 bodies", "bench", SOLVERS.slice(0, 13), [problem("1000 bodies", 3634, 0), problem("2000 bodies", 8507, 0), problem("4000 bodies", 17161, 0)], 160, true);
  r.notes = ["Spheres of radius 0.1 m and 6.28 kg settled in a cylinder of radius 2 m, without friction. Every solver starts from zero impulses and runs until the relative natural residual is below 1e-9 or 20,000 iterations are used up."];
  r.runs[5] = { problem: 0, solver: "cpg", outcome: "unsupported", reason: "takes only bounds, and this problem has friction cones", iterations: null, residual: null, trace: null };
  Object.assign(r.runs[3], { outcome: "diverged", residual: { natural: null } });
  r.runs[0].reference = { source: "heyn-2012 Table I", iterations: 43000, seconds: 14.2 };
  r.tables = [{ title: "Beside the paper's Table I", columns: ["Method", "Iterations, paper", "Iterations, ours", "Speed-up, paper", "Speed-up, ours"], rows: [["Jacobi", "43,000", "20,000", "1", "1"], ["GPMINRES", "1,000", "611", "14", "17.3"], ["Kucera", "-", "1,240", "-", "8.1"]], note: "Speed-up in time over Jacobi, at the objective it reaches." }];
  return r;
}

function solve() {
  const r = report("Problem LMGC_945_SP_Box_PL", "solve", [SOLVERS[11]], [problem("LMGC_945_SP_Box_PL", 2746)], 120, true);
  return r;
}

function empty() {
  return { talus: { version: "0.1.0" }, title: "No contact at all", kind: "solve", date: "2026-11-15", machine: "", notes: [], thresholds: [1e-2], tables: [],
    problems: [{ name: "free fall", contacts: 0, rows: 0, bodies: 3, mu_min: null, mu_max: null, source: "" }],
    runs: [{ problem: 0, solver: "apgd", outcome: "converged", iterations: 0, applies: 0, seconds: 0, objective: 0, memory_bytes: 0,
      residual: { natural: 0, natural_relative: null }, trace: { iteration: [0], applies: [0], seconds: [0], objective: [0], natural: [0] }, impulses: { rank: [], value: [] } }] };
}

function nulls() {
  const keys = ["problem", "solver", "outcome", "reason", "iterations", "applies", "seconds", "objective", "memory_bytes", "residual", "trace", "impulses", "reference"];
  const none = Object.fromEntries(keys.map((k) => [k, null]));
  const holes = { iteration: [0, null, 2], seconds: [null, null, null], applies: [1, 2], natural_relative: [1, null, 1e-3], objective: [null, -1, -2], active: [null] };
  return { talus: null, title: null, kind: null, date: null, machine: null, notes: [null], thresholds: null, problems: [null, { name: null, contacts: null }],
    runs: [none, null, { ...none, problem: 1, trace: holes }, { problem: 7, solver: "far", trace: {}, residual: {} }], tables: [null, { title: null, columns: null, rows: [null, ["a", null]] }],
    figures: [null, { title: null, curves: [null, { name: null, x: [1, null], y: null }] }] };
}

function many() {
  const solvers = Array.from({ length: 30 }, (_, i) => [`${SOLVERS[i % 16][0]}${i < 16 ? "" : ":variant=" + i}`, 1 + (i % 5) * 0.3, 0.5 + (i * 7 % 30) / 20]);
  return report("30 solvers on 50 problems", "bench", solvers, Array.from({ length: 50 }, (_, i) => problem(`Problem-${String(i).padStart(2, "0")}`, 200 + 37 * i)), 16, false);
}

function hostile() {
  const evil = '</script><script>document.title="owned"</script><!--<b onmouseover=alert(1)>&amp;\u2028"\'';
  const r = report(evil, "solve", [[evil, 1, 1], [evil + "2", 1, 1.3]], [{ ...problem("x", 500), name: evil, source: evil }], 30, true);
  return { ...r, notes: [evil], machine: evil, date: evil, tables: [{ title: evil, columns: [evil], rows: [[evil]], note: evil }],
    figures: [{ title: evil, note: evil, x: evil, y: evil, curves: [{ name: evil, x: [1, 2], y: [1, 2] }] }] };
}

export const samples = { bench, solve, empty, nulls, many, hostile, nothing: () => ({}) };

export function page(data) {
  const json = JSON.stringify(data).replace(/</g, "\\u003c");
  return readFileSync(template, "utf8").replace("@TALUS_DATA@", () => json);
}

export function writePages(dir) {
  mkdirSync(dir, { recursive: true });
  for (const [name, make] of Object.entries(samples)) writeFileSync(join(dir, `${name}.html`), page(make()));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writePages(process.argv[2] ?? ".");

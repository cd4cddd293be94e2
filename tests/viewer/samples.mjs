// Made-up runs, encoded by hand after docs/reference/frames.md and put into the viewer's page:
//
//   node tests/viewer/samples.mjs DIR    writes DIR/NAME.html for every sample
//
// The encoder is the simplest that the format allows: every frame a key frame.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { deflateSync } from "node:zlib";
import { headPayload } from "./shapes.mjs";

const template = join(dirname(fileURLToPath(import.meta.url)), "../../apps/viewer/dist/viewer.html");

// ---- the file ----

const CRC = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});
const crc32 = (...parts) => {
  let c = 0xffffffff;
  for (const part of parts) for (const byte of part) c = CRC[(c ^ byte) & 255] ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
};
const padded = (bytes) => Buffer.concat([bytes, Buffer.alloc((8 - (bytes.length % 8)) % 8)]);

function chunk(kind, payload, { time = 0, step = 0, key = 0 } = {}) {
  const head = Buffer.alloc(40);
  head.write("TCHK" + kind, 0, "latin1");
  head.writeBigUInt64LE(BigInt(payload.length), 8);
  head.writeDoubleLE(time, 16);
  head.writeBigInt64LE(BigInt(step), 24);
  head.writeUInt32LE(key, 32);
  head.writeUInt32LE(crc32(head.subarray(0, 36), payload), 36);
  return Buffer.concat([head, padded(payload)]);
}

const bf16 = (v) => {
  const bits = new Uint32Array(Float32Array.of(v).buffer)[0];
  return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
};
const TYPES = { integer: 1, bf16: 2, f32: 3 };

function array(name, type, components, values, predicted = false) {
  const tuples = values.length / components;
  let words = Uint32Array.from(values, (v, i) => {
    if (type === "bf16") return bf16(v);
    if (type === "f32") return new Uint32Array(Float32Array.of(v).buffer)[0];
    const d = (v - (predicted && i >= components ? values[i - components] : 0)) | 0;
    return (d << 1) ^ (d >> 31);
  });
  const most = words.reduce((a, b) => Math.max(a, b), 0);
  const width = type === "bf16" ? 2 : type === "f32" ? 4 : most < 256 ? 1 : most < 65536 ? 2 : 4;
  const planes = Buffer.alloc(words.length * width);
  for (let c = 0, at = 0; c < components; c++)
    for (let byte = 0; byte < width; byte++) for (let t = 0; t < tuples; t++) planes[at++] = words[t * components + c] >>> (8 * byte);
  const data = deflateSync(planes), head = Buffer.from([name, TYPES[type], components, predicted ? 1 : 0, width, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  head.writeUInt32LE(tuples, 8);
  head.writeUInt32LE(data.length, 12);
  return padded(Buffer.concat([head, data]));
}

// A frame is { time, step, contacts, bodies, chains }, a body { at, velocity, radius, shape, material, tag, fixed, layer, force, touching, turned, dissipated if the run sums it }.
function frame(head, { time, step, contacts, bodies, chains }) {
  const all = (of) => bodies.flatMap(of), lean = head.detail === "lean";
  const quanta = (from, to) => to.map((v, k) => Math.round((v - from[k]) / head.quantum));
  const turned = bodies.filter((b) => head.shapes[b.shape].kind !== "sphere");
  const arrays = [
    array(24, "integer", 2, all(() => [1, 0])), // numbers 1, 2, 3, ...
    array(3, "integer", 3, all((b) => quanta(head.origin, b.at))),
    lean ? array(5, "bf16", 1, all((b) => Math.hypot(...b.velocity))) : array(4, "bf16", 3, all((b) => b.velocity)),
    array(6, "integer", 4, turned.flatMap((b) => (b.turned ?? [1, 0, 0, 0]).map((q) => Math.round(32767 * q)))),
    array(7, "f32", 1, all((b) => b.radius)),
    ...["shape", "material", "tag", "fixed", "layer"].map((key, k) => array(8 + k, "integer", 1, all((b) => b[key] ?? 0))),
    array(13, "bf16", 1, all((b) => b.force)),
    ...(bodies.every((b) => b.dissipated !== undefined) ? [array(35, "f32", 1, all((b) => b.dissipated))] : []),
  ];
  if (!lean) {
    arrays.push(array(14, "integer", 1, all((b) => b.touching)));
    const points = chains.filter((c) => bodies[c.b].fixed);
    arrays.push(array(15, "integer", 1, chains.map((c) => c.a), true), array(16, "integer", 1, chains.map((c) => c.b - c.a)),
      array(17, "bf16", 1, chains.map((c) => c.force)), array(18, "integer", 3, points.flatMap((c) => quanta(bodies[c.a].at, c.point))));
  }
  const counts = Buffer.alloc(16);
  [bodies.length, contacts, arrays.length].forEach((v, k) => counts.writeUInt32LE(v, 4 * k));
  return chunk("FRAM", Buffer.concat([counts, ...arrays]), { time, step, key: 1 });
}

export function framesFile(head, frames) {
  const start = Buffer.alloc(16);
  start.write("TALUSFRM", 0, "latin1");
  start.writeUInt32LE(3, 8);
  return Buffer.concat([start, chunk("HEAD", headPayload(head, array)), ...frames.map((f) => frame(head, f))]);
}

// ---- the runs ----

// A small generator of its own, so that the samples are the same everywhere.
function random(seed) {
  let s = seed >>> 0;
  return () => {
    s = (Math.imul(s ^ (s >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return ((s ^ (s >>> 13)) >>> 0) / 2 ** 32;
  };
}

// Spheres that fall into a heap in a drum, with a box and a cylinder among them. The first two bodies are the floor and the drum.
function heap({ spheres, frames, detail = "full", title = "Heap", energies = false }) {
  const radius = 0.1, drum = Math.cbrt(spheres) * 0.13, rand = random(7);
  const head = {
    producer: "sample", title, scene: "heap", gravity: [0, 0, -9.81], step: 0.01, radius, quantum: 2 ** -11, origin: [-drum, -drum, 0], detail,
    shapes: [{ kind: "sphere" }, { kind: "plane" }, { kind: "revolve", profile: [[0, 0], [drum, 0], [drum, 3 * drum]] }, { kind: "box", half: [0.2, 0.15, 0.1] }, { kind: "cylinder", radius: 0.12, half_height: 0.2 }],
    materials: [{ name: "glass", friction: 0.3, density: 2500 }, { name: "steel", friction: 0.5, density: 7800 }],
    entries: [{ name: "floor", first: 1, last: 1 }, { name: "drum", first: 2, last: 2 }, { name: "grains", first: 3, last: spheres + 2 }, { name: "<b>late</b>", first: spheres + 3 }],
  };
  const places = Array.from({ length: spheres + 2 }, (_, i) => {
    const angle = 2 * Math.PI * rand(), r = (drum - 0.25) * Math.sqrt(rand()), height = (2.6 * drum * (i + 0.5)) / spheres + 0.2;
    return { x: r * Math.cos(angle), y: r * Math.sin(angle), low: 0.1 + 0.45 * height, height, swing: rand() };
  });
  const wall = { velocity: [0, 0, 0], radius: 0, material: 0, fixed: 1, force: 0, touching: 0, ...(energies ? { dissipated: 0 } : {}) };
  const shot = (k) => {
    const t = 0.05 * k;
    const bodies = [{ ...wall, at: [0, 0, 0], shape: 1 }, { ...wall, at: [0, 0, 0], shape: 2, radius: 3 * drum }];
    places.forEach((p, i) => {
      const free = p.height - 0.5 * 9.81 * t * t, z = Math.max(p.low, free), falls = free > p.low;
      bodies.push({
        at: [p.x, p.y, z], velocity: [falls ? 0.1 * p.swing : 0, 0, falls ? -9.81 * t : 0], radius: i < spheres ? radius : 0.27, shape: i < spheres ? 0 : 3 + (i - spheres),
        material: i % 5 === 0 ? 1 : 0, tag: i % 3, layer: Math.min(255, Math.floor(p.height / 0.2)), force: falls ? 0 : 2 + 20 * Math.max(0, 2.6 * drum - p.height) * p.swing, touching: falls ? 0 : 3 + (i % 5), ...(energies ? { dissipated: falls ? 0 : 1e-3 * p.swing * t - 1e-6 } : {}),
      });
    });
    const strong = [{ a: 2, b: 0, force: 9, point: [bodies[2].at[0], bodies[2].at[1], 0] }];
    for (let i = 2; i + 1 < bodies.length && strong.length < spheres / 4; i += 3)
      if (bodies[i].force > 0) strong.push({ a: i, b: i + 1, force: 5 + bodies[i].force });
    return { time: t, step: 5 * k, contacts: 3 * spheres - 2 * k, bodies, chains: detail === "lean" ? [] : strong };
  };
  return { head, frames: Array.from({ length: frames }, (_, k) => shot(k)) };
}

function steps(rows) {
  const rand = random(3), column = (of) => Array.from({ length: rows }, (_, i) => of(0.01 * (i + 1)));
  return {
    rows, first: 0, stride: 1, time: column((t) => t), kinetic: column((t) => 40 * t * Math.exp(-3 * t) + rand()), potential: column((t) => 90 - 20 * Math.min(t, 1)),
    contacts: column((t) => Math.round(1500 * (1 - Math.exp(-2 * t)))), bodies: column(() => BODIES), residual: column((t) => (t < 0.05 ? null : 1e-4 * (0.2 + rand()))),
    tolerance: column(() => 1e-4), iterations: column(() => Math.round(40 + 80 * rand())), penetration: column(() => 1e-5), missed: column(() => 0),
  };
}

const base64 = (file) => file.toString("base64");
const run = (title, more = {}) => ({ version: 1, producer: "talus 0.1.0", title, scene: "heap", state: "finished", until: 2, server: null, steps: steps(200), note: "", ...more });

export const SPHERES = 200, FRAMES = 41, BODIES = SPHERES + 4; // of the heap

const hostile = '</script><script>document.title="owned"</script><b>x</b>';

export const samples = {
  heap: () => { const { head, frames } = heap({ spheres: SPHERES, frames: FRAMES }); return [run("Heap"), framesFile(head, frames)]; },
  energies: () => { const { head, frames } = heap({ spheres: 20, frames: 5, title: "Energies", energies: true }); return [run("Energies"), framesFile(head, frames)]; },
  lean: () => { const { head, frames } = heap({ spheres: SPHERES, frames: 3, detail: "lean" }); return [run("Lean", { note: "every 4th frame, to stay within 64 MB" }), framesFile(head, frames)]; },
  single: () => { const { head, frames } = heap({ spheres: 20, frames: 1, title: hostile }); return [run(hostile, { steps: null, state: "died" }), framesFile(head, frames)]; },
  torn: () => { const { head, frames } = heap({ spheres: 50, frames: 5 }); const file = framesFile(head, frames); return [run("Torn", { state: "died" }), file.subarray(0, file.length - 100)]; },
  copy: () => { const { head, frames } = heap({ spheres: 20, frames: 3 }); return [run("Copy", { state: "running" }), framesFile(head, frames)]; },
  damaged: () => { const { head, frames } = heap({ spheres: 20, frames: 3 }); const file = framesFile(head, frames); file[file.indexOf("TCHKFRAM") + 100] ^= 1; return [run("Damaged"), file]; },
  empty: () => [run("Empty", { steps: null }), Buffer.alloc(0)],
};

// The page as talus writes it: no text of the data can end its element.
export function page([data, file]) {
  const json = JSON.stringify(data).replaceAll("<", "\\u003c");
  return readFileSync(template, "utf8").replace("@TALUS_RUN@", () => json).replace("@TALUS_FRAMES@", () => base64(file));
}

export function writePages(dir) {
  mkdirSync(dir, { recursive: true });
  for (const [name, make] of Object.entries(samples)) writeFileSync(join(dir, `${name}.html`), page(make()));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (!process.argv[2]) throw new Error("usage: node samples.mjs DIR");
  writePages(process.argv[2]);
}

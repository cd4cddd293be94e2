// Frames files as the viewer reads them: node data.mjs
// Everything that the format allows comes out as it went in; whatever is damaged ends in a clear error, soon and without
// asking for memory; frames are read together, decoded once and kept.

import { deflateSync } from "node:zlib";
import { load } from "./data_bundle.mjs";
import { chunk, crc32, file, framePayload, HEAD, headOf, largeOf, mixed, random, rawArray } from "./data_file.mjs";
import { figure } from "./shapes.mjs";

const { walk, openChunk, parseHead, decodeFrame, Store, fromBase64, StepsTable, samples, scaleOf } = await load(`
  export * from "./data/file"; export * from "./data/head"; export * from "./data/decode"; export * from "./data/store"; export * from "./data/base64"; export * from "./data/steps"; export { samples } from "./ui/steady"; export { scaleOf } from "./engine/colour";`);

let failures = 0;
function check(what, ok, seen = "") {
  if (ok) return;
  if (++failures <= 20) console.log(`FAILED: ${what}${seen === "" ? "" : `: ${JSON.stringify(seen)}`}`);
}
const equal = (what, a, b) => check(what, JSON.stringify(a) === JSON.stringify(b), { got: a, expected: b });

async function refused(what, act, words) {
  try {
    await act();
    check(`${what}: not refused`, false);
  } catch (e) {
    check(`${what}: ${e.constructor.name}: ${e.message}`, e.constructor === Error && words.test(e.message));
  }
}

function storeOf(bytes, reads = []) {
  const store = new Store(async (offset, size) => {
    reads.push([offset, size]);
    return bytes.subarray(offset, offset + size);
  });
  return Object.assign(store, walk(bytes));
}

const met = new Set(); // ends of chains that lay at large bodies

// A decoded frame against the one that was written.
// Chains of old files end at the centres of large bodies.
function compare(what, f, truth, head, idOf = (b) => b.id, old = false) {
  equal(`${what}: counts`, [f.time, f.step, f.count, f.contacts, f.chains?.count], [truth.time, truth.step, truth.bodies.length, truth.contacts, truth.chains.length]);
  const column = (name, of, decoded = f[name]) => equal(`${what}: ${name}`, Array.from(decoded), truth.bodies.flatMap(of));
  column("id", idOf);
  for (const name of ["shape", "material", "tag", "fixed", "layer", "touching", "radius", "force", "dissipated"]) column(name, (b) => b[name]);
  column("velocity", (b) => b.velocity);
  column("position", (b) => b.at.map((q) => Math.fround(q * head.quantum)));
  truth.bodies.forEach((b, row) => {
    const q = head.shapes[b.shape].kind === "sphere" ? [1, 0, 0, 0] : b.turn, n = Math.hypot(...q);
    check(`${what}: orientation of row ${row}`, q.every((v, c) => Math.abs(v / n - f.orientation[4 * row + c]) < 1e-6));
    check(`${what}: speed of row ${row}`, Math.abs(Math.hypot(...b.velocity) - f.speed[row]) < 1e-6 * (1 + f.speed[row]));
  });
  truth.chains.forEach((c, k) => {
    const a = truth.bodies[c.a].at, b = truth.bodies[c.b].at, large = old ? null : largeOf(truth.bodies, c), beside = (at) => at.map((v, i) => v + c.point[i]);
    const from = large === "a" ? beside(b) : a, to = truth.bodies[c.b].fixed || large === "b" ? beside(a) : b;
    if (large) met.add(large);
    const near = (a, b) => b.every((v, i) => Math.abs(a[3 * k + i] - v * head.quantum) < 1e-4);
    check(`${what}: chain ${k}`, f.chains.force[k] === c.force && near(f.chains.from, from) && near(f.chains.to, to));
  });
}

async function roundTrips() {
  for (const deflated of [true, false]) {
    const frames = mixed(24), bytes = file(HEAD, frames, { deflated }), rand = random(5);
    const store = storeOf(bytes);
    equal("frames found", store.frames.map((f) => [f.time, f.step, f.key, f.bodies]), frames.map((f, k) => [f.time, f.step, k % 16 === 0, f.bodies.length]));
    const order = Array.from(frames.keys()).sort(() => rand() - 0.5);
    for (const k of [...order, ...frames.keys()]) compare(`frame ${k}`, await store.load(k), frames[k], HEAD);
    const old = storeOf(file(HEAD, frames, { deflated, version: 2 }));
    for (const k of order) compare(`old frame ${k}`, await old.load(k), frames[k], HEAD, (b) => (b.generation - 1) * 2 ** 32 + b.index + 1, true);
  }
  equal("chains to large bodies, at either end", [...met].sort(), ["a", "b"]);
  const without = mixed(2).map((f) => ({ ...f, bodies: f.bodies.map(({ dissipated, ...b }) => b) }));
  equal("a run that sums no energies", (await storeOf(file(HEAD, without)).load(1)).dissipated, null);
  // Integers go round at 2^32.
  const far = [2147483647, -2147483648, -1].map((v, k) => ({ ...mixed(1)[0], time: k, bodies: [{ ...mixed(1)[0].bodies[1], at: [v, -v - 1, 0] }], chains: [] }));
  const store = storeOf(file(HEAD, far));
  for (const k of far.keys()) equal(`far frame ${k}`, Array.from((await store.load(k)).position), far[k].bodies[0].at.map((q) => Math.fround(q * HEAD.quantum)));
  // Lean frames have speeds, no velocities, no chains.
  const lean = await storeOf(file({ ...HEAD, detail: "lean" }, mixed(2))).load(1);
  equal("lean", [lean.velocity, lean.touching, lean.chains, lean.speed.length], [null, null, null, lean.count]);
}

// Lean frames of version 4: bodies in parts, by blocks of their numbers.
async function parts() {
  const all = mixed(24), ids = [...new Set(all.flatMap((f) => f.bodies.map((b) => b.id)))].sort((a, b) => a - b), lean = { ...HEAD, detail: "lean" };
  const spread = (b) => ({ ...b, id: ids.indexOf(b.id) + 1 + 2 ** 16 * Math.floor(ids.indexOf(b.id) / 7) ** 2 });
  const frames = all.map((f) => ({ ...f, bodies: f.bodies.map(spread).sort((a, b) => a.id - b.id), chains: [] }));
  const place = (b) => b.at.map((q) => Math.fround(q * HEAD.quantum));
  for (const deflated of [true, false]) {
    const bytes = file(lean, frames, { deflated, version: 4 }), store = storeOf(bytes), rand = random(6);
    equal("frames in parts", store.frames.map((f) => [f.time, f.key, f.bodies]), frames.map((f, k) => [f.time, k % 16 === 0, f.bodies.length]));
    check("there are parts", Buffer.from(bytes.buffer).toString("latin1").split("TCHKPART").length > 3 * frames.length);
    for (const k of [...frames.keys(), ...Array.from(frames.keys()).sort(() => rand() - 0.5)]) {
      const f = await store.load(k), { bodies } = frames[k], what = `frame ${k} in parts`;
      equal(`${what}: counts`, [f.count, f.contacts, f.chains, f.velocity], [bodies.length, frames[k].contacts, null, null]);
      for (const name of ["id", "shape", "material", "tag", "fixed", "layer", "radius", "force", "dissipated"]) equal(`${what}: ${name}`, Array.from(f[name]), bodies.map((b) => b[name]));
      equal(`${what}: position`, Array.from(f.position), bodies.flatMap(place));
      bodies.forEach((b, row) => {
        const q = HEAD.shapes[b.shape].kind === "sphere" ? [1, 0, 0, 0] : b.turn, n = Math.hypot(...q);
        check(`${what}: orientation of row ${row}`, q.every((v, c) => Math.abs(v / n - f.orientation[4 * row + c]) < 1e-6));
      });
    }
  }
  const bytes = file(lean, frames, { version: 4 }), { frames: places, heads } = walk(bytes), head = await parseHead(openChunk(bytes.subarray(heads[0].offset)).payload);
  for (let size = 16; size < bytes.length; size += 197) equal(`parts cut to ${size}`, walk(bytes.subarray(0, size)).frames.length, places.filter((p) => p.offset + p.size <= size).length);
  const first = bytes.slice(places[0].offset, places[0].offset + places[0].size), part = openChunk(first).size;
  await refused("a frame without its first part", () => decodeFrame(first.subarray(part), head, null), /parts with \d+ bodies; \d+ with \d+ are there/);
  await refused("a part twice", () => decodeFrame(new Uint8Array(Buffer.concat([first.subarray(0, part), first])), head, null), /part \d+ after part/);
  await refused("parts without a frame", () => decodeFrame(first.subarray(0, part), head, null), /chunk of 0 bytes/);
  const next = bytes.slice(places[1].offset, places[1].offset + places[1].size);
  await refused("the part of another frame", () => decodeFrame(new Uint8Array(Buffer.concat([first.subarray(0, part), next.subarray(openChunk(next).size)])), head, null), /part of one frame/);
}

async function sharing() {
  const [first] = mixed(1), frames = Array.from({ length: 33 }, (_, k) => ({ ...first, time: k, bodies: first.bodies.map((b) => ({ ...b, at: b.at.map((v) => v + k) })) }));
  const store = storeOf(file(HEAD, frames)), a = await store.load(15), b = await store.load(16), c = await store.load(20);
  for (const key of ["id", "radius", "shape", "tag", "fixed", "layer", "orientation"]) check(`${key} is shared between equal frames`, a[key] === b[key] && b[key] === c[key]);
  check("positions are not shared", a.position !== b.position);
}

async function damage() {
  const frames = mixed(3), bytes = file(HEAD, frames), { frames: places, heads } = walk(bytes), head = await parseHead(openChunk(bytes.subarray(heads[0].offset)).payload);
  // A file that ends anywhere shows its whole chunks.
  for (let size = 0; size < bytes.length; size += 197) {
    if (size < 16) await refused(`file of ${size} bytes`, () => walk(bytes.subarray(0, size)), /TALUSFRM/);
    else equal(`file cut to ${size}`, walk(bytes.subarray(0, size)).frames.length, places.filter((p) => p.offset + p.size <= size).length);
  }
  for (const v of [1, 2, 5]) await refused("another version", () => walk(Uint8Array.from(bytes, (b, k) => (k === 8 ? v : b))), new RegExp(`version ${v}`));

  // Any changed byte is seen by the CRC.
  const { offset, size } = places[0], before = await decodeFrame(bytes.subarray(offset, offset + size), head, null);
  const second = bytes.slice(places[1].offset, places[1].offset + places[1].size);
  for (let k = 0; k < second.length - 8; k += 211) {
    const bad = second.slice();
    bad[k] ^= 1 << (k % 8);
    await refused(`byte ${k}`, () => decodeFrame(bad, head, before), /CRC|TCHK|bytes|kind/);
  }
  await refused("a successor without its frame before", () => decodeFrame(second, head, null), /before/);

  // Changed with a CRC that fits: an error in words or a frame, and never for long.
  const rand = random(9), start = performance.now();
  let decoded = 0;
  for (let k = 0; k < 400; k++) {
    const bad = second.slice(), view = new DataView(bad.buffer), payload = bad.subarray(40, 40 + Number(view.getBigUint64(8, true)));
    for (let n = 0; n < 1 + k % 3; n++) {
      const at = k % 2 ? Math.floor(rand() * payload.length) : 16 * Math.floor(rand() * 40) + Math.floor(rand() * 16);
      payload[at % payload.length] = rand() < 0.5 ? 255 : Math.floor(rand() * 256);
    }
    view.setUint32(36, crc32(bad.subarray(0, 36), payload), true);
    try {
      await decodeFrame(bad, head, before);
      decoded++;
    } catch (e) {
      check(`change ${k}: ${e.constructor.name}: ${e.message}`, e.constructor === Error && e.message.length > 10);
    }
  }
  check("damaged frames are judged in a moment each", performance.now() - start < 30000, performance.now() - start);
  check("some changes are harmless", decoded > 0, decoded);
  return head;
}

async function claims(head) {
  const one = (bodies, arrays, chains = 0) => {
    const counts = Buffer.alloc(16);
    [bodies, chains, arrays.length].forEach((v, k) => counts.writeUInt32LE(v, 4 * k));
    return new Uint8Array(chunk("FRAM", Buffer.concat([counts, ...arrays]), { key: true }));
  };
  const try_ = (bytes) => () => decodeFrame(bytes, head, null);
  await refused("four thousand million bodies", try_(one(4294967295, [])), /claims 4294967295 bodies/);
  // 64 MB of zeros in 64 kB, for a frame of 8 bodies.
  const bomb = deflateSync(Buffer.alloc(64 * 2 ** 20)), header = Buffer.alloc(16);
  header.set([1, 1, 1, 1, 1, 1]);
  header.writeUInt32LE(8, 8);
  header.writeUInt32LE(bomb.length, 12);
  const memory = process.memoryUsage().arrayBuffers;
  await refused("a bomb", try_(one(8, [Buffer.concat([header, bomb, Buffer.alloc((8 - (bomb.length % 8)) % 8)])])), /more than the 8 bytes/);
  check("a bomb is not inflated", process.memoryUsage().arrayBuffers - memory < 16 * 2 ** 20, process.memoryUsage().arrayBuffers - memory);

  const index = (words) => rawArray({ name: 1, type: 1, components: 1, prediction: 1, width: 1, words });
  await refused("no index", try_(one(1, [])), /without the array number/);
  await refused("twice", try_(one(1, [index([0]), index([0])])), /array index: it is there twice/);
  await refused("an index that does not ascend", try_(one(2, [index([2, 1]), rawArray({ name: 2, type: 1, components: 1, width: 1, words: [0, 0] })])), /ascend/);
  await refused("too few tuples", try_(one(2, [index([0])])), /1 tuples; expected 2/);
  await refused("a wrong type", try_(one(1, [rawArray({ name: 1, type: 2, components: 1, width: 2, words: [0] })])), /array index: type 2/);
  const wild = (change) => {
    const [frame] = mixed(1);
    return new Uint8Array(chunk("FRAM", framePayload(HEAD, change(frame), null), { key: true }));
  };
  await refused("a shape that the head lacks", try_(new Uint8Array(chunk("FRAM", framePayload({ ...HEAD, shapes: [...HEAD.shapes, { kind: "sphere" }] },
    { ...mixed(1)[0], bodies: mixed(1)[0].bodies.map((b, k) => (k === 3 ? { ...b, shape: 5 } : b)) }, null), { key: true }))), /array shape: number 5/);
  await refused("a material that the head lacks", try_(wild((f) => ({ ...f, bodies: f.bodies.map((b, k) => (k === 3 ? { ...b, material: 9 } : b)) }))), /array material: number 9/);
  const frame = mixed(1)[0], n = frame.bodies.length;
  const payload = Buffer.concat([framePayload(HEAD, { ...frame, chains: [] }, null), rawArray({ name: 15, type: 1, components: 1, width: 2, words: [2 * (n + 5)] }),
    rawArray({ name: 16, type: 1, components: 1, width: 1, words: [0] }), rawArray({ name: 17, type: 2, components: 1, width: 2, words: [0] })]);
  payload.writeUInt32LE(payload.readUInt32LE(8) + 3, 8);
  await refused("a chain beyond the bodies", try_(new Uint8Array(chunk("FRAM", payload, { key: true }))), /chain 0: rows/);
}

// A head whose JSON and arrays may be changed; `arrays`: those of one solid tetrahedron.
const corners = Float32Array.of(-0.5, -0.5, -0.5, 1, 0, 0, 0, 1, 0, 0, 0, 1), faces = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3];
const bitsOf = (floats) => Array.from(new Uint32Array(Float32Array.from(floats).buffer)), zigzag = (v) => v.map((x) => ((x << 1) ^ (x >> 31)) >>> 0);
const tetrahedron = { kind: "anything", drawn: "solid", levels: [[4, 4, 0, 1]] };
const arraysOf = ({ point = corners, triangle = faces, normal = Array(12).fill(0), piece = [4] } = {}) => [
  rawArray({ name: 19, type: 3, components: 3, width: 4, words: bitsOf(point) }), rawArray({ name: 20, type: 1, components: 3, width: 2, words: zigzag(normal) }),
  rawArray({ name: 21, type: 1, components: 3, width: 1, words: zigzag(triangle) }), rawArray({ name: 23, type: 1, components: 1, width: 1, words: zigzag(piece) }),
];
function headWith(change, arrays = arraysOf()) {
  const text = Buffer.from(JSON.stringify({ ...HEAD, shapes: [tetrahedron], ...change }));
  return new Uint8Array(Buffer.concat([text, Buffer.alloc(8 - (text.length % 8)), ...arrays]));
}

async function heads() {
  await refused("head: not JSON", () => parseHead(new TextEncoder().encode("{")), /not JSON/);
  const shape = (change) => ["shapes", [{ ...tetrahedron, ...change }]];
  for (const [key, value] of [["quantum", 0], ["radius", "x"], ["gravity", [0, 1]], ["origin", [0, 0, null]], ["shapes", 3], ["materials", [3]], ["shapes", [{ kind: "box", half: [1, 1, 1] }]],
    shape({ drawn: "painted" }), shape({ levels: [] }), shape({ levels: 3 }), shape({ levels: [[4, 4, 0]] }), shape({ levels: [[4, -4, 0, 1]] }), shape({ levels: [[4, 4.5, 0, 1]] }), shape({ drawn: "sphere" }), shape({ drawn: "half space" })]) {
    await refused(`head: ${key} ${JSON.stringify(value)}`, () => parseHead(headWith({ [key]: value })), new RegExp(`head of the frames: ${key}.* must be`));
  }
  const level = (sizes) => ({ shapes: [{ ...tetrahedron, levels: [sizes] }] });
  await refused("head: more vertices than there are", () => parseHead(headWith(level([5, 4, 0, 1]))), /array point: 4 tuples; expected 5/);
  await refused("head: fewer triangles", () => parseHead(headWith(level([4, 3, 0, 1]))), /array triangle: 4 tuples; expected 3/);
  await refused("head: edges that are not there", () => parseHead(headWith(level([4, 4, 2, 1]))), /figures are missing/);
  await refused("head: no arrays", () => parseHead(headWith({}, [])), /figures are missing/);
  await refused("head: a vertex that is not there", () => parseHead(headWith({}, arraysOf({ triangle: [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 4] }))), /array triangle has vertex 4; there are 4/);
  await refused("head: a point that is no number", () => parseHead(headWith({}, arraysOf({ point: corners.map((v, k) => (k === 5 ? NaN : v)) }))), /point must be numbers/);
  await refused("head: far more than its bytes", () => parseHead(headWith(level([4e6, 4, 0, 1]))), /claims/);
  await refused("head: cut off", () => parseHead(headWith({}).subarray(0, -60)), /bytes of data|within one|missing/);
  const [solid] = (await parseHead(headWith({}))).shapes;
  equal("head: a figure of a kind that nobody knows", [solid.kind, solid.drawn, Array.from(solid.levels[0].triangles), Array.from(solid.levels[0].position)], ["anything", "solid", faces, Array.from(corners)]);
  check("head: what has no edges has sections", solid.levels[0].lines.length > 0 && solid.levels[0].lines.length % 6 === 0);
  const all = (await parseHead(new Uint8Array(headOf(HEAD)))).shapes, plain = (s) => s.levels.map((l) => [Array.from(l.position).slice(0, 3 * l.triangles.length), Array.from(l.triangles)]);
  equal("head: figures", all.map((s) => [s.kind, s.drawn, plain(s)]), HEAD.shapes.map((s) => figure(s)).map((s) => [s.kind, s.drawn, plain(s)]));
  equal("head: lines", all.map((s) => s.levels.map((l) => Array.from(l.lines))), HEAD.shapes.map((s) => figure(s).levels.map((l) => Array.from(l.lines))));
}

async function reading() {
  const frames = mixed(40), bytes = file(HEAD, frames), reads = [], store = storeOf(bytes, reads);
  await Promise.all([store.load(10), store.load(10)]);
  const span = (a, b) => [store.frames[a].offset, store.frames[b].offset + store.frames[b].size - store.frames[a].offset];
  equal("a cold frame: its key frame and what lies between in one request, and the head", reads.map(String).sort(), [span(0, 10), [store.heads[0].offset, store.heads[0].size]].map(String).sort());
  reads.length = 0;
  for (const k of [10, 7, 3, 0]) await store.load(k);
  equal("what was decoded is kept", reads, []);
  for (let k = 11; k < 40; k++) await store.load(k);
  check("playing reads ahead", reads.length <= 2, reads.length);
  const wrong = [-1, 40, 1.5, NaN];
  for (const k of wrong) await refused(`frame ${k}`, () => store.load(k), /not among the 40/);
  const other = storeOf(bytes), late = refused("a file replaced while it is read", () => other.load(39), /replaced/);
  await new Promise((done) => setTimeout(done));
  other.reset();
  await late;
  await refused("after that", () => other.load(0), /not among the 0/);
}

// Frames looked at for what holds for the whole run.
async function looks() {
  const frames = mixed(40), bytes = file(HEAD, frames), reads = [], store = storeOf(bytes, reads);
  compare("a look in passing", await store.glance(20), frames[20], HEAD);
  const frameReads = () => reads.filter(([offset]) => offset !== store.heads[0].offset).length;
  equal("a look in passing: one request", frameReads(), 1);
  await store.load(20);
  equal("a look in passing: nothing is kept of it", frameReads(), 2);
  const infos = (count, size) => Array.from({ length: count }, (_, k) => ({ offset: k * size, size, key: k % 16 === 0 }));
  equal("looks at a short run", samples(infos(3, 100)), [0, 1, 2]);
  equal("looks at a run", samples(infos(161, 100)), [0, 20, 40, 60, 80, 100, 120, 140, 160]);
  equal("looks at large frames: key frames", samples(infos(161, 3e6)), [0, 16, 32, 48, 80, 96, 112, 128, 160]);
  equal("looks at huge frames: few", samples(infos(161, 8e6)), [0, 48, 96, 160]);
  equal("looks at nothing", samples([]), []);
}

async function pages() {
  const bytes = file(HEAD, mixed(2)), text = Buffer.from(bytes).toString("base64");
  for (const t of [text, text.replace(/(.{76})/g, "$1\n")]) check("base64", Buffer.compare(Buffer.from(await fromBase64(t)), Buffer.from(bytes)) === 0);
  await refused("base64 cut off", () => fromBase64(text.slice(0, -1)), /odd length/);
  await refused("not base64", () => fromBase64("!!!!"), /not base64/);
  const steps = new StepsTable();
  steps.append({ rows: 2, time: [0.1, 0.2], kinetic: [1, null] });
  steps.append({ rows: 1, time: [0.3], kinetic: [3] });
  equal("steps", [steps.rows, Array.from(steps.time), Array.from(steps.kinetic, (v) => (Number.isNaN(v) ? "none" : v)), steps.residual.length], [3, [0.1, 0.2, 0.3], [1, "none", 3], 3]);
}

// As `talus render` has them (tests/test_draw_parts.c): slower than sqrt(2 g r) / 4 counts as at rest.
function scales() {
  const slow = { head: { gravity: [0, 0, -10], radius: 0.05 }, speed: Float32Array.of(1e-6), fixed: Uint8Array.of(0) };
  equal("scale of slow bodies", scaleOf(slow, "speed").high, 0.3);
  equal("scale of fast bodies", scaleOf({ ...slow, speed: Float32Array.of(7) }, "speed").high, 8);
}

await roundTrips();
await parts();
await sharing();
await claims(await damage());
await heads();
await reading();
await looks();
await pages();
scales();
console.log(failures ? `${failures} checks failed` : "data: all checks passed");
process.exitCode = failures ? 1 : 0;

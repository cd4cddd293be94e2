// Frames files for tests, with everything that docs/reference/frames.md allows: predicted frames, bodies that come and go, arrays
// stored or deflated.

import { headPayload } from "./shapes.mjs";
import { deflateSync } from "node:zlib";

export function random(seed) {
  let s = seed >>> 0;
  return () => {
    s = (Math.imul(s ^ (s >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return ((s ^ (s >>> 13)) >>> 0) / 2 ** 32;
  };
}

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});
export function crc32(...parts) {
  let c = 0xffffffff;
  for (const part of parts) for (const byte of part) c = TABLE[(c ^ byte) & 255] ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
}

const padded = (bytes) => Buffer.concat([bytes, Buffer.alloc((8 - (bytes.length % 8)) % 8)]);

export function chunk(kind, payload, { time = 0, step = 0, key = false } = {}) {
  const head = Buffer.alloc(40);
  head.write("TCHK" + kind, 0, "latin1");
  head.writeBigUInt64LE(BigInt(payload.length), 8);
  head.writeDoubleLE(time, 16);
  head.writeBigInt64LE(BigInt(step), 24);
  head.writeUInt32LE(key ? 1 : 0, 32);
  head.writeUInt32LE(crc32(head.subarray(0, 36), payload), 36);
  return Buffer.concat([head, padded(payload)]);
}

const word = new DataView(new ArrayBuffer(4));
export const bf16Bits = (v) => {
  word.setFloat32(0, v);
  const bits = word.getUint32(0);
  return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
};
export const bf16 = (v) => {
  word.setUint32(0, bf16Bits(v) * 65536);
  return word.getFloat32(0);
};

// `words`: the values on disk, unsigned.
export function rawArray({ name, type, components, prediction = 0, width, words, deflated = true }) {
  const tuples = words.length / components, planes = Buffer.alloc(words.length * width);
  let at = 0;
  for (let c = 0; c < components; c++)
    for (let byte = 0; byte < width; byte++) for (let t = 0; t < tuples; t++) planes[at++] = words[t * components + c] >>> (8 * byte);
  const data = deflated ? deflateSync(planes) : planes, head = Buffer.alloc(16);
  head.set([name, type, components, prediction, width, deflated ? 1 : 0]);
  head.writeUInt32LE(tuples, 8);
  head.writeUInt32LE(data.length, 12);
  return padded(Buffer.concat([head, data]));
}

const zigzag = (d) => ((d << 1) ^ (d >> 31)) >>> 0;
const narrowest = (words) => {
  const most = words.reduce((a, b) => Math.max(a, b), 0);
  return most < 256 ? 1 : most < 65536 ? 2 : 4;
};

// Integers with prediction 0, 1, or 2 from `before`, one predicted value per value.
function integers(name, components, values, prediction, before, deflated) {
  const words = values.map((v, i) => zigzag((v - (prediction === 1 ? (i >= components ? values[i - components] : 0) : prediction === 2 ? before[i] : 0)) | 0));
  return rawArray({ name, type: 1, components, prediction, width: narrowest(words), words, deflated });
}
const halves = (name, components, values, deflated) => rawArray({ name, type: 2, components, width: 2, words: values.map(bf16Bits), deflated });
const singles = (name, values, deflated, components = 1) => rawArray({ name, type: 3, components, width: 4, words: Array.from(new Uint32Array(Float32Array.from(values).buffer)), deflated });

// A frame is { time, step, contacts, bodies, chains }; a body { id, index and generation (of old files), at (quanta), velocity, turn (times 32767; not for
// spheres), radius, shape, material, tag, fixed, layer, force, touching, dissipated if the run sums it }; a chain { a, b (rows), force, point (quanta from a) }.
// Two halves of each number's difference from its guess, the lower first.
function numberSteps(bodies, before) {
  const old = (before?.bodies ?? []).map((b) => b.id);
  let row = 0;
  return bodies.flatMap(({ id }, k) => {
    const step = BigInt(id) - BigInt(row < old.length ? old[row] : k > 0 ? bodies[k - 1].id : 0);
    if (old.includes(id)) row = old.indexOf(id) + 1;
    return [step, step >> 32n].map((v) => Number(BigInt.asIntN(32, v)));
  });
}

// Which body of a chain, "a" or "b", is large beside the other and moves; null: neither.
export function largeOf(bodies, { a, b }) {
  if (bodies[b].fixed) return null;
  return bodies[a].radius > 3 * bodies[b].radius ? "a" : bodies[b].radius > 3 * bodies[a].radius ? "b" : null;
}

// The last: what the payload says of contacts and of its part, or of how many parts there are.
export function framePayload(head, frame, before, deflated = true, version = 3, { contacts = frame.contacts, part = 0 } = {}) {
  const { bodies, chains = [] } = frame, lean = head.detail === "lean";
  const old = new Map((before?.bodies ?? []).map((b) => [b.id, b]));
  const was = (b) => old.get(b.id), fresh = before ? bodies.filter((b) => !was(b)) : bodies;
  const turned = bodies.filter((b) => head.shapes[b.shape].kind !== "sphere"), way = before ? 2 : 0;
  const ints = (name, components, values, prediction = 0, from = null) => integers(name, components, values, prediction, from, deflated);
  const walls = chains.filter((c) => bodies[c.b].fixed), ends = version < 3 ? [] : chains.filter((c) => largeOf(bodies, c) !== null);
  const arrays = [
    ...(version < 3 ? [ints(1, 1, bodies.map((b) => b.index), 1), ints(2, 1, bodies.map((b) => b.generation), 1)] : [ints(24, 2, numberSteps(bodies, before))]),
    ints(3, 3, bodies.flatMap((b) => b.at), way, bodies.flatMap((b) => was(b)?.at ?? [0, 0, 0])),
    lean ? halves(5, 1, bodies.map((b) => Math.hypot(...b.velocity)), deflated) : halves(4, 3, bodies.flatMap((b) => b.velocity), deflated),
    turned.length > 0 && ints(6, 4, turned.flatMap((b) => b.turn), way, turned.flatMap((b) => was(b)?.turn ?? [0, 0, 0, 0])),
    ...(fresh.length > 0 ? [singles(7, fresh.map((b) => b.radius), deflated), ...["shape", "material", "tag", "fixed", "layer"].map((key, k) => ints(8 + k, 1, fresh.map((b) => b[key])))] : []),
    halves(13, 1, bodies.map((b) => b.force), deflated),
    bodies.every((b) => b.dissipated !== undefined) && singles(35, bodies.map((b) => b.dissipated), deflated),
    !lean && ints(14, 1, bodies.map((b) => b.touching)),
    ...(chains.length > 0 ? [ints(15, 1, chains.map((c) => c.a), 1), ints(16, 1, chains.map((c) => c.b - c.a)), halves(17, 1, chains.map((c) => c.force), deflated)] : []),
    walls.length > 0 && ints(18, 3, walls.flatMap((c) => c.point)),
    ends.length > 0 && ints(25, 3, ends.flatMap((c) => c.point)),
    rawArray({ name: 99, type: 1, components: 1, width: 1, words: [1, 2, 3] }), // a name from the future
  ].filter(Boolean);
  return Buffer.concat([countsOf(bodies.length, contacts, arrays.length, part), ...arrays]);
}

// The first bytes of a payload: bodies, contacts, arrays, and a part's number or how many there are.
function countsOf(...numbers) {
  const counts = Buffer.alloc(16);
  numbers.forEach((v, k) => counts.writeUInt32LE(v, 4 * k));
  return counts;
}

const partOf = ({ id }) => Math.floor((id - 1) / 2 ** 16);

// The chunks of a frame in parts: bodies, by ascending ids, in blocks of 2^16 numbers, and the frame's own chunk behind them.
function partChunks(head, frame, before, deflated, about) {
  const numbers = [...new Set(frame.bodies.map(partOf))];
  const only = (f, part) => f && { ...f, bodies: f.bodies.filter((b) => partOf(b) === part), chains: [] };
  return [...numbers.map((part) => chunk("PART", framePayload(head, only(frame, part), only(before, part), deflated, 4, { contacts: 0, part }), about)),
    chunk("FRAM", countsOf(frame.bodies.length, frame.contacts, 0, numbers.length), about)];
}

export const headOf = (head, deflated = true) => headPayload(head, (name, type, components, values) =>
  type === "f32" ? singles(name, values, deflated, components) : integers(name, components, values, 1, null, deflated));

// Frames of an older version in a file of the present one: as talus view hands them out, and as a run that was resumed has them.
export function file(head, frames, { every = 16, deflated = true, version = 3 } = {}) {
  const start = Buffer.alloc(16);
  start.write("TALUSFRM", 0, "latin1");
  start.writeUInt32LE(Math.max(3, version), 8);
  const chunksOf = (f, before, about) => version > 3 && head.detail === "lean" ? partChunks(head, f, before, deflated, about)
    : [chunk("FRAM", framePayload(head, f, before, deflated, version), about)];
  return new Uint8Array(Buffer.concat([start, chunk("HEAD", headOf(head, deflated)), chunk("WHAT", Buffer.from("a kind from the future")),
    ...frames.flatMap((f, k) => chunksOf(f, k % every === 0 ? null : frames[k - 1], { time: f.time, step: f.step, key: k % every === 0 }))]));
}

export const HEAD = {
  producer: "test", title: "Mixed", scene: "mixed", gravity: [0, 0, -9.81], step: 0.01, radius: 0.1, quantum: 2 ** -11, origin: [-2.5, 1, 0.25], detail: "full",
  shapes: [{ kind: "sphere" }, { kind: "plane" }, { kind: "box", half: [0.1, 0.2, 0.3] }, { kind: "cylinder", radius: 0.1, half_height: 0.2 }, { kind: "revolve", profile: [[0, 0], [3, 0], [3, 4]] }],
  materials: [{ name: "glass", friction: 0.3, density: 2500 }, { name: "steel", friction: 0.5, density: 7800 }],
};

// Frames in which bodies jump about, come, go, and come into the slots of others. Numbers pass 2^32 on the way.
export function mixed(count, seed = 1) {
  let created = 2 ** 32 - 210;
  const rand = random(seed), whole = (n) => Math.floor(rand() * n), turn = () => {
    const q = [rand() - 0.5, rand() - 0.5, rand() - 0.5, rand() - 0.5], n = Math.hypot(...q);
    return q.map((v) => Math.round((32767 * v) / n));
  };
  const body = (index, generation) => ({
    id: ++created, index, generation, at: [0, 0, 0].map(() => whole(20000) - 5000), velocity: [0, 0, 0].map(() => bf16(rand() * 8 - 4)), turn: turn(), radius: Math.fround((index % 7 === 5 ? 5 : 1) * (0.05 + 0.1 * rand())),
    shape: index === 0 ? 4 : [0, 0, 2, 3][whole(4)], material: whole(2), tag: whole(1000) - 500, fixed: index === 0 || index % 50 === 7 ? 1 : 0, layer: whole(256), force: bf16(rand() * 1e4), touching: whole(13), dissipated: Math.fround(20 * rand() - 1),
  });
  let bodies = Array.from({ length: 200 }, (_, k) => body(2 * k, 1));
  return Array.from({ length: count }, (_, k) => {
    if (k % 3 === 1) {
      bodies = bodies.filter((b) => b.index === 0 || rand() > 0.05);
      for (let n = 0; n < 8; n++) {
        const index = whole(450), there = bodies.findIndex((b) => b.index === index);
        if (there < 0) bodies.push(body(index, 2 + k));
        else if (index > 0) bodies[there] = body(index, bodies[there].generation + 1);
      }
      bodies.sort((a, b) => a.index - b.index);
    }
    bodies = bodies.map((b) => (b.fixed ? b : {
      ...b, at: b.at.map((v) => v + whole(k % 5 === 0 ? 70000 : 40) - 20), turn: b.turn.map((v) => Math.max(-32767, Math.min(32767, v + whole(300) - 150))), velocity: b.velocity.map(() => bf16(rand() * 8 - 4)), force: bf16(rand() * 100), touching: whole(13), dissipated: Math.fround(20 * rand() - 1),
    }));
    const chains = [];
    for (let a = 1; a + 6 < bodies.length; a += 3) {
      const b = rand() < 0.3 ? 0 : a + 1 + whole(5);
      chains.push({ a, b, force: bf16(1 + 50 * rand()), point: [whole(400) - 200, whole(400) - 200, whole(400) - 200] });
    }
    return { time: 0.05 * k, step: 5 * k, contacts: 300 + k, bodies, chains };
  });
}

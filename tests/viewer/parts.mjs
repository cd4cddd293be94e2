// Parts of the viewer that need no browser: how bodies are seen by rules, spreads, lengths and angles, the address. Called by
// tests/viewer_data.sh.

import { load } from "./data_bundle.mjs";

const { stylesOf, entriesOf, groupOf, spreadOf, roundLength, lengthText, slopeOf, angleAt, rulerRows, withRule, membersOf, readAddress, writeAddress, DEFAULTS, colourValues, scaleOf } = await load(`
  export { stylesOf, entriesOf, groupOf } from "./engine/styles"; export { spreadOf } from "./ui/histogram"; export { roundLength, lengthText } from "./ui/gauge";
  export { slopeOf, angleAt, rulerRows } from "./ui/measure"; export { withRule, membersOf } from "./ui/groups"; export { readAddress, writeAddress, DEFAULTS } from "./ui/state";
  export { colourValues, scaleOf } from "./engine/colour";`);
const { check, equal, report } = await import("./support.mjs");

const entries = [{ name: "floor", first: 1, last: 1 }, { name: "grains", first: 3, last: 5 }, { name: "floor", first: 6, last: 6 }, { name: "late", first: 8, last: Infinity }];
const head = { entries, materials: [{ name: "glass" }, { name: "steel" }], gravity: [0, 0, -9.81], radius: 1 };
const numbers = [1, 2, 3, 4, 5, 6, 7, 8, 900];
const frame = {
  head, count: numbers.length, id: Float64Array.from(numbers), tag: Int32Array.of(0, 0, -3, -3, 5, 0, 0, 5, 5), material: Uint16Array.of(0, 0, 0, 1, 1, 1, 0, 0, 0),
  fixed: Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0, 0), radius: Float32Array.of(9, 1, 1, 1, 1, 1, 1, 1, 2.5), speed: new Float32Array(9), force: new Float32Array(9),
};

function groups() {
  equal("entries of bodies", [...entriesOf(frame)], [0, -1, 1, 1, 1, 0, -1, 2, 2]);
  equal("their names", [0, 1, 2].map(groupOf(frame, "entry").name), ["floor", "grains", "late"]);
  equal("members of entries", membersOf(frame, "entry"), [{ key: "floor", count: 2 }, { key: "grains", count: 3 }, { key: "late", count: 2 }]);
  equal("members of tags, below zero too", membersOf(frame, "tag"), [{ key: "-3", count: 2 }, { key: "0", count: 4 }, { key: "5", count: 3 }]);
  equal("members of materials", membersOf(frame, "material"), [{ key: "glass", count: 6 }, { key: "steel", count: 3 }]);
  equal("no rules", stylesOf(frame, []), null);
  const [shown, ghost, hidden] = [1, 2, 3], rule = (by, key, how) => ({ by, key, how });
  equal("by entry", [...stylesOf(frame, [rule("entry", "floor", "hidden"), rule("entry", "late", "ghost")])], [hidden, 0, 0, 0, 0, hidden, 0, ghost, ghost]);
  equal("by tag", [...stylesOf(frame, [rule("tag", "-3", "shown")])], [0, 0, shown, shown, 0, 0, 0, 0, 0]);
  equal("by material, after tags", [...stylesOf(frame, [rule("tag", "-3", "hidden"), rule("material", "steel", "ghost")])], [0, 0, hidden, ghost, ghost, ghost, 0, 0, 0]);
  equal("a name that is not there", [...stylesOf(frame, [rule("entry", "drum", "hidden")])], new Array(9).fill(0));
  const rules = withRule(withRule([], "tag", "1", "ghost"), "tag", "2", "hidden");
  equal("a rule in place of another", withRule(rules, "tag", "1", "shown"), [rule("tag", "2", "hidden"), rule("tag", "1", "shown")]);
  equal("a rule taken back", withRule(rules, "tag", "2", "auto"), [rule("tag", "1", "ghost")]);
  const values = new Float32Array(9);
  colourValues(frame, "entry", values);
  equal("colours by entry: fixed bodies and those of none are apart", [...values], [-1, -1, 1, 1, 1, 0, -1, 2, 2]);
  equal("scale of radii: of moving bodies", scaleOf(frame, "radius"), { low: 0, high: 3, log: false });
  const old = { ...frame, id: Float64Array.from(numbers), head: { ...head, entries: [] } };
  equal("frames that tell no entries", [[...entriesOf(old)].every((v) => v === -1), membersOf(old, "entry")], [true, []]);
}

function spreads() {
  const values = [0, 0.5, 1, 1.5, 9.99, 10, 11, -1, NaN, 7], moving = (i) => i !== 9;
  const s = spreadOf(values, moving, values.length, { low: 0, high: 10, log: false }, 5);
  equal("a spread", [s.counts, s.bodies, s.above, s.below], [[5, 0, 0, 0, 3], 8, 1, 1]);
  check("its mean", Math.abs(s.mean - 32.99 / 8) < 1e-12, s.mean);
  equal("over decades", spreadOf([0, 0.02, 0.5, 5, 50], () => true, 5, { low: 0.01, high: 10, log: true }, 3).counts, [2, 1, 2]);
  equal("of nothing", spreadOf([], () => true, 0, { low: 0, high: 1, log: false }, 2), { counts: [0, 0], bodies: 0, mean: 0, above: 0, below: 0 });
}

function lengths() {
  equal("scale bars", [0.117, 1, 4.99, 5, 20000, 3e-6].map(roundLength), [0.1, 1, 2, 5, 20000, 2e-6]);
  equal("their texts", [0.1, 0.05, 2e-6, 5, 2000, 1e-4].map(lengthText), ["0.1 m", "50 mm", "2 µm", "5 m", "2 km", "0.1 mm"]);
  const up = [0, 0, 1], near = (what, a, b) => check(what, Math.abs(a - b) < 1e-9, [a, b]);
  near("a slope", slopeOf([1, 2, 3], [1, 5, 6], up), 45);
  near("a fall", slopeOf([0, 0, 1], [0, 1, 0], up), -45);
  near("straight up", slopeOf([0, 0, 0], [0, 0, 2], up), 90);
  near("against another gravity", slopeOf([0, 0, 0], [0, 1, 0], [0, 1, 0]), 90);
  near("an angle", angleAt([1, 0, 0], [0, 0, 0], [1, 1, 0]), 45);
  near("a flat one", angleAt([1, 0, 0], [0, 0, 0], [-3, 0, 0]), 180);
  near("nearly none, exactly", angleAt([1, 0, 0], [0, 0, 0], [1, 1e-7, 0]), (1e-7 * 180) / Math.PI);
  const a = { place: [0, 0, 0], id: 7, centre: [0, 0, -1] }, b = { place: [3, 0, 4], id: 9, centre: [3, 0, 5] };
  equal("a ruler", rulerRows(a, b, up), [["distance", "5.000 m"], ["along x y z", "3.000  0  4.000 m"], ["slope", "53.13°"], ["centres", "6.708 m (bodies 7, 9)"]]);
  equal("a ruler from a wall", rulerRows({ ...a, centre: null }, b, up).length, 3);
}

function addresses() {
  const rules = [{ by: "entry", key: "bodies[1]", how: "hidden" }, { by: "material", key: "sand; 5% wet, & #1", how: "ghost" }, { by: "tag", key: "-3", how: "hidden" }];
  const text = writeAddress({ state: { ...DEFAULTS, rules, tool: "angle", histogram: false }, time: null, camera: null, body: 0 }, DEFAULTS);
  const { state } = readAddress(`#${text}`, DEFAULTS), sorted = (all) => all.map((r) => JSON.stringify(r)).sort();
  equal("rules through the address", sorted(state.rules), sorted(rules));
  equal("tool and histogram through the address", [state.tool, state.histogram, state.gauge], ["angle", false, true]);
  equal("nothing but defaults", writeAddress({ state: { ...DEFAULTS }, time: null, camera: null, body: 0 }, DEFAULTS), "");
  equal("wrong rules", readAddress("#hide=;x;entry:;colour:red&ghost=tag&tool=saw", DEFAULTS).state.rules, []);
}

groups();
spreads();
lengths();
addresses();
report("parts");

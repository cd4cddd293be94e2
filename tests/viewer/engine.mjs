// The engine alone in Chromium, on made-up frames of a few bodies: node engine.mjs CHROMIUM [SCENE]
// What is drawn is where it should be and has the colour that it should have; picking finds it; clip plane, container,
// chains and mark show; the picture rests when nothing changes and comes back when the GPU was lost.

import { bundle } from "./data_bundle.mjs";
import { figure } from "./shapes.mjs";

const script = await bundle(`
  export { Engine } from "./engine/engine"; export { scaleOf, nice, select } from "./engine/colour"; export * from "./engine/palette";`, "iife");
const { check, equal, launch, report } = await import("./support.mjs");

const WIDTH = 360, HEIGHT = 270;

// In the page: frames from a short list of bodies, and pixels of the engine's own stills.
const helpers = `
  const figure = ${figure};
  const shapes = [{ kind: "sphere" }, { kind: "plane" }, { kind: "box", half: [0.3, 0.2, 0.4] }, { kind: "cylinder", radius: 0.25, half_height: 0.4 }, { kind: "revolve", profile: [[0, 0], [2, 0], [2, 3]] }].map((s) => figure(s));
  const head = { title: "", scene: "", gravity: [0, 0, -9.81], step: 0.01, radius: 0.3, quantum: 2 ** -9, origin: [0, 0, 0], detail: "full", shapes, materials: Array.from({ length: 7 }, () => ({ name: "", friction: 0, density: 1 })), entries: [{ name: "first", first: 1, last: 1 }, { name: "others", first: 2, last: Infinity }] };
  // { at, radius, shape, material, fixed, turn, speed }
  function frameOf(bodies, { chains = [], head: h = head, time = 0 } = {}) {
    const n = bodies.length, of = (array, get, k = 1) => { bodies.forEach((b, i) => array.set([get(b, i)].flat(), k * i)); return array; };
    return {
      head: h, time, step: 0, count: n, contacts: 0, id: of(new Float64Array(n), (b, i) => 10 * i + 1), position: of(new Float32Array(3 * n), (b) => b.at, 3),
      orientation: of(new Float32Array(4 * n), (b) => b.turn ?? [1, 0, 0, 0], 4), velocity: of(new Float32Array(3 * n), (b) => [b.speed ?? 0, 0, 0], 3), speed: of(new Float32Array(n), (b) => b.speed ?? 0), force: new Float32Array(n),
      touching: new Uint8Array(n), radius: of(new Float32Array(n), (b) => b.radius ?? 0.3), shape: of(new Uint16Array(n), (b) => b.shape ?? 0), material: of(new Uint16Array(n), (b) => b.material ?? 0), tag: of(new Int32Array(n), (b) => b.tag ?? 0),
      fixed: of(new Uint8Array(n), (b) => (b.fixed ? 1 : 0)), layer: new Uint8Array(n),
      chains: { count: chains.length, from: Float32Array.from(chains.flatMap((c) => c.from)), to: Float32Array.from(chains.flatMap((c) => c.to)), force: Float32Array.from(chains.map((c) => c.force)) },
    };
  }
  async function pixels() {
    const image = await createImageBitmap(await engine.still(1)), canvas = new OffscreenCanvas(image.width, image.height), ctx = canvas.getContext("2d", { willReadFrequently: true });
    ctx.drawImage(image, 0, 0);
    const { data } = ctx.getImageData(0, 0, image.width, image.height);
    const at = (x, y) => { const i = 4 * (Math.round(y) * image.width + Math.round(x)); return [data[i], data[i + 1], data[i + 2]]; };
    return { at, width: image.width, height: image.height, count: (is) => { let n = 0; for (let y = 0; y < image.height; y++) for (let x = 0; x < image.width; x++) if (is(at(x, y), x, y)) n++; return n; } };
  }
  // Where the camera shows a point, for up = z.
  function project([px, py, pz]) {
    const [x, y, z, distance, azimuth, elevation] = engine.camera(), a = azimuth * Math.PI / 180, e = elevation * Math.PI / 180;
    const back = [Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)], right = [-Math.sin(a), Math.cos(a), 0], up = [-Math.sin(e) * Math.cos(a), -Math.sin(e) * Math.sin(a), Math.cos(e)];
    const d = [px - x, py - y, pz - z], dot = (u, v) => u[0] * v[0] + u[1] * v[1] + u[2] * v[2], depth = distance - dot(d, back), k = innerHeight / (2 * Math.tan(14 * Math.PI / 180) * depth);
    return [innerWidth / 2 + k * dot(d, right), innerHeight / 2 - k * dot(d, up)];
  }
  const hex = (c) => "#" + c.map((v) => v.toString(16).padStart(2, "0")).join("");
  // Whether a shaded pixel has the hue of a colour: directions of the two in linear light.
  function hue(pixel, of) {
    const linear = (c) => c.map((v) => ((v / 255 + 0.055) / 1.055) ** 2.4), a = linear(pixel), b = linear(talusTest.rgb(of)), n = (v) => Math.hypot(...v) || 1;
    return (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) / (n(a) * n(b));
  }
  const settled = async () => { for (let k = 0; k < 4000 && !engine.stats.settled; k++) await new Promise((d) => setTimeout(d, 25)); return engine.stats.settled; };
  // A new engine compiles its shaders, which takes software seconds; most scenes make do with the one there is.
  function anew(quality) {
    window.engine?.canvas.getContext("webgl2").getExtension("WEBGL_lose_context").loseContext(); // browsers allow few at a time
    const canvas = document.createElement("canvas");
    document.body.replaceChildren(canvas);
    window.engine = new talusTest.Engine(canvas, quality);
  }
  function start() {
    if (!window.engine) anew("plain");
    engine.setClip(null);
    engine.setContainer("ghost");
    engine.setRules([]);
    engine.setChains(false, 1);
    engine.setTheme(false);
    engine.select(0);
    engine.setColour("speed", null);
  }
`;

const heard = [];

async function open(browser) {
  const p = await (await browser.newContext({ viewport: { width: WIDTH, height: HEIGHT } })).newPage();
  p.on("console", (m) => heard.push(m.text()));
  p.on("pageerror", (e) => heard.push(e.message));
  await p.setContent("<!doctype html><style>html,body,canvas{margin:0;width:100%;height:100%;display:block;overflow:hidden}</style>");
  await p.addScriptTag({ content: script + helpers });
  return p;
}

// Colours, places and picking, by each kind of body.
async function bodies(p) {
  const seen = await p.evaluate(async () => {
    start();
    const turn = [Math.cos(0.4), 0, Math.sin(0.4), 0];
    const list = [{ at: [-1, 0, 0], material: 0 }, { at: [0, 0, 0], material: 1 }, { at: [1, 0, 0.5], material: 2, radius: 0.4 }, { at: [0, 0, 1.2], material: 4, shape: 2, turn }, { at: [-1, 0, 1.2], material: 3, shape: 3, turn }, { at: [0.05, 0.9, 0], material: 5 }];
    engine.setColour("material", null);
    engine.show(frameOf(list));
    engine.view("front");
    const picture = await pixels(), corner = picture.at(2, 2);
    const rows = list.map((b, k) => {
      const [x, y] = project(b.at), pixel = picture.at(x, y);
      return { like: talusTest.LIGHT.categories.map((c) => hue(pixel, c)).reduce((best, v, i, all) => (v > all[best] ? i : best), 0), picked: engine.pick(x, y)?.row ?? null };
    });
    return { stats: engine.stats, corner: hex(corner), background: talusTest.LIGHT.background, rows, none: engine.pick(2, 2), first: engine.pick(...project([-1, 0, 0])), scale: engine.scale,
      ground: picture.count((c) => hex(c) === talusTest.LIGHT.background) / (picture.width * picture.height), size: [picture.width, picture.height] };
  });
  equal("counts", [seen.stats.bodies, seen.stats.spheres, seen.stats.meshes, seen.stats.chains], [6, 4, 2, 0]);
  equal("background", [seen.corner, seen.size], [seen.background, [WIDTH, HEIGHT]]);
  check("bodies cover part of the picture", seen.ground > 0.5 && seen.ground < 0.93, seen.ground);
  // The last sphere stands behind the second one.
  equal("colours where the bodies are", seen.rows.map((r) => r.like), [0, 1, 2, 4, 3, 1]);
  equal("picking", seen.rows.map((r) => r.picked), [0, 1, 2, 3, 4, 1]);
  equal("picking the ground", seen.none, null);
  equal("what was picked", seen.first, { row: 0, id: 1 });
  equal("categories have no scale", seen.scale, null);
}

// Shapes that are made of triangles here: where they are, what a click finds, what the clip plane leaves of them; a field
// is seen and a thick funnel is looked into.
async function forms(p) {
  const seen = await p.evaluate(async () => {
    start();
    const ring = 24, profile = [[0.3, 0], [0.9, 1], [1, 1], [0.4, 0]];
    const vertex = Float64Array.from(profile.flatMap(([r, h]) => Array.from({ length: ring }, (_, k) => [r * Math.cos(2 * Math.PI * k / ring), r * Math.sin(2 * Math.PI * k / ring), h]).flat()));
    const triangle = Int32Array.from(profile.flatMap((_, j) => Array.from({ length: ring }, (_, k) => {
      const a = j * ring + k, b = j * ring + (k + 1) % ring, c = ((j + 1) % 4) * ring + k, d = ((j + 1) % 4) * ring + (k + 1) % ring;
      return [a, c, b, b, c, d];
    }).flat()));
    const special = [{ kind: "capsule", radius: 0.2, half_height: 0.25 }, { kind: "cone", radius: 0.4, half_height: 0.4 }, { kind: "ellipsoid", half: [0.4, 0.3, 0.2] }, { kind: "hull", half: [0.3, 0.3, 0.3] },
      { kind: "compound", parts: [{ at: -0.3, radius: 0.2 }, { at: 0, half: [0.3, 0.1, 0.1] }] }, { kind: "field", columns: 3, rows: 2, spacing: 4, height: [-2, -2, -2, -2, -2, -2] }, { kind: "mesh", vertex, triangle }].map((s) => figure(s));
    const own = { ...head, shapes: special };
    const list = [0, 1, 2, 3, 4].map((k) => ({ at: [k - 2, 0, 0], material: k, shape: k, radius: 0.6 }));
    engine.setColour("material", null);
    engine.forget();
    engine.show(frameOf(list, { head: own }));
    engine.view("front");
    const like = (c) => talusTest.LIGHT.categories.map((of) => hue(c, of)).reduce((best, v, i, all) => (v > all[best] ? i : best), 0), ground = (c) => hex(c) === talusTest.LIGHT.background;
    const look = async () => { const picture = await pixels(); return list.map((b) => { const xy = project(b.at), c = picture.at(...xy); return [ground(c) ? null : like(c), engine.pick(...xy)?.row ?? null]; }); };
    const whole = await look(), meshes = engine.stats.meshes;
    const empty = await pixels(), beside = [[-1.75, 0, 0.3], [-0.65, 0, 0.5], [1.35, 0, 0.35]].map((at) => [ground(empty.at(...project(at))), engine.pick(...project(at))]);
    engine.setClip({ axis: "y", at: 0.5, flip: false });
    const half = await look();
    engine.setClip({ axis: "y", at: 0.999, flip: false });
    const none = await look();
    engine.setClip(null);
    engine.select(31);
    const marked = (await pixels()).count((c) => Math.max(...c) < 60);
    engine.select(0);
    // a field below, then a funnel about a ball
    engine.show(frameOf([...list, { at: [0, 0, 0], shape: 5, fixed: true, radius: 5 }], { head: own }));
    engine.view("home");
    const xy = project([0.5, 0, -2]), field = [ground((await pixels()).at(...xy)), engine.pick(...xy)?.row];
    engine.setContainer("hidden");
    const hidden = ground((await pixels()).at(...xy));
    engine.setContainer("ghost");
    engine.show(frameOf([{ at: [0, 0, 0.6], shape: 2, material: 1, radius: 0.4 }, { at: [0, 0, 0], shape: 6, fixed: true, radius: 1.5 }], { head: own }));
    engine.view("front");
    const through = like((await pixels()).at(...project([0, 0, 0.6])));
    engine.setContainer("shown");
    const shown = await pixels();
    const funnel = [like(shown.at(...project([0, 0, 0.6]))), ground(shown.at(...project([0.7, 0, 0.95])))];
    engine.forget();
    return { meshes, whole, beside, half, none, marked, field, hidden, through, funnel };
  });
  equal("forms: each shape is drawn", seen.meshes, 5);
  equal("forms: where they are", seen.whole, [0, 1, 2, 3, 4].map((k) => [k, k]));
  equal("forms: and where not", seen.beside, [[true, null], [true, null], [true, null]]);
  equal("forms: cut in half", seen.half, [0, 1, 2, 3, 4].map((k) => [k, k]));
  equal("forms: cut away", seen.none, [0, 1, 2, 3, 4].map(() => [null, null]));
  check("forms: the selected hull has an outline", seen.marked > 60, seen.marked);
  equal("forms: a field is seen", [...seen.field, seen.hidden], [false, 5, true]);
  equal("forms: a funnel is looked into", [seen.through, ...seen.funnel], [1, 1, false]);
}

async function scales(p) {
  const seen = await p.evaluate(async () => {
    start();
    const list = Array.from({ length: 5 }, (_, k) => ({ at: [k - 2, 0, 0], speed: k }));
    engine.show(frameOf(list));
    engine.view("front");
    const automatic = engine.scale;
    engine.setColour("speed", { low: 0, high: 4, log: false });
    const at = async (x) => { const c = (await pixels()).at(...project([x, 0, 0])); return Array.from({ length: 33 }, (_, k) => hue(c, talusTest.SEQUENTIAL[k])).reduce((best, v, i, all) => (v > all[best] ? i : best), 0); };
    const linear = [await at(-2), await at(0), await at(2)];
    engine.setColour("speed", { low: 0.25, high: 4, log: true });
    const log = await at(-1);
    return { automatic, linear, log, nice: [0.011, 1, 1.01, 7, 8.5, 0].map(talusTest.nice), median: talusTest.select(Float32Array.of(5, 1, 4, 2, 3), 5, 2) };
  });
  equal("automatic scale", seen.automatic, { low: 0, high: 4, log: false });
  const near = (what, a, b) => check(what, Math.abs(a - b) <= 2, { got: a, expected: b });
  [0, 16, 32].forEach((stop, k) => near(`linear scale, place ${k}`, seen.linear[k], stop));
  near("log scale", seen.log, 16);
  equal("numbers that read well", seen.nice, [0.015, 1, 1.5, 8, 10, 0]);
  equal("select", seen.median, 3);
}

async function clips(p) {
  const seen = await p.evaluate(async () => {
    start();
    const list = [{ at: [-1, 0, 0], material: 0 }, { at: [0, 0, 0], material: 1, shape: 2 }, { at: [1, 0, 0], material: 2, shape: 3 }, { at: [2, -2, 0.2], material: 3 }, { at: [0, 2, 0], material: 4 }];
    engine.setColour("material", null);
    engine.show(frameOf(list));
    engine.view("front");
    const like = (c) => talusTest.LIGHT.categories.findIndex((of) => hue(c, of) > 0.985), ground = (c) => hex(c) === talusTest.LIGHT.background;
    const look = async () => {
      const picture = await pixels();
      return list.map((b) => { const xy = project(b.at); return [ground(picture.at(...xy)) ? "ground" : like(picture.at(...xy)), engine.pick(...xy)?.row ?? null]; });
    };
    // The bounds run from y = -2.3 to 2.3: the middle cuts three bodies in half; from the front (-y) the flat cuts are seen.
    engine.setClip({ axis: "y", at: 0.5, flip: false });
    const half = await look();
    // A cut is flat: one colour all over it, where a sphere has many.
    const picture = await pixels(), [x, y] = project([-1, 0, 0]), [x1] = project([-0.8, 0, 0]);
    const flat = [picture.at(x, y), picture.at(x1, y), picture.at(2 * x - x1, y)];
    engine.setClip({ axis: "y", at: 0.5, flip: true });
    const other = await look();
    engine.setClip({ axis: "y", at: 1, flip: true });
    const all = await look();
    engine.setClip(null);
    return { half, flat, other, all };
  });
  equal("half cut away: flat cuts, what stood before is gone", seen.half, [[0, 0], [1, 1], [2, 2], ["ground", null], [1, 1]]);
  check("a cut is flat", seen.flat.every((c) => c.every((v, k) => Math.abs(v - seen.flat[0][k]) < 8)), seen.flat);
  equal("the other half", seen.other.map(([, row]) => row), [0, 1, 2, 3, 1]);
  equal("nothing cut away", seen.all.map(([, row]) => row), [0, 1, 2, 3, 1]);
}

async function containers(p) {
  const seen = await p.evaluate(async () => {
    start();
    const list = [{ at: [0, 0, 0], shape: 4, fixed: true, radius: 3.6 }, { at: [0, 0, 0], shape: 1, fixed: true, radius: 0 }, { at: [0, 0, 0.5], material: 1, radius: 0.5 }, { at: [1, 0, 0.3], material: 2, fixed: true }];
    engine.setColour("material", null);
    engine.show(frameOf(list));
    engine.view("home");
    const look = async () => {
      const picture = await pixels(), ground = picture.count((c) => hex(c) === talusTest.LIGHT.background) / (picture.width * picture.height);
      const wall = project([0, 1.99, 1.5]);
      return { ground, grain: hue(picture.at(...project([0, 0, 0.5])), talusTest.LIGHT.categories[1]), wall: hex(picture.at(...wall)), pickedWall: engine.pick(...wall)?.row ?? null, picked: engine.pick(...project([0, 0, 0.5]))?.row ?? null,
        fixed: engine.pick(...project([1, 0, 0.3]))?.row ?? null };
    };
    const ghost = await look();
    engine.setContainer("shown");
    const shown = await look();
    engine.setContainer("hidden");
    const hidden = await look();
    return { ghost, shown, hidden, stats: engine.stats };
  });
  const { ghost, shown, hidden } = seen;
  check("hidden shows most of the ground", hidden.ground > ghost.ground + 0.2 && hidden.ground > shown.ground + 0.2, [ghost.ground, shown.ground, hidden.ground]);
  check("ghost and shown differ", ghost.wall !== shown.wall && hidden.wall !== ghost.wall, [ghost.wall, shown.wall, hidden.wall]);
  check("the grain is seen in all three", [ghost, shown, hidden].every((s) => s.grain > 0.97), [ghost.grain, shown.grain, hidden.grain]);
  equal("grains are picked through it", [ghost.picked, shown.picked, hidden.picked], [2, 2, 2]);
  equal("a wall is picked where it is opaque", [ghost.pickedWall, shown.pickedWall, hidden.pickedWall], [null, 0, null]);
  equal("fixed spheres go with it", [ghost.fixed, shown.fixed, hidden.fixed], [3, 3, null]);
}

// The shadow of a tower on a plane, from its foot outward: it fades, and nothing cuts it off.
async function shadows(p) {
  const seen = await p.evaluate(async () => {
    start();
    const tower = figure({ kind: "box", half: [0.2, 0.2, 2] }), own = { ...head, shapes: [tower, figure({ kind: "plane" })] };
    engine.forget();
    engine.show(frameOf([{ at: [0, 0, 2], radius: 2.1 }, { at: [0, 0, 0], shape: 1, fixed: true, radius: 0 }], { head: own }));
    engine.view("home");
    engine.setCamera([0, 0, 1, 14, -60, 50]);
    const azimuth = (-60 - 40 + 180) * Math.PI / 180, picture = await pixels();
    const lost = Array.from({ length: 28 }, (_, k) => { const d = 0.5 + 0.1 * k; return 255 - picture.at(...project([d * Math.cos(azimuth), d * Math.sin(azimuth), 0]))[0]; });
    engine.forget();
    return lost;
  });
  check("a shadow reaches beyond the bounds", seen[0] > 50 && seen[8] > 15, seen);
  check("a shadow fades out", seen.at(-1) < 6 && seen.every((v, k) => k === 0 || (v <= seen[k - 1] + 3 && seen[k - 1] - v < 12)), seen);
}

// Bodies that are hidden or ghosts, by entry, tag and material: what is seen of them, and what a click finds.
async function rules(p) {
  const seen = await p.evaluate(async () => {
    start();
    const list = [{ at: [-1, 0, 0], material: 0 }, { at: [0, 0, 0], material: 1, tag: 7 }, { at: [1, 0, 0], material: 2, shape: 2 }, { at: [0, 1.5, 0], material: 3 }, { at: [0, 0, -0.5], shape: 1, fixed: true, radius: 0, tag: 9 }];
    engine.setColour("material", null);
    engine.forget();
    engine.show(frameOf(list));
    engine.view("front");
    const ground = talusTest.rgb(talusTest.LIGHT.background), far = (a, b) => Math.hypot(...a.map((v, k) => v - b[k]));
    const look = async () => {
      const picture = await pixels();
      return list.slice(0, 3).map((b) => { const xy = project(b.at), c = picture.at(...xy); return [Math.round(far(c, ground)), engine.pick(...xy)?.row ?? null]; });
    };
    const plain = await look();
    engine.setRules([{ by: "entry", key: "first", how: "hidden" }, { by: "tag", key: "7", how: "hidden" }]);
    const hidden = await look(), spheres = engine.stats.spheres;
    engine.setRules([{ by: "entry", key: "first", how: "ghost" }, { by: "material", key: "2", how: "ghost" }]);
    const names = frameOf(list, { head: { ...head, materials: head.materials.map((m, k) => ({ ...m, name: String(k) })) } });
    engine.show(names);
    const ghosts = await look(), count = engine.stats.ghosts;
    engine.setRules([{ by: "tag", key: "9", how: "shown" }]);
    const floor = hex((await pixels()).at(...project([-0.5, -0.3, -0.5]))), picked = engine.pickPlace(...project([0.5, 0.5, -0.5]));
    engine.setRules([]);
    engine.view("home");
    const place = engine.pickPlace(...project([0.5, 0.5, -0.5])), at = engine.project([0.5, 0.5, -0.5]), expected = project([0.5, 0.5, -0.5]);
    engine.forget();
    return { plain, hidden, spheres, ghosts, count, floor, picked, place, off: Math.hypot(at[0] - expected[0], at[1] - expected[1]) };
  });
  equal("rules: all picked", seen.plain.map(([, row]) => row), [0, 1, 2]);
  equal("rules: hidden is not picked; what stands behind is", [seen.hidden.map(([, row]) => row), seen.spheres], [[null, 3, 2], 1]);
  check("rules: hidden is not seen", seen.hidden[0][0] < 20, seen.hidden);
  equal("rules: ghosts are not picked", [seen.ghosts.map(([, row]) => row), seen.count], [[null, 1, null], 3]);
  check("rules: ghosts are half seen", [0, 2].every((k) => seen.ghosts[k][0] > 0.1 * seen.plain[k][0] && seen.ghosts[k][0] < 0.5 * seen.plain[k][0]), [seen.plain, seen.ghosts]);
  check("rules: a place on a ghosted plane", seen.place?.id === 41 && Math.abs(seen.place.place[2] + 0.5) < 1e-5 && Math.abs(seen.place.place[0] - 0.5) < 1e-3, seen.place);
  check("rules: where a place is in the picture", seen.off < 0.01, seen.off);
}

async function chainsAndMarks(p) {
  const seen = await p.evaluate(async () => {
    start();
    const list = [{ at: [-1, 0, 0] }, { at: [1, 0, 0] }, { at: [0, 0, 1], shape: 2 }];
    const chains = [{ from: [-1, 0, 0], to: [1, 0, 0], force: 10 }, { from: [-1, 0, 0], to: [0, 0, 1], force: 2 }, { from: [1, 0, 0], to: [0, 0, 1], force: 3 }];
    engine.show(frameOf(list, { chains }));
    engine.view("front");
    const ground = (c) => hex(c) === talusTest.LIGHT.background, before = await pixels(), middle = project([0, 0, 0]);
    engine.setChains(true, 1);
    const all = engine.stats.chains, after = await pixels(), scale = engine.chainScale;
    engine.setChains(true, 1.5);
    const strong = engine.stats.chains;
    engine.setChains(false, 1);
    const [x, y] = project([-1, 0, 0]), [x1] = project([-0.7, 0, 0]), ink = (picture) => picture.count((c, px, py) => Math.max(...c) < 60 && Math.abs(Math.hypot(px - x, py - y) - Math.abs(x1 - x)) < 6);
    const unmarked = ink(await pixels());
    engine.select(1);
    const marked = ink(await pixels());
    engine.select(2);
    const elder = ink(await pixels());
    const plain = (await pixels()).count((c) => Math.max(...c) < 60);
    engine.select(21);
    const box = (await pixels()).count((c) => Math.max(...c) < 60) - plain;
    return { between: [ground(before.at(...middle)), ground(after.at(...middle))], all, strong, off: engine.stats.chains, unmarked, marked, elder, box, scale, none: engine.chainScale };
  });
  equal("a chain is drawn between its ends", seen.between, [true, false]);
  equal("the scale of chains", [seen.scale, seen.none], [{ high: 10, least: 5 }, null]);
  equal("chains by threshold", [seen.all, seen.strong, seen.off], [3, 1, 0]);
  check("the selected sphere has a ring", seen.unmarked < 20 && seen.marked > 80, [seen.unmarked, seen.marked]);
  check("a body that is not there has no mark", seen.elder < 20, seen.elder);
  check("the selected box has an outline", seen.box > 60, seen.box);
}

async function cameras(p) {
  const seen = await p.evaluate(async () => {
    start();
    const list = [{ at: [-1, 0, 0] }, { at: [1, 0, 0] }];
    engine.show(frameOf(list));
    engine.view("home");
    const home = engine.camera();
    engine.setCamera([1, 2, 3, 4, 50, 60]);
    const set = engine.camera();
    engine.setCamera([1, 2, NaN, 4, 50, 60]);
    const kept = engine.camera();
    engine.view("front");
    // Gravity along +x: up is -x, so the body at -1 stands above the other.
    start();
    engine.show(frameOf(list, { head: { ...head, gravity: [9.81, 0, 0] } }));
    engine.view("front");
    const find = (row) => { let best = null; for (let y = 0; y < innerHeight; y += 4) for (let x = 0; x < innerWidth; x += 4) if (engine.pick(x, y)?.row === row) best ??= [x, y]; return best; };
    const above = [find(0), find(1)];
    // Another head with another origin shows the same place.
    start();
    engine.show(frameOf(list));
    const a = engine.camera(), at = engine.pick(...project([1, 0, 0]))?.row;
    engine.show(frameOf([{ at: [-3, 0, 0] }, { at: [-1, 0, 0] }], { head: { ...head, origin: [2, 0, 0] } }));
    return { home, set, kept, above, same: [a, engine.camera(), at, engine.pick(...project([1, 0, 0]))?.row] };
  });
  equal("home looks from its direction", seen.home.slice(4), [-60, 18]);
  equal("a camera as it was described", [seen.set, seen.kept], [[1, 2, 3, 4, 50, 60], [1, 2, 3, 4, 50, 60]]);
  check("up is against gravity", seen.above[0] && seen.above[1] && seen.above[0][1] < seen.above[1][1], seen.above);
  equal("a new origin moves nothing", [seen.same[0], seen.same[2]], [seen.same[1], seen.same[3]]);

  // By mouse: drag turns, shift drags, the wheel keeps what is under it.
  const camera = () => p.evaluate(() => engine.camera());
  await p.evaluate(() => { start(); engine.show(frameOf([{ at: [-1, 0, 0] }, { at: [1, 0, 0] }])); engine.view("front"); });
  const before = await camera();
  const place = await p.evaluate(() => project([1, 0, 0]));
  await p.mouse.move(...place);
  await p.mouse.wheel(0, -400);
  await p.waitForFunction((d) => engine.camera()[3] < d, before[3]);
  const [after, at] = await p.evaluate(() => [engine.camera(), project([1, 0, 0])]);
  check("the wheel zooms", after[3] < 0.9 * before[3], [before[3], after[3]]);
  check("about the cursor", Math.hypot(at[0] - place[0], at[1] - place[1]) < 3, [place, at]);
  await p.mouse.down();
  await p.mouse.move(place[0] + 40, place[1] + 20, { steps: 4 });
  await p.waitForTimeout(100);
  await p.mouse.up();
  const turned = await camera();
  check("a drag turns", Math.abs(turned[4] - after[4] + 14) < 1 && Math.abs(turned[5] - after[5] - 7) < 1, [after, turned]);
  await p.keyboard.down("Shift");
  await p.mouse.down();
  await p.mouse.move(place[0], place[1], { steps: 4 });
  await p.mouse.up();
  const panned = await camera();
  await p.keyboard.up("Shift");
  // By finger: two that part zoom.
  const touch = await p.context().newCDPSession(p), [x, y] = [WIDTH / 2, HEIGHT / 2];
  const fingers = (type, ...points) => touch.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([fx, fy], id) => ({ x: fx, y: fy, id })) });
  await touch.send("Emulation.setTouchEmulationEnabled", { enabled: true, maxTouchPoints: 2 });
  await fingers("touchStart", [x - 20, y]);
  await fingers("touchStart", [x - 20, y], [x + 20, y]);
  for (const d of [25, 30, 35, 40]) await fingers("touchMove", [x - d, y], [x + d, y]);
  await fingers("touchEnd");
  await p.waitForFunction((d) => engine.camera()[3] < d, panned[3]);
  const pinched = await camera();
  check("two fingers that part zoom in, and no more", Math.abs(pinched[3] / panned[3] - 0.5) < 0.05 && pinched[4] === panned[4] && pinched[5] === panned[5], [panned, pinched]);
  check("shift and drag pans", panned[4] === turned[4] && Math.hypot(panned[0] - turned[0], panned[1] - turned[1], panned[2] - turned[2]) > 0.1, [turned, panned]);
}

// More bodies than before, fewer than before, none; a still of another size; both themes.
async function changes(p) {
  const seen = await p.evaluate(async () => {
    start();
    const grid = (n) => Array.from({ length: n }, (_, k) => ({ at: [k % 50, Math.floor(k / 50), 0], radius: 0.45, material: k % 7 }));
    const counts = [];
    for (const n of [10, 2500, 3, 0]) { engine.show(frameOf(grid(n))); await settled(); counts.push(engine.stats.spheres); }
    engine.show(frameOf(grid(2500)));
    engine.view("top");
    const [x, y] = [project([49, 49, 0]), project([0, 0, 0])], picked = [engine.pick(...x).row, engine.pick(...y).row];
    engine.setTheme(true);
    const dark = await pixels(), image = await createImageBitmap(await engine.still(2));
    return { counts, picked, dark: hex(dark.at(2, 2)), expected: talusTest.DARK.background, size: [image.width, image.height] };
  });
  equal("counts as frames change", seen.counts, [10, 2500, 3, 0]);
  equal("picking in the second frame", seen.picked, [2499, 0]);
  equal("dark background", seen.dark, seen.expected);
  equal("a still twice as large", seen.size, [2 * WIDTH, 2 * HEIGHT]);
}

async function rest(p) {
  const seen = await p.evaluate(async () => {
    anew("plain");
    engine.show(frameOf([{ at: [-1, 0, 0] }, { at: [1, 0, 0] }]));
    const came = await settled(), real = window.requestAnimationFrame;
    let asked = 0;
    window.requestAnimationFrame = (f) => { asked++; return real.call(window, f); };
    await new Promise((d) => setTimeout(d, 600));
    const idle = asked;
    engine.draw();
    const busy = !engine.stats.settled;
    await settled();
    return { came, idle, busy, asked };
  });
  equal("the picture comes to rest and stays there", [seen.came, seen.idle, seen.busy, seen.asked > 0], [true, 0, true, true]);
  const lost = await p.evaluate(async () => {
    const gl = engine.canvas.getContext("webgl2"), lose = gl.getExtension("WEBGL_lose_context"), before = await pixels(), xy = project([1, 0, 0]);
    lose.loseContext();
    await new Promise((d) => setTimeout(d, 200));
    engine.draw();
    lose.restoreContext();
    await new Promise((d) => setTimeout(d, 500));
    await settled();
    const after = await pixels();
    return [before.at(...xy), after.at(...xy)];
  });
  check("the picture is back after the GPU was lost", lost[1].every((v, k) => Math.abs(v - lost[0][k]) < 16) && Math.max(...lost[1]) < 200, lost);
}

// What a GPU gets, drawn in software: several samples per pixel, crevices, on the screen itself.
async function fullQuality(p) {
  const stats = await p.evaluate(async () => {
    anew("full");
    engine.show(frameOf([{ at: [0, 0, 0], shape: 4, fixed: true, radius: 3.6 }, { at: [0, 0, 0.5], radius: 0.5 }, { at: [0.9, 0, 0.4], radius: 0.4 }, { at: [-1, 0, 0.4], shape: 2 }]));
    engine.setClip({ axis: "y", at: 0.5, flip: false });
    engine.setClip(null);
    return [await settled(), engine.stats.spheres];
  });
  equal("full quality settles", stats, [true, 2]);
  const shot = (await p.screenshot()).toString("base64");
  const seen = await p.evaluate(async (base64) => {
    const image = await createImageBitmap(await (await fetch("data:image/png;base64," + base64)).blob()), ctx = new OffscreenCanvas(image.width, image.height).getContext("2d", { willReadFrequently: true });
    ctx.drawImage(image, 0, 0);
    const at = (xy) => hex(Array.from(ctx.getImageData(...xy.map(Math.round), 1, 1).data.slice(0, 3)));
    return [at(project([0, 0, 0.5])), at([2, 2]), talusTest.LIGHT.background];
  }, shot);
  check("it is on the screen", seen[1] === seen[2] && seen[0] !== seen[2], seen);
}

const browser = await launch(process.argv[2] ?? "/usr/bin/chromium"), page = await open(browser);
for (const [name, act] of Object.entries({ bodies, forms, scales, clips, containers, shadows, rules, chainsAndMarks, cameras, changes, fullQuality, rest })) {
  if (process.argv[3] && process.argv[3] !== name) continue;
  await act(page);
  equal(`${name}: console and exceptions`, heard.splice(0).filter((m) => !/CONTEXT_LOST|context (lost|restored)/i.test(m)), []);
}
await browser.close();
report("engine");

// A run behind the server, as the viewer follows it: node data_served.mjs
// The server is made up: it grows, is replaced, goes away and comes back.

import { load } from "./data_bundle.mjs";
import { file, HEAD, mixed } from "./data_file.mjs";

let failures = 0;
function check(what, ok, seen = "") {
  if (ok) return;
  failures++;
  console.log(`FAILED: ${what}${seen === "" ? "" : `: ${JSON.stringify(seen)}`}`);
}
const equal = (what, a, b) => check(what, JSON.stringify(a) === JSON.stringify(b), { got: a, expected: b });

// What the browser has and Node has not.
const run = { version: 1, title: "Mixed", scene: "mixed", state: "running", until: 8, server: { token: "5ecret" }, steps: null, note: "" };
const elements = { "talus-run": { textContent: JSON.stringify(run) } };
globalThis.document = { hidden: false, addEventListener() {}, getElementById: (id) => elements[id] ?? null };
globalThis.window = globalThis;

const { createSource, walk } = await load(`export { createSource } from "./data/source"; export { walk } from "./data/file";`);

const server = { up: true, bytes: file(HEAD, mixed(40)), frames: 5, rows: 9000, ranks: "", identity: 77, state: "running", asked: [], said: [] };
const json = (value) => new Response(JSON.stringify(value));
const status = () => json({
  state: server.state, step: 5 * server.frames, time: 0.05 * server.frames, until: 8, title: "Mixed", scene: "mixed", steps_per_second: 43.5, message: "", frames: server.frames, ranks: server.ranks.length, bytes: 1, complete: false,
  control: true, identity: server.identity,
});

globalThis.fetch = async (path, init = {}) => {
  if (!server.up) throw new TypeError("fetch failed");
  const { pathname, searchParams } = new URL(path, "http://127.0.0.1"), from = Number(searchParams.get("from"));
  server.asked.push(path);
  const { frames, heads } = walk(server.bytes);
  if (pathname === "/api/status") return status();
  if (pathname === "/api/index") {
    return json({ identity: server.identity, count: server.frames, heads: heads.map((h) => [h.offset, h.size]),
      frames: frames.slice(from, Math.min(server.frames, from + 7)).map((f) => [f.offset, f.size, f.time, f.step, f.key ? 1 : 0, f.bodies]) });
  }
  if (pathname === "/api/steps") {
    const rows = Math.max(0, Math.min(4000, server.rows - from)), time = Array.from({ length: rows }, (_, k) => 0.01 * (from + k));
    return json({ identity: server.identity, rows, first: from, stride: 1, total: server.rows, time, kinetic: time.map(() => null) });
  }
  if (pathname === "/api/control") {
    server.said.push([init.headers["X-Talus-Token"], init.body]);
    if (init.headers["X-Talus-Token"] !== "5ecret") return new Response("no", { status: 403, statusText: "Forbidden" });
    server.state = "paused";
    return status();
  }
  if (pathname === "/data/head") return new Response(server.bytes.slice(heads[from].offset, heads[from].offset + heads[from].size));
  const [, a, b] = /^bytes=(\d+)-(\d+)$/.exec(init.headers.Range);
  if (pathname === "/data/ranks.csv") return new Response(server.ranks.slice(Number(a), Number(b) + 1), { status: 206 });
  return new Response(server.bytes.slice(Number(a), Number(b) + 1), { status: 206 });
};

const until = async (what, ok) => {
  for (let k = 0; k < 100 && !ok(); k++) await new Promise((done) => setTimeout(done, 50));
  check(what, ok());
};

const source = await createSource(document);
let changes = 0;
const troubles = [];
source.onChange(() => changes++);
source.onTrouble((m) => troubles.push(m));
equal("first look", [source.served, source.title, source.frames.length, source.steps.rows, source.status], [true, "Mixed", 5, 9000,
  { state: "running", step: 25, time: 0.25, until: 8, stepsPerSecond: 43.5, message: "", control: true }]);
equal("steps in turn", server.asked.filter((p) => p.startsWith("/api/steps")), ["/api/steps?from=0", "/api/steps?from=4000", "/api/steps?from=8000"]);
equal("a frame", (await source.load(4)).time, 0.2);

server.frames = 30;
await until("growth is seen", () => source.frames.length === 30);
check("and told", changes > 0);
equal("the index comes in pieces, each once", server.asked.filter((p) => p.startsWith("/api/index")), [0, 5, 12, 19, 26].map((n) => `/api/index?from=${n}`));
equal("a later frame", (await source.load(29)).step, 145);

// Ranks: rows come as they are written, also in pieces of lines, and hold until the next ones.
const people = Float64Array.of(1, 256, 257, 600, 512, 900), ranksAt = (time) => Array.from(source.owners.ranks(time, people, people.length));
equal("a run on one rank has no ranks", [source.owners.known, ranksAt(1)], [false, [-1, -1, -1, -1, -1, -1]]);
const rows = "time,step,rank,first,last\n0.1,2,0,1,256\n0.1,2,1,257,512\n0.1,2,0,769,1024\n0.5,10,2,1,1024\n";
server.ranks = rows.slice(0, 50);
server.frames = 31;
await until("ranks are seen", () => source.frames.length === 31);
equal("a part of a line waits", ranksAt(0.2), [0, 0, -1, -1, -1, -1]);
server.ranks = rows;
server.frames = 32;
await until("more ranks are seen", () => source.frames.length === 32);
equal("ranks before the first row", ranksAt(0.05), [-1, -1, -1, -1, -1, -1]);
equal("ranks between", ranksAt(0.4), [0, 0, 1, -1, 1, 0]);
equal("ranks from the last row on", [source.owners.known, ranksAt(0.5), ranksAt(7)], [true, [2, 2, 2, 2, 2, 2], [2, 2, 2, 2, 2, 2]]);

await source.control("pause");
equal("control", [server.said, source.status.state], [[["5ecret", '{"action":"pause"}']], "paused"]);

// Another run in the same place: fewer frames or more, nothing of the old one stays.
const [first] = mixed(1);
Object.assign(server, { bytes: file(HEAD, mixed(8, 2)), frames: 8, rows: 10, identity: 78, state: "running" });
await until("a replaced run is seen", () => source.frames.length === 8 && source.steps.rows === 10);

server.up = false;
await until("a server that is gone is told", () => troubles.length === 1);
check("in words", /does not answer/.test(troubles[0]), troubles);
await source.load(7).then(() => check("a frame without a server", false), (e) => check("a frame without a server", /does not answer/.test(e.message), e.message));
server.up = true;
await until("and that it is back", () => troubles.length === 2);
equal("troubles", troubles.at(-1), null);
equal("a frame again", (await source.load(7)).time, 0.05 * 7);
check("frames are those of the new run", (await source.load(0)).position[0] !== first.bodies[0].at[0] * HEAD.quantum);

console.log(failures ? `${failures} checks failed` : "data, served: all checks passed");
process.exit(failures ? 1 : 0);

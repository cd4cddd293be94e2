// What building a page of one file needs, shared by the report and the viewer. The page carries a hash of
// what it was made from, and a policy that allows its own script and style by their hashes and nothing
// else.

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

const look = dirname(fileURLToPath(import.meta.url));
const sha256 = (text, form) => createHash("sha256").update(text, "utf8").digest(form);

function filesUnder(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path).sort().flatMap((name) => filesUnder(join(path, name)));
}

// A hash over the names and texts of files and folders of `root`, and of this folder.
export function sourcesHash(root, names) {
  const files = [...names.map((name) => join(root, name)), look].flatMap(filesUnder);
  const name = (file) => relative(root, file).split(sep).join("/");
  return sha256(files.map((file) => `${name(file)}\n${sha256(readFileSync(file, "utf8"), "hex")}\n`).join(""), "hex");
}

// Puts texts into the template. Each place must be there once, and no text may end its element. Places in
// `later` are for whoever writes pages from the template.
function fill(template, texts, later) {
  return template.replace(/@([A-Z_]+)@/g, (place, name) => {
    if (later.includes(name)) return place;
    const text = texts[name];
    if (text === undefined) throw new Error(`the template: nothing to put at ${place}`);
    if (/<\/(script|style)|<!--/i.test(text)) throw new Error(`${place}: the text would end its own element`);
    return text;
  });
}

// Writes the page; `texts` are script, style and licences, `sources` the hash of the sources.
export function writePage({ template, dist, later, sources, script, style, licences }) {
  const page = fill(readFileSync(template, "utf8"), {
    SCRIPT: script,
    STYLE: style,
    SCRIPT_HASH: "sha256-" + sha256(script, "base64"),
    STYLE_HASH: "sha256-" + sha256(style, "base64"),
    SOURCES: sources,
    LICENCES: licences,
  }, later);
  for (const name of later)
    if (page.split(`@${name}@`).length !== 2) throw new Error(`${template}: @${name}@ must be there once`);
  mkdirSync(dirname(dist), { recursive: true });
  writeFileSync(dist, page);
  console.log(`${relative(process.cwd(), dist)}: ${Math.round(page.length / 1000)} kB`);
}

// Says whether a page was built from its sources, by exit status.
export function checkPage(dist, name, sources) {
  const found = readFileSync(dist, "utf8").match(/<meta name="talus-sources" content="([0-9a-f]*)">/)?.[1];
  if (found === sources) return;
  console.error(`${name} was not built from these sources; ./dev page builds it`);
  process.exitCode = 1;
}

// Licence texts for the page, each under a line that says what it is for.
export const licenceTexts = (root, entries) =>
  entries.map(([line, file]) => `${line}\n\n${readFileSync(join(root, "LICENSES", file), "utf8").trim()}`).join("\n\n\n");

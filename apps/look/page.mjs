// Functions that build a page of one file, shared by the report and the viewer. The page contains a hash of the sources it was
// made from, and a content security policy, which allows its own script and style by their hashes and nothing else.

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

const look = dirname(fileURLToPath(import.meta.url));
const sha256 = (text, form) => createHash("sha256").update(text, "utf8").digest(form);

function listFiles(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path).sort().flatMap((name) => listFiles(join(path, name)));
}

// A hash over the names and texts of the files and folders `names` of `root`, and of this folder, apps/look.
export function sourcesHash(root, names) {
  const files = [...names.map((name) => join(root, name)), look].flatMap(listFiles);
  const name = (file) => relative(root, file).split(sep).join("/");
  return sha256(files.map((file) => `${name(file)}\n${sha256(readFileSync(file, "utf8"), "hex")}\n`).join(""), "hex");
}

// Replaces each place @NAME@ of the template by texts[NAME]. No text may end the element that it is put into. Places in `later`
// stay: the program that writes pages from the built page fills them.
function fillTemplate(template, texts, later) {
  return template.replace(/@([A-Z_]+)@/g, (place, name) => {
    if (later.includes(name)) return place;
    const text = texts[name];
    if (text === undefined) throw new Error(`the template: nothing to put at ${place}`);
    if (/<\/(script|style)|<!--/i.test(text)) throw new Error(`${place}: the text would end its own element`);
    return text;
  });
}

// Builds the page from the template and writes it to `dist`. `sources` is the hash of the sources; each place in `later` must
// occur once.
export function writePage({ template, dist, later, sources, script, style, licences }) {
  const page = fillTemplate(readFileSync(template, "utf8"), {
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

// Sets the exit status to 1 and prints a message if the page `dist` was not built from the sources with this hash.
export function checkPage(dist, name, sources) {
  const found = readFileSync(dist, "utf8").match(/<meta name="talus-sources" content="([0-9a-f]*)">/)?.[1];
  if (found === sources) return;
  console.error(`${name} was not built from these sources; ./dev page builds it`);
  process.exitCode = 1;
}

// The texts of the licences as one text, each below a line that says what the licence is for.
export const licenceTexts = (root, entries) =>
  entries.map(([line, file]) => `${line}\n\n${readFileSync(join(root, "LICENSES", file), "utf8").trim()}`).join("\n\n\n");

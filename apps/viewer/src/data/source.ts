// Where the page's frames come from: kept in the page itself, or asked from the server that gave the page.

import type { FrameInfo, RunState, Source, Status } from "../types";
import { fromBase64 } from "./base64";
import { FieldsTable } from "./fields";
import { walk } from "./file";
import { OwnersTable } from "./owners";
import { ServedSource } from "./served";
import { StepsTable, type StepsJson } from "./steps";
import { Store } from "./store";

// The JSON in the page.
export interface RunJson {
  version: number; producer: string; title: string; scene: string; state: RunState; until: number | null;
  server: { token: string } | null; steps: StepsJson | null; note: string;
}

class EmbeddedSource implements Source {
  readonly served = false;
  readonly title: string;
  readonly scene: string;
  readonly note: string;
  readonly producer: string;
  readonly steps = new StepsTable();
  readonly owners = new OwnersTable();
  readonly fields = new FieldsTable();
  readonly status: Status;
  #store: Store;

  constructor(run: RunJson, bytes: Uint8Array) {
    this.title = run.title;
    this.scene = run.scene;
    this.note = run.note;
    this.producer = run.producer;
    this.#store = new Store((offset, size) => Promise.resolve(bytes.subarray(offset, offset + size)));
    const { heads, frames } = bytes.length > 0 ? walk(bytes) : { heads: [], frames: [] }; // a run may have left none
    this.#store.heads = heads;
    this.#store.frames = frames;
    if (run.steps) this.steps.append(run.steps);
    const last = frames.at(-1);
    this.status = {
      state: run.state, step: last?.step ?? 0, time: last?.time ?? 0, until: run.until ?? last?.time ?? 0, stepsPerSecond: 0, message: "", control: false,
    };
  }

  get frames(): readonly FrameInfo[] {
    return this.#store.frames;
  }
  load = (index: number) => this.#store.load(index);
  glance = (index: number) => this.#store.glance(index);
  onChange(): void {} // nothing in a page ever changes
  onTrouble(): void {}
  control(): Promise<void> {
    return Promise.reject(new Error("this page is a copy; the run cannot be reached from it"));
  }
}

function runOf(page: Document): RunJson {
  const text = page.getElementById("talus-run")?.textContent ?? "";
  let run: RunJson;
  try {
    run = JSON.parse(text) as RunJson;
  } catch {
    throw new Error("this page holds no run: it is a template that talus fills");
  }
  if (run.version !== 1) throw new Error(`this page holds a run of version ${run.version}; its script reads version 1`);
  return run;
}

export async function createSource(page: Document): Promise<Source> {
  const run = runOf(page);
  if (run.server) {
    const source = new ServedSource(run, run.server.token);
    await source.start();
    return source;
  }
  const holder = page.getElementById("talus-frames");
  const bytes = await fromBase64(holder?.textContent?.trim() ?? "");
  holder?.replaceChildren(); // the text is larger than the bytes, and not needed again
  return new EmbeddedSource(run, bytes);
}

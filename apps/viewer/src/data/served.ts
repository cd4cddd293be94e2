// A run behind `talus view`: finished, or still going on.

import type { Frame, FrameInfo, RunState, Source, Status } from "../types";
import { FIELDS_MOST, FieldsTable } from "./fields";
import type { HeadPlace } from "./file";
import { OwnersTable } from "./owners";
import type { RunJson } from "./source";
import { StepsTable, type StepsJson } from "./steps";
import { Store } from "./store";

interface StatusJson {
  state: RunState; step: number; time: number; until: number | null; title?: string; scene?: string; steps_per_second: number | null;
  message: string; frames: number; ranks: number; fields: number; fields_changed: number; control: boolean; identity: number;
}
interface IndexJson {
  frames: [number, number, number, number, number, number][]; heads: [number, number][]; count: number; identity: number;
}

const LIVE = 500, QUIET = 5000, HIDDEN = 15000; // ms between looks
const LONGEST_WAIT = 10000;
const ANSWER_WITHIN = 10000, DATA_WITHIN = 120000;

async function ask(path: string, within: number, init: RequestInit = {}): Promise<Response> {
  try {
    return await fetch(path, { ...init, cache: "no-store", signal: AbortSignal.timeout(within) });
  } catch {
    throw new Error("the server does not answer; is talus view still running?");
  }
}

async function askJson<T>(path: string, init: RequestInit = {}): Promise<T> {
  const answer = await ask(path, ANSWER_WITHIN, init);
  if (!answer.ok) throw new Error(`${path}: the server answers ${answer.status} ${answer.statusText}`.trim());
  return (await answer.json()) as T;
}

async function readPart(path: string, offset: number, size: number): Promise<Uint8Array> {
  const answer = await ask(path, DATA_WITHIN, { headers: { Range: `bytes=${offset}-${offset + size - 1}` } });
  if (answer.status !== 206) throw new Error(`${path}: the server answers ${answer.status} where part of the file was asked for`);
  let bytes: Uint8Array;
  try {
    bytes = new Uint8Array(await answer.arrayBuffer());
  } catch {
    throw new Error("the server broke off in the middle of an answer");
  }
  if (bytes.length !== size) throw new Error(`${path}: ${bytes.length} bytes came of the ${size} at ${offset}`);
  return bytes;
}

const readRange = (offset: number, size: number) => readPart("/data/frames.talus", offset, size);

// As the present version has it, whatever the file's.
async function readHead(_place: HeadPlace, number: number): Promise<Uint8Array> {
  const answer = await ask(`/data/head?from=${number}`, DATA_WITHIN);
  if (!answer.ok) throw new Error(`frames: the server answers ${answer.status} where a head was asked for`);
  return new Uint8Array(await answer.arrayBuffer());
}

export class ServedSource implements Source {
  readonly served = true;
  readonly note: string;
  readonly producer: string;
  readonly steps = new StepsTable();
  readonly owners = new OwnersTable();
  readonly fields = new FieldsTable();
  title: string;
  scene: string;
  status: Status = { state: "finished", step: 0, time: 0, until: 0, stepsPerSecond: 0, message: "", control: false };
  #store = new Store(readRange, readHead);
  #token: string;
  #identity: number | undefined;
  #changed: (() => void)[] = [];
  #troubled: ((message: string | null) => void)[] = [];
  #trouble: string | null = null;
  #failures = 0;
  #timer = 0;
  #looking: Promise<void> | null = null;
  #again = false; // somebody wants another look as soon as this one is over

  constructor({ title, scene, note, producer }: RunJson, token: string) {
    this.title = title;
    this.scene = scene;
    this.note = note;
    this.producer = producer;
    this.#token = token;
  }

  // Takes the first look; a server that does not answer is asked again later.
  async start(): Promise<void> {
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) void this.#look();
    });
    await this.#look();
  }

  get frames(): readonly FrameInfo[] {
    return this.#store.frames;
  }

  async load(index: number): Promise<Frame> {
    try {
      return await this.#store.load(index);
    } catch (error) {
      void this.#look(); // whether the server is gone or the file another one shows at the next look
      throw error;
    }
  }

  glance = (index: number) => this.#store.glance(index);

  onChange(listener: () => void): void {
    this.#changed.push(listener);
  }

  onTrouble(listener: (message: string | null) => void): void {
    this.#troubled.push(listener);
    if (this.#trouble !== null) listener(this.#trouble);
  }

  async control(action: "pause" | "run" | "stop"): Promise<void> {
    const status = await askJson<StatusJson>("/api/control", {
      method: "POST", headers: { "Content-Type": "application/json", "X-Talus-Token": this.#token }, body: JSON.stringify({ action }),
    });
    this.#take(status);
    this.#tell();
    void this.#look();
  }

  #look(): Promise<void> {
    if (this.#looking) {
      this.#again = true;
      return this.#looking;
    }
    clearTimeout(this.#timer);
    this.#looking = this.#lookOnce().finally(() => {
      this.#looking = null;
      const live = this.status.state === "running" || this.status.state === "paused";
      const quiet = document.hidden ? HIDDEN : live ? LIVE : QUIET;
      const wait = this.#failures > 0 ? Math.min(LONGEST_WAIT, LIVE * 2 ** this.#failures) : this.#again ? 0 : quiet;
      this.#again = false;
      this.#timer = window.setTimeout(() => void this.#look(), wait);
    });
    return this.#looking;
  }

  async #lookOnce(): Promise<void> {
    try {
      const was = JSON.stringify([this.status, this.frames.length, this.steps.rows, this.owners.bytes, this.fields.bytes, this.fields.changed, this.#identity]);
      const status = await askJson<StatusJson>("/api/status");
      this.#take(status);
      await this.#lookAtOwners(status.ranks ?? 0); // before the frames that they are about
      await this.#lookAtFields(status.fields ?? 0, status.fields_changed ?? 0);
      if (status.frames !== this.frames.length) await this.#lookAtIndex(status.frames);
      await this.#lookAtSteps();
      this.#failures = 0;
      this.#setTrouble(null);
      if (was !== JSON.stringify([this.status, this.frames.length, this.steps.rows, this.owners.bytes, this.fields.bytes, this.fields.changed, this.#identity])) this.#tell();
    } catch (error) {
      this.#failures++;
      this.#setTrouble(error instanceof Error ? error.message : String(error));
    }
  }

  #take(json: StatusJson): void {
    // Another run in the same directory, or the same one cut back by --resume: nothing known holds any more.
    if (this.#identity !== undefined && json.identity !== this.#identity) this.#forget();
    this.#identity = json.identity;
    if (json.title !== undefined) this.title = json.title;
    if (json.scene !== undefined) this.scene = json.scene;
    this.status = {
      state: json.state, step: json.step, time: json.time, until: json.until ?? 0, stepsPerSecond: json.steps_per_second ?? 0, message: json.message, control: json.control,
    };
  }

  #forget(): void {
    this.#store.reset();
    this.steps.clear();
    this.owners.clear();
    this.fields.clear();
  }

  // Measuring anew writes the file anew.
  async #lookAtFields(bytes: number, changed: number): Promise<void> {
    const { fields } = this;
    if (bytes === fields.bytes && changed === fields.changed) return;
    fields.clear();
    if (bytes > FIELDS_MOST) fields.trouble = `fields.csv has ${Math.round(bytes / 1e6)} MB; up to ${FIELDS_MOST / 1e6} are shown: measure fewer states or cells.`;
    else if (bytes > 0) fields.read(new TextDecoder().decode(await readPart("/data/fields.csv", 0, bytes)));
    fields.bytes = bytes;
    fields.changed = changed;
  }

  async #lookAtOwners(bytes: number): Promise<void> {
    if (bytes < this.owners.bytes) this.owners.clear();
    if (bytes > this.owners.bytes) this.owners.append(await readPart("/data/ranks.csv", this.owners.bytes, bytes - this.owners.bytes));
  }

  async #lookAtIndex(count: number): Promise<void> {
    if (count < this.frames.length) this.#forget();
    while (this.frames.length < count) {
      const index = await askJson<IndexJson>(`/api/index?from=${this.frames.length}`);
      if (index.identity !== this.#identity || index.frames.length === 0) return; // it changed meanwhile: the next look sorts it out
      this.#store.heads = index.heads.map(([offset, size]) => ({ offset, size }));
      this.#store.frames = this.#store.frames.concat(index.frames.map(([offset, size, time, step, key, bodies]) => ({ offset, size, time, step, key: key !== 0, bodies })));
    }
  }

  async #lookAtSteps(): Promise<void> {
    for (;;) {
      const json = await askJson<StepsJson & { total: number; identity: number }>(`/api/steps?from=${this.steps.rows}`);
      if (json.identity !== this.#identity) return;
      if (json.total < this.steps.rows) {
        this.steps.clear();
        continue;
      }
      if (!(json.rows > 0)) return;
      this.steps.append(json);
      if (this.steps.rows >= json.total) return;
      this.#tell();
    }
  }

  #tell(): void {
    for (const listener of this.#changed) listener();
  }

  #setTrouble(message: string | null): void {
    if (message === this.#trouble) return;
    this.#trouble = message;
    for (const listener of this.#troubled) listener(message);
  }
}

// The page: picture, bar, panel, and what ties them together.

import { darkSystemQuery, isDark, THEMES } from "../../../look/choices";
import { htmlElement } from "../../../look/dom";
import { capitalise } from "../../../look/format";
import type { FieldSlice } from "../data/fields";
import { positionOf, rowOf } from "../engine/bounds";
import { isCategory, scaleOf } from "../engine/colour";
import type { Engine } from "../engine/engine";
import { add } from "../engine/vector";
import type { Frame, FrameInfo, Scale, Source, Vec3, ViewName } from "../types";
import { Bar } from "./bar";
import { BodyCard } from "./body";
import { Gauge } from "./gauge";
import { help } from "./help";
import { listen } from "./keys";
import { Legend } from "./legend";
import { isLive, Live } from "./live";
import { Measure, TOOLS } from "./measure";
import { Notices } from "./notices";
import { Panel } from "./panel";
import { Player } from "./player";
import { Plots } from "./plots";
import { filmForm, Saver } from "./save";
import { AXES, COLOURS, CONTAINERS, DEFAULTS, EVERY_FRAME, readAddress, SPEEDS, type State, VIEW_NAMES, writeAddress } from "./state";
import { Steady } from "./steady";

const LEAN = "This run has too many bodies for its frames to keep force chains.";
const SLIP = 5; // pixels between pressing and letting go that still make a click

const narrow = matchMedia("(max-width: 760px)");
const nextOf = <T>(all: readonly T[], one: T): T => all[(all.indexOf(one) + 1) % all.length]!;

export class App {
  readonly player: Player;
  private readonly defaults: State;
  private state: State;
  private frame: Frame | null = null;
  private steady: Steady;
  private first: FrameInfo | undefined; // of the run; another one is another run's
  private ranked = false;
  private colourKey = ""; // of the colours that the engine has
  private slice: FieldSlice | null = null; // that is shown
  private sliceKey = "";
  private fieldsChanged = 0; // of the fields that the panel offers
  private firstCamera: number[] | null = null; // from the address, for the first frame
  private cameraMoved = false;
  private kept: Vec3 | null = null; // where the body that is kept in view was in the frame before
  private dark = false;
  private gone = false; // the server
  private viewName: ViewName = "home";
  private addressTimer = 0;

  private bar: Bar;
  private panel: Panel;
  private plots: Plots;
  private live: Live;
  private card: BodyCard;
  private legend = new Legend();
  private gauge = new Gauge();
  private measure: Measure;
  private notices = new Notices();
  private saver: Saver;
  private help: HTMLDialogElement;
  private empty = htmlElement("p", { class: "empty", hidden: true });

  constructor(private source: Source, private engine: Engine, private host: HTMLElement) {
    this.defaults = { ...DEFAULTS, panel: !narrow.matches };
    const address = readAddress(location.hash, this.defaults);
    this.state = address.state;
    if (!this.offers(this.state.colour)) this.state.colour = this.defaults.colour;
    this.player = new Player(source, {
      shown: (frame) => this.shown(frame),
      changed: () => this.playingChanged(),
      failed: (message) => this.failed(message),
    });
    this.steady = new Steady(source, (room) => {
      if (room) engine.include(room.lo, room.hi);
      this.applyColour();
    });
    this.plots = new Plots(source.steps, (time) => this.player.seekTime(time), () => this.time);
    this.live = new Live(source, (on) => this.player.follow(on), (message) => this.notices.set("control", message));
    this.card = new BodyCard(() => this.select(0), () => {
      this.kept = null;
      if (this.frame) this.keepInView(this.frame);
    });
    this.saver = new Saver(source, engine, this.player, (message) => this.notices.brief("saved", message));
    this.measure = new Measure((place) => engine.project(place), () => engine.up, () => this.set({ tool: "off" }));
    engine.onPicture(() => {
      if (this.frame) this.gauge.show(engine.gauge);
      this.measure.draw();
    });
    this.help = help(source.producer, source.note);
    this.panel = new Panel(this.state, this.plots.node, filmForm() ? null : "This browser cannot record films (it has no MediaRecorder).", {
      set: (change) => this.set(change),
      view: (name) => this.view(name),
      picture: () => this.picture(),
      film: () => this.film(),
    });
    this.bar = new Bar(source, this.player, {
      speed: (speed) => this.set({ speed }),
      loop: () => this.set({ loop: !this.state.loop }),
      panel: () => this.set({ panel: !this.state.panel }),
      help: () => this.help.showModal(),
    });
    if (address.body) this.card.set(address.body);
    this.start(address.time, address.camera);
  }

  get time(): number {
    return this.source.frames[this.player.index]?.time ?? 0;
  }

  // ---- building ----

  private start(time: number | null, camera: number[] | null): void {
    const { source, engine } = this;
    engine.canvas.setAttribute("role", "img");
    engine.canvas.setAttribute("aria-label", "The bodies; drag to turn, click one for its state");
    const stage = htmlElement("main", { class: "stage" }, engine.canvas, this.measure.node, this.live.node, this.legend.node, this.gauge.node, this.card.node, this.measure.card, this.notices.node, this.empty);
    this.host.replaceChildren(stage, this.panel.node, this.bar.node, this.help);
    engine.resize();
    new ResizeObserver(() => engine.resize()).observe(stage);
    this.pointer();
    this.keys();
    darkSystemQuery().addEventListener("change", () => this.applyTheme());
    addEventListener("hashchange", () => location.reload()); // somebody has put another view into the address
    engine.onViewChange(() => {
      this.cameraMoved = true;
      this.remember();
    });
    source.onChange(() => this.changed());
    source.onTrouble((message) => this.trouble(message));
    this.apply();
    this.firstCamera = camera;
    this.player.following = time === null && isLive(source);
    this.changed();
    if (time !== null && source.frames.length > 0) this.player.seekTime(time);
  }

  private pointer(): void {
    const { canvas } = this.engine;
    let down: PointerEvent | null = null;
    canvas.addEventListener("pointerdown", (e) => (down = e.isPrimary && e.button === 0 ? e : null));
    canvas.addEventListener("pointerup", (e) => {
      if (!down || e.pointerId !== down.pointerId || Math.hypot(e.clientX - down.clientX, e.clientY - down.clientY) > SLIP) return;
      const box = canvas.getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top;
      this.measure.cross = false;
      if (this.state.tool !== "off") this.mark(x, y);
      else this.select(this.engine.pick(x, y)?.id ?? 0);
    });
  }

  // A place of the picture, for the ruler or the angle.
  private mark(x: number, y: number): void {
    const hit = this.engine.pickPlace(x, y), frame = this.frame;
    if (!hit || !frame) {
      this.measure.missed();
      return;
    }
    const row = rowOf(frame, hit.id), hasCentre = row >= 0 && !frame.fixed[row];
    this.measure.add({ ...hit, centre: hasCentre ? add(positionOf(frame, row), frame.head.origin) : null });
  }

  private keys(): void {
    const { player } = this;
    const cycleSpeed = (by: number) => {
      const all = [...SPEEDS, EVERY_FRAME];
      this.set({ speed: all[Math.min(all.length - 1, Math.max(0, all.indexOf(this.state.speed) + by))]! });
    };
    const axes = [null, ...AXES];
    const clipNext = () => {
      const axis = nextOf(axes, this.state.clip?.axis ?? null);
      this.set({ clip: axis && { at: 0.5, flip: false, ...this.state.clip, axis } });
    };
    const bindings = new Map<string, (shift: boolean) => void>([
      [" ", () => player.toggle()],
      ["ArrowLeft", (shift) => player.step(shift ? -10 : -1)],
      ["ArrowRight", (shift) => player.step(shift ? 10 : 1)],
      ["Home", () => player.seek(0)],
      ["End", () => (isLive(this.source) ? player.follow(true) : player.seek(player.end))],
      ["+", () => cycleSpeed(1)], ["=", () => cycleSpeed(1)], ["-", () => cycleSpeed(-1)], ["_", () => cycleSpeed(-1)],
      ["l", () => this.set({ loop: !this.state.loop })],
      ...COLOURS.slice(0, 10).map((colour, k): [string, () => void] => [String((k + 1) % 10), () => this.set({ colour })]),
      ["d", () => this.set({ colour: "dissipated" })],
      ["c", () => this.set({ chains: !this.state.chains })],
      ["g", () => this.set({ container: nextOf(CONTAINERS, this.state.container) })],
      ["x", clipNext],
      ["m", () => {
        this.measure.cross = true;
        this.set({ tool: nextOf(TOOLS, this.state.tool) });
      }],
      ["Enter", () => {
        if (this.state.tool === "off") return;
        this.measure.cross = true;
        this.mark(...this.measure.middle);
      }],
      ["f", () => this.view("fit")],
      ["v", () => this.view(nextOf(VIEW_NAMES, this.viewName))],
      ["t", () => this.set({ theme: nextOf(THEMES, this.state.theme) })],
      ["s", () => this.picture()],
      ["p", () => this.set(this.state.panel && this.state.plots ? { plots: false } : { panel: true, plots: true })],
      ["b", () => this.set({ panel: !this.state.panel })],
      ["Escape", () => (this.state.tool !== "off" ? this.set({ tool: "off" }) : this.select(0))],
      ["?", () => this.help.showModal()],
    ]);
    listen(bindings, () => this.help.open);
  }

  // ---- what the reader chooses ----

  set(change: Partial<State>): void {
    const before = this.state;
    this.state = { ...before, ...change };
    if (!this.offers(this.state.colour)) this.state.colour = before.colour;
    if (change.scaling === "fixed" && before.scaling !== "fixed" && this.engine.scale) {
      const { low, high } = this.engine.scale;
      Object.assign(this.state, { low, high });
    }
    if (!(this.state.low < this.state.high)) Object.assign(this.state, { low: before.low, high: before.high });
    this.apply();
    this.remember();
  }

  private apply(): void {
    const { state, engine, player } = this;
    player.speed = state.speed;
    player.loop = state.loop && !this.saver.recording; // a film has an end
    engine.setChains(state.chains, state.threshold);
    engine.setClip(state.clip);
    engine.setContainer(state.container);
    engine.setRules(state.rules);
    this.measure.set(state.tool);
    this.measure.draw();
    this.gauge.node.hidden = !state.gauge;
    this.host.classList.toggle("measuring", state.tool !== "off");
    this.host.classList.toggle("with-panel", state.panel);
    this.applyTheme();
    this.applySlice();
    this.applyColour();
    this.panel.updateFields(state.slice, this.source.fields, this.source.served);
    this.panel.update(state, this.engine.scale !== null, this.frame && !this.frame.chains ? LEAN : null, this.source.owners.known, this.frame);
    this.bar.setChoices(state.speed, state.loop, state.panel);
  }

  private applyTheme(): void {
    const dark = isDark(this.state.theme);
    const root = document.documentElement, name = dark ? "dark" : "light";
    if (root.dataset.theme === name) return;
    root.dataset.theme = name;
    this.dark = dark;
    this.engine.setTheme(dark);
    this.plots.setTheme(dark);
    this.bar.slider.draw(true);
    this.drawLegend();
  }

  // Ranks are known of runs on several alone, entries and dissipated energies of frames that tell them.
  private offers(colour: State["colour"]): boolean {
    return (colour !== "rank" || this.source.owners.known) && (colour !== "entry" || !this.frame || this.frame.head.entries.length > 0)
      && (colour !== "dissipated" || !this.frame || this.frame.dissipated !== null);
  }

  private setRanks(frame: Frame): void {
    frame.rank = this.state.colour === "rank" ? this.source.owners.ranks(frame.time, frame.id, frame.count) : null;
  }

  private applyColour(): void {
    if (this.frame) this.setRanks(this.frame);
    const scale = this.frame ? this.scaleFor(this.frame) : null, key = JSON.stringify([this.state.colour, scale, this.frame?.rank ? this.source.owners.bytes : 0]);
    if (key !== this.colourKey) this.engine.setColour(this.state.colour, scale);
    this.colourKey = key;
    this.drawLegend();
  }

  // The scale of the colours, null for categories and before the first frame.
  private scaleFor(frame: Frame): Scale | null {
    const { colour, scaling, log } = this.state;
    if (isCategory(colour)) return null;
    const high = scaling === "steady" ? this.steady.end(colour) : undefined;
    const own = scaling === "fixed" ? this.state : high === undefined ? scaleOf(frame, colour)! : { low: 0, high };
    return { low: log && !(own.low > 0) ? own.high / 1000 : own.low, high: own.high, log };
  }

  // The slice at the time shown; the same one again while no new state of the fields is due.
  private applySlice(): void {
    const { slice } = this.state, { fields } = this.source;
    const next = slice ? fields.slice(slice.field, slice.axis, slice.at, this.time) : null, key = JSON.stringify([slice, fields.changed, fields.bytes, next?.time]);
    if (key === this.sliceKey) return;
    this.sliceKey = key;
    this.slice = next;
    this.engine.setSlice(next);
  }

  private drawLegend(): void {
    const { slice } = this, field = slice && { name: slice.field, low: slice.low, high: slice.high, time: slice.time };
    if (this.frame) this.legend.show(this.state.colour, this.engine.scale, this.frame, this.dark, this.state.histogram, this.engine.chainScale, field);
  }

  view(name: ViewName | "fit"): void {
    if (name === "fit") this.engine.fit();
    else {
      this.engine.view(name);
      this.viewName = name;
    }
  }

  select(body: number): void {
    this.card.set(body);
    this.kept = null;
    this.engine.select(this.card.body);
    if (this.frame) this.card.show(this.frame);
    this.remember();
  }

  // While the body that was picked is kept in view, the camera goes where it goes.
  private keepInView(frame: Frame): void {
    const place = this.card.keeping ? this.card.placeIn(frame) : null;
    if (place && this.kept) {
      const [x, y, z, ...rest] = this.engine.camera() as [number, number, number, ...number[]];
      this.engine.setCamera([x + place[0] - this.kept[0], y + place[1] - this.kept[1], z + place[2] - this.kept[2], ...rest]);
    }
    this.kept = place ?? this.kept;
    if (!this.card.keeping) this.kept = null;
  }

  private picture(): void {
    this.saver.picture().catch((e: Error) => this.notices.set("saved", `The picture could not be saved: ${e.message}`));
  }

  private film(): void {
    try {
      if (this.saver.recording && this.player.playing) this.player.stop();
      else if (this.saver.recording) this.saver.stop();
      else this.saver.film(() => this.filmChanged());
    } catch (e) {
      this.notices.set("saved", `The film could not be recorded: ${(e as Error).message}`);
    }
  }

  private filmChanged(): void {
    const { recording } = this.saver, { frames } = this.source;
    const first = frames[0]?.time ?? 0, span = (frames.at(-1)?.time ?? 0) - first || 1;
    this.panel.setFilm(recording ? (this.time - first) / span : null);
    this.host.classList.toggle("recording", recording);
    this.player.loop = this.state.loop && !recording;
  }

  // ---- what time and the run bring ----

  private shown(frame: Frame): void {
    const first = this.frame === null, lean = (f: Frame | null) => f !== null && f.chains === null;
    const leanBefore = lean(this.frame);
    this.frame = frame;
    this.empty.hidden = true;
    this.steady.show(frame);
    this.setRanks(frame);
    this.engine.show(frame);
    this.applySlice();
    if (first) this.begin();
    else if (leanBefore !== lean(frame)) this.apply();
    else this.applyColour();
    this.keepInView(frame);
    this.live.show(frame);
    this.card.show(frame);
    this.panel.show(frame);
    this.bar.show();
    this.plots.place();
    this.notices.set("frame", null);
    if (this.saver.recording) this.filmChanged();
    this.remember();
  }

  // The first frame is there.
  private begin(): void {
    if (!this.offers(this.state.colour)) this.state.colour = this.defaults.colour;
    if (this.firstCamera) this.engine.setCamera(this.firstCamera);
    this.cameraMoved = this.firstCamera !== null;
    this.engine.select(this.card.body);
    this.apply();
    void this.steady.grown().then(() => requestAnimationFrame(() => requestAnimationFrame(() => this.setReady())));
  }

  private failed(message: string): void {
    this.notices.set("frame", message);
    this.setReady(); // the page has said why there is none
  }

  private setReady(): void {
    document.documentElement.dataset.ready = "1";
  }

  private changed(): void {
    const live = isLive(this.source), first = this.source.frames[0];
    if (first && this.first && first !== this.first) {
      this.steady.forget();
      this.engine.forget();
    }
    this.first = first ?? this.first;
    this.bar.setFrames(live);
    this.live.update(this.player.following);
    this.plots.refresh();
    this.player.grown();
    if (this.frame) void this.steady.grown();
    if (this.frame && this.ranked !== this.source.owners.known) this.apply(); // ranks can be chosen, or no longer
    this.ranked = this.source.owners.known;
    if (this.source.fields.changed !== this.fieldsChanged) this.apply(); // others can be chosen
    this.fieldsChanged = this.source.fields.changed;
    if (this.source.frames.length > 0) return;
    this.empty.hidden = false;
    this.empty.textContent = live ? "No frames yet: the picture appears with the first one that the run writes."
      : "This run left no frames, so there is nothing to show. talus run --out DIR writes them.";
    this.setReady();
  }

  private trouble(message: string | null): void {
    this.notices.set("server", message && capitalise(message));
    if (message === null && this.gone) {
      this.notices.brief("back", "The server is back.");
      this.changed(); // what could not be read before is asked for again
      void this.steady.grown(true);
    }
    this.gone = message !== null;
  }

  private playingChanged(): void {
    this.bar.setPlaying(this.player.playing);
    this.live.update(this.player.following);
    if (!this.player.playing) this.saver.finish();
    this.remember();
  }

  // ---- the address ----

  // Puts the view into the address, a moment later and not while it plays.
  private remember(): void {
    if (this.addressTimer || this.player.playing) return;
    this.addressTimer = window.setTimeout(() => {
      this.addressTimer = 0;
      if (this.player.playing || !this.frame) return;
      const text = writeAddress({
        state: this.state, time: this.player.following || this.player.index <= 0 ? null : this.time,
        camera: this.cameraMoved ? this.engine.camera() : null, body: this.card.body,
      }, this.defaults);
      try {
        history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
      } catch {
        // A frame within another page may not, and some browsers allow so many a minute: the view is then not in the address.
      }
    }, 300);
  }

  // What tests and scripts in the page may ask for; docs/how-to/viewer.md describes it.
  get testing(): object {
    const app = this;
    return {
      get frame() { return app.player.index; },
      get frames() { return app.source.frames.length; },
      get time() { return app.time; },
      get count() { return app.frame?.count ?? 0; },
      get drawn() { return { ...app.engine.stats }; },
      get scale() { return app.engine.scale; },
      get colour() { return app.state.colour; },
      get state() { return { ...app.state }; },
      get playing() { return app.player.playing; },
      get following() { return app.player.following; },
      get status() { return { ...app.source.status }; },
      get selected() { return app.card.body; },
      get camera() { return app.engine.camera(); },
      get slice() { return app.slice && { ...app.slice, value: [...app.slice.value] }; },
      get spread() { return app.legend.histogram.spread; },
      get measured() { return { marks: app.measure.marks, result: app.measure.result }; },
      seek: async (time: number) => (app.player.seekTime(time), app.player.settled()),
      select: (id: number) => app.select(app.frame && rowOf(app.frame, id) >= 0 ? id : 0),
      set: (change: Partial<State>) => app.set(change),
    };
  }
}

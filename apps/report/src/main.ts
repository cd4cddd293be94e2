// The page: reads its data, builds its sections once, and fills them anew whenever a choice changes.

import { darkSystemQuery, isDark, type Theme, THEMES } from "../../look/choices";
import { checkbox, type Choice, htmlElement, segmentedChoice, dropDown } from "../../look/dom";
import { capitalise, formatCount, formatInteger, formatGiven, formatPower } from "../../look/format";
import { DARK_INKS, type Inks, LIGHT_INKS } from "../../look/inks";
import * as charts from "./charts";
import type { Report } from "./data";
import { COSTS, readReport } from "./data";
import { Figure, type Legend } from "./figure";
import { termsText } from "./format";
import { MapFigure } from "./heatmap";
import { bestObjectives, sharedTerms } from "./measure";
import { chosen, COST_LABELS, type Item, readState, type State, writeState } from "./state";
import { Table } from "./table";
import * as tables from "./tables";

const root = document.documentElement;
const PAPER = 184 * 96 / 25.4; // pixels across an A4 page between the margins of style.css

class App {
  private state: State;
  private inks: Inks = LIGHT_INKS;
  private legend: Legend = { hidden: new Set(), changed: () => this.drawFigures() };
  private best: number[];
  private quantities: charts.Quantity[];
  private items: Item[] = [];

  private toolbar = htmlElement("div", { class: "toolbar" });
  private runs = new Table<Item>(() => this.drawFigures());
  private runsHead = htmlElement("div", { class: "head" });
  private residuals = new Table<Item>();
  private across = new Table<tables.SolverRow>(() => this.drawProfile());
  private tables: { forPrint(paper: number): void }[] = [this.runs, this.residuals, this.across];
  private figure = (wide = false): Figure => new Figure(this.legend, () => this.inks, wide);
  private convergence = this.figure(true);
  private active = this.figure();
  private changes = this.figure();
  private impulses = this.figure();
  private bars = this.figure();
  private profile = this.figure(true);
  private free: Figure[];
  private maps: MapFigure[];

  constructor(private report: Report, private host: HTMLElement) {
    this.state = readState(location.hash, report);
    this.best = bestObjectives(report);
    this.quantities = charts.available(report);
    this.free = report.figures.map(() => this.figure());
    this.maps = report.maps.map((map) => new MapFigure(map, () => this.inks));
  }

  start(): void {
    document.title = this.report.title;
    this.theme();
    this.build();
    this.isolate(new URLSearchParams(location.hash.slice(1)).get("only"));
    this.update();
    darkSystemQuery().addEventListener("change", () => this.set({}));
    addEventListener("beforeprint", () => this.printing());
    addEventListener("afterprint", () => this.set({}));
    addEventListener("hashchange", () => {
      this.state = readState(location.hash, this.report);
      this.set({});
    });
  }

  private set(change: Partial<State>): void {
    Object.assign(this.state, change);
    const hash = writeState(this.state, this.report);
    history.replaceState(null, "", hash ? "#" + hash : location.pathname + location.search);
    this.theme();
    this.update();
  }

  private theme(): void {
    const dark = isDark(this.state.theme);
    root.dataset.theme = dark ? "dark" : "light";
    this.inks = dark ? DARK_INKS : LIGHT_INKS;
  }

  // Paper is light, whatever the screen is.
  private printing(): void {
    this.inks = LIGHT_INKS;
    this.update();
    for (const table of this.tables) table.forPrint(PAPER);
    for (const figure of [this.convergence, this.active, this.changes, this.impulses, this.bars, this.profile, ...this.free, ...this.maps]) figure.forPrint();
  }

  // ---- what stays ----

  private build(): void {
    const { report } = this;
    const several = report.problems.length > 1;
    const runs = htmlElement("section", { id: "runs" }, this.runsHead, this.runs.node,
      htmlElement("p", { class: "note" }, "The lowest figure of a column is bold. - : never reached. ≤ : shown by the final residual, not by a point of the trace. Grey: the figure of the reference."));
    runs.hidden = !report.runs.length; // experiments with worlds have tables and figures alone
    this.host.append(
      this.header(),
      this.toolbar,
      runs,
      ...report.tables.map((t) => this.freeTable(t)),
      htmlElement("section", { id: "figures", class: "pair" }, ...this.free.map((f) => f.node)),
      htmlElement("section", { id: "maps", class: "pair" }, ...this.maps.map((m) => m.node)),
      htmlElement("section", { id: "convergence" }, this.convergence.node),
      htmlElement("section", { id: "sets", class: "pair" }, this.active.node, this.changes.node),
      htmlElement("section", { id: "impulses", class: "pair" }, this.impulses.node, this.bars.node),
    );
    // Paper has no room for a column per problem when there are many; the figure and the sums stay.
    this.across.node.classList.toggle("broad", report.problems.length > 8);
    if (several) this.host.append(htmlElement("section", { id: "profiles" }, this.profile.node, this.across.node));
    this.host.append(
      this.tableSection("residuals", "Residuals at the end", this.residuals),
      this.problems(),
      this.footer());
  }

  // One section alone, for pictures.
  private isolate(id: string | null): void {
    const section = [...this.host.children].find((c) => c.id === id);
    if (section) this.host.replaceChildren(section);
  }

  private header(): HTMLElement {
    const { report } = this;
    const outcomes = new Map<string, number>();
    for (const run of report.runs) outcomes.set(run.outcome, (outcomes.get(run.outcome) ?? 0) + 1);
    const counts = [...outcomes].map(([name, n]) => `${formatInteger(n)} ${name}`).join(", ");
    const facts = [
      counts && `${formatCount(report.solvers.length, "solver")}, ${formatCount(report.problems.length, "problem")}, ${formatCount(report.runs.length, "run")}: ${counts}`,
      report.date, report.machine, report.version && `Talus ${report.version}`,
    ];
    const terms = sharedTerms(report), ends = terms ? termsText(terms) : "";
    return htmlElement("header", {}, htmlElement("h1", {}, report.title), htmlElement("p", { class: "summary" }, facts.filter(Boolean).join(" · ")),
      ends ? htmlElement("p", { class: "terms" }, `Each run: ${ends}.`) : null, this.names(),
      ...report.notes.map((n) => htmlElement("p", {}, n)));
  }

  // Which problems, where the title cannot tell.
  private names(): HTMLElement | null {
    const all = this.report.problems.map((p) => p.name), most = 8;
    if (all.length < 2) return null;
    const shown = all.length > most ? all.slice(0, most - 1) : all, rest = all.length - shown.length;
    return htmlElement("p", { class: "names" }, `Problems: ${shown.join(", ")}`,
      ...(rest ? [" and ", htmlElement("button", { type: "button", class: "link", click: () => document.getElementById("problems")?.scrollIntoView() }, `${formatInteger(rest)} more`)] : []), ".");
  }

  private tableSection<Row>(id: string, title: string, table: Table<Row>): HTMLElement {
    return htmlElement("section", { id }, htmlElement("div", { class: "head" }, htmlElement("h2", {}, title),
      htmlElement("span", { class: "actions" }, htmlElement("button", { type: "button", class: "button small", click: () => table.saveCsv() }, "CSV"))), table.node);
  }

  private freeTable(data: Report["tables"][number]): HTMLElement {
    const table = new Table<string[]>();
    this.tables.push(table);
    table.show(tables.freeTable(data));
    const section = this.tableSection("", data.title || "Table", table);
    section.removeAttribute("id");
    section.classList.add("free");
    if (data.note) section.append(htmlElement("p", { class: "note" }, data.note));
    return section;
  }

  private problems(): HTMLElement | string {
    if (!this.report.problems.length) return "";
    const table = new Table<Report["problems"][number]>();
    this.tables.push(table);
    table.show(tables.problemTable(this.report));
    return this.tableSection("problems", "Problems", table);
  }

  private footer(): HTMLElement {
    const licence = document.getElementById("licences")?.textContent ?? "";
    return htmlElement("footer", {},
      htmlElement("p", {}, `Written by Talus${this.report.version ? " " + this.report.version : ""}. This file is whole: it asks nothing of any network. Drag in a plot to zoom, double-click to return; arrow keys move its cursor.`),
      htmlElement("details", {}, htmlElement("summary", {}, "Licences"), htmlElement("pre", {}, licence.trim())));
  }

  // ---- what changes ----

  private update(): void {
    this.items = chosen(this.report, this.state);
    this.drawToolbar();
    this.drawRuns();
    if (this.report.problems.length > 1) this.across.show(tables.acrossTable(this.report, this.state, this.inks));
    this.drawFigures();
    const residuals = tables.residualTable(this.items, this.state, this.inks);
    this.residuals.show(residuals);
    this.residuals.node.parentElement!.hidden = residuals.columns.length < 2;
  }

  private drawToolbar(): void {
    const { report, state } = this;
    const focused = (document.activeElement as HTMLElement | null)?.closest?.(".toolbar") ? this.focusPath() : null;
    const controls: HTMLElement[] = [];
    if (report.problems.length > 1) {
      const views: Choice[] = [{ value: "problem", label: "one problem" }, { value: "solver", label: "one solver" }];
      controls.push(segmentedChoice("Compare on", views, state.view, (v) => this.set({ view: v as State["view"] })));
      if (state.view === "problem")
        controls.push(dropDown("Problem", report.problems.map((p) => ({ value: String(p.index), label: p.name })), String(state.problem), (v) => this.set({ problem: Number(v) })));
      else
        controls.push(dropDown("Solver", report.solvers.map((s, i) => ({ value: String(i), label: s })), String(state.solver), (v) => this.set({ solver: Number(v) })));
    }
    if (report.runs.length) controls.push(segmentedChoice("Cost", COSTS.map((c) => ({ value: c, label: COST_LABELS[c].short })), state.cost, (v) => this.set({ cost: v as State["cost"] })));
    controls.push(segmentedChoice("Theme", THEMES.map((t) => ({ value: t, label: t })), state.theme, (v) => this.set({ theme: v as Theme })));
    this.toolbar.replaceChildren(...controls);
    if (focused) this.toolbar.querySelector<HTMLElement>(focused)?.focus();
  }

  // Where the focus is, as a selector that finds the same control after a redraw.
  private focusPath(): string {
    const at = document.activeElement as HTMLInputElement;
    return at.name ? `input[name="${at.name}"]:checked` : at.tagName.toLowerCase();
  }

  private subject(): string {
    const { report, state } = this;
    if (state.view === "solver") return report.solvers[state.solver] ?? "";
    const p = report.problems[state.problem];
    if (!p) return "";
    const friction = p.mu_max > 0 ? `µ ${p.mu_max > p.mu_min ? formatGiven(p.mu_min) + " to " : ""}${formatGiven(p.mu_max)}` : p.mu_max === 0 ? "no friction" : "";
    const facts = [Number.isFinite(p.contacts) && formatCount(p.contacts, "contact"), p.bodies > 0 && formatCount(p.bodies, "body", "bodies"), friction];
    return [p.name, ...facts].filter(Boolean).join(", ");
  }

  private drawRuns(): void {
    const spec = tables.runsTable(this.items, this.state, this.report, this.inks);
    this.runs.show(spec);
    this.runsHead.replaceChildren(htmlElement("h2", {}, "Runs"), htmlElement("span", { class: "subject" }, this.subject()),
      htmlElement("span", { class: "actions" }, htmlElement("button", { type: "button", class: "button small", click: () => this.runs.saveCsv() }, "CSV")));
  }

  private drawFigures(): void {
    const { state, report } = this;
    const items = this.runs.ordered(); // so that legends have the order of the table
    this.drawConvergence(items);
    const active = charts.activeSet(items, state, "active"), changes = charts.activeSet(items, state, "active_changes");
    this.optional(this.active, active.series.length > 0, () => this.active.show(active, {
      title: "Active set", caption: `${this.subject()}. Contacts without impulse, per iteration.` }));
    this.optional(this.changes, changes.series.length > 0, () => this.changes.show(changes, {
      title: "Changes of the active set", caption: `${this.subject()}. Contacts that went between open, sliding and sticking since the point before.` }));
    const impulses = charts.impulses(items, state.logImpulses);
    this.optional(this.impulses, impulses.series.length > 0, () => this.impulses.show(impulses, {
      title: "Sorted impulses", caption: `${this.subject()}. Normal impulses in ascending order; solutions of one problem may differ here and agree in velocity.`,
      controls: [checkbox("log", state.logImpulses, (on) => this.set({ logImpulses: on }))] }));
    const bars = charts.complementarity(items);
    this.optional(this.bars, bars.rows.length > 0, () => this.bars.show(bars, {
      title: "Complementarity", caption: `${this.subject()}. Per contact |γ·u|, zero at a solution: mean, standard deviation and maximum at the end.` }));
    this.free.forEach((figure, i) => {
      const data = report.figures[i]!;
      figure.show(charts.freeFigure(data), { title: data.title, caption: data.note });
    });
    for (const map of this.maps) map.show();
    if (report.problems.length > 1) this.drawProfile();
    for (const section of this.host.querySelectorAll<HTMLElement>("section.pair"))
      section.hidden = [...section.children].every((c) => (c as HTMLElement).hidden);
  }

  private optional(figure: Figure, there: boolean, draw: () => void): void {
    figure.node.hidden = !there;
    if (there) draw();
  }

  private drawConvergence(items: Item[]): void {
    const { quantities, state } = this;
    const quantity = quantities.find((q) => q.key === state.y) ?? quantities[0];
    this.convergence.node.parentElement!.hidden = !quantity;
    if (!quantity) return;
    const chart = charts.convergence(items, state, quantity, this.best, this.report.thresholds);
    const guides = quantity.key === "natural_relative" ? " Dotted: the tolerances of the table." : "";
    this.convergence.show(chart, {
      title: "Convergence",
      caption: `${this.subject()}. ${capitalise(quantity.label)}, against ${COST_LABELS[state.cost].axis}.${guides}`,
      controls: [
        dropDown("y", quantities.map((q) => ({ value: q.key, label: q.label })), quantity.key, (v) => this.set({ y: v })),
        checkbox("log x", state.logX, (on) => this.set({ logX: on })),
      ],
    });
  }

  private drawProfile(): void {
    const { report, state } = this;
    const threshold = report.thresholds[state.threshold]!;
    this.profile.show(charts.performance(report, state.cost, threshold, this.across.ordered().map((r) => r.solver)), {
      title: "Performance profile",
      caption: `All problems: the share that a solver brings to a relative natural residual below ${formatPower(threshold)} within τ times the ${COST_LABELS[state.cost].short} of the best solver on each. At τ = 1: how often it is the best; far right: how many it solves at all.`,
      controls: [dropDown("tolerance", report.thresholds.map((t, i) => ({ value: String(i), label: formatPower(t) })), String(state.threshold), (v) => this.set({ threshold: Number(v) }))],
    });
  }
}

function fail(host: HTMLElement, message: string): void {
  root.dataset.errors = String(Number(root.dataset.errors ?? 0) + 1);
  host.prepend(htmlElement("p", { class: "failure", role: "alert" }, message));
}

function main(): void {
  const host = document.getElementById("app")!;
  addEventListener("error", (e) => fail(host, `This page failed: ${e.message}`));
  let data: unknown;
  try {
    data = JSON.parse(document.getElementById("talus-data")!.textContent!);
  } catch (e) {
    fail(host, `This page has no data that can be read: ${(e as Error).message}`);
    return;
  }
  new App(readReport(data), host).start();
  root.dataset.ready = "1";
}

main();

// Tables that sort by a click on the head of a column, scroll in a box of their own, and give CSV.

import { download, htmlElement } from "../../look/dom";
import { fileName } from "../../look/format";
import { csv } from "./format";

export interface TableColumn<Row> {
  key: string;
  head: string;
  unit?: string;
  group?: string; // heads that follow one another with the same group get a common one above
  title?: string;
  value: (row: Row) => number | string; // for sorting and CSV; NaN and "" come last
  show?: (row: Row) => Node | string; // for the eye; the value where absent
  compare?: (a: Row, b: Row) => number; // where the value alone does not order
  best?: boolean; // the lowest value stands out
  prose?: boolean; // long texts, which take several lines
}

export interface Sort {
  key: string;
  down: boolean;
}

export interface TableSpec<Row> {
  title: string;
  columns: TableColumn<Row>[];
  rows: Row[];
  sort?: Sort; // until the reader chooses another
  rowClass?: (row: Row) => string;
}

// Of style.css, on paper: left and right padding of a cell, and the size of letters, in pixels.
const PRINT_PADDING = 6, PRINT_SIZE = 6.8 * (96 / 72);

const missing = (v: number | string): boolean => v === "" || (typeof v === "number" && Number.isNaN(v));

function compare<Row>(column: TableColumn<Row>, down: boolean): (a: Row, b: Row) => number {
  const sign = down ? -1 : 1;
  return (a, b) => {
    const x = column.value(a), y = column.value(b);
    if (missing(x) !== missing(y)) return missing(x) ? 1 : -1;
    if (column.compare) return sign * column.compare(a, b);
    if (missing(x)) return 0;
    if (typeof x === "number" && typeof y === "number") return sign * (x - y);
    return sign * String(x).localeCompare(String(y), "en", { numeric: true });
  };
}

export class Table<Row> {
  readonly node = htmlElement("div", { class: "table" });
  private box = htmlElement("div");
  private spec!: TableSpec<Row>;
  private sort: Sort | undefined;
  private chosen: Sort | undefined;

  // `sorted`: the reader has chosen another order.
  constructor(private sorted: () => void = () => {}) {
    new ResizeObserver(() => this.hint()).observe(this.node);
  }

  show(spec: TableSpec<Row>): void {
    this.spec = spec;
    this.sort = spec.columns.some((c) => c.key === this.chosen?.key) ? this.chosen : spec.sort;
    this.render();
  }

  csv(): string {
    const { columns } = this.spec;
    const head = columns.map((c) => [c.group, c.head, c.unit].filter(Boolean).join(" "));
    return csv([head, ...this.ordered().map((r) => columns.map((c) => c.value(r)))]);
  }

  saveCsv(): void {
    download(fileName(this.spec.title) + ".csv", "text/csv", this.csv());
  }

  // The rows as they stand.
  ordered(): Row[] {
    const column = this.spec.columns.find((c) => c.key === this.sort?.key);
    return column ? [...this.spec.rows].sort(compare(column, this.sort!.down)) : this.spec.rows;
  }

  private order(key: string): void {
    this.sort = this.chosen = { key, down: this.sort?.key === key ? !this.sort.down : false };
    this.render();
    this.sorted();
    this.node.querySelector<HTMLElement>(`th[data-key="${CSS.escape(key)}"] button`)?.focus();
  }

  private groupRow(): HTMLElement | null {
    const { columns } = this.spec;
    if (!columns.some((c) => c.group)) return null;
    const cells: HTMLElement[] = [];
    for (let i = 0; i < columns.length; ) {
      let j = i + 1;
      while (j < columns.length && columns[j]!.group === columns[i]!.group) j++;
      cells.push(htmlElement("th", { colspan: j - i, scope: "colgroup", class: columns[i]!.group ? "group" : null }, columns[i]!.group ?? ""));
      i = j;
    }
    return htmlElement("tr", {}, ...cells);
  }

  private headRow(texts: Set<string>): HTMLElement {
    return htmlElement("tr", {}, ...this.spec.columns.map((c) => {
      const order = this.sort?.key === c.key ? (this.sort.down ? "descending" : "ascending") : null;
      return htmlElement("th", { scope: "col", "data-key": c.key, "aria-sort": order, class: texts.has(c.key) ? "text" : null },
        htmlElement("button", { type: "button", title: c.title, click: () => this.order(c.key) },
          c.head, c.unit ? htmlElement("small", {}, ` ${c.unit}`) : null));
    }));
  }

  private render(): void {
    const { columns, rows, rowClass } = this.spec;
    const texts = new Set(columns.filter((c) => rows.some((r) => typeof c.value(r) === "string")).map((c) => c.key));
    const lowest = new Map<string, number>();
    for (const c of columns)
      if (c.best) lowest.set(c.key, Math.min(...rows.map((r) => c.value(r) as number).filter((v) => !Number.isNaN(v))));
    const body = this.ordered().map((r) => htmlElement("tr", { class: rowClass?.(r) || null }, ...columns.map((c, i) => {
      const value = c.value(r), text = texts.has(c.key);
      const shown = c.show ? c.show(r) : typeof value === "number" && Number.isNaN(value) ? "" : String(value);
      const best = rows.length > 1 && lowest.get(c.key) === value;
      return htmlElement(i === 0 ? "th" : "td", { scope: i === 0 ? "row" : null, class: [text && "text", c.prose && "prose", best && "best"].filter(Boolean).join(" ") || null }, shown);
    })));
    const scroll = this.box.scrollLeft;
    this.box = htmlElement("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": this.spec.title, scroll: () => this.hint() },
      htmlElement("table", {}, htmlElement("thead", {}, this.groupRow(), this.headRow(texts)), htmlElement("tbody", {}, ...body)));
    this.node.replaceChildren(this.box);
    this.box.scrollLeft = scroll;
    this.hint();
  }

  // Paper does not scroll: a table too wide for it is drawn smaller. `paper`: its width in pixels.
  forPrint(paper: number): void {
    const table = this.box.querySelector("table"), cell = table?.querySelector("td");
    if (!table || !cell) return;
    table.classList.add("narrowest");
    const here = getComputedStyle(cell), columns = this.spec.columns.length;
    const padding = parseFloat(here.paddingLeft) + parseFloat(here.paddingRight);
    const letters = (table.offsetWidth - columns * padding) * (PRINT_SIZE / parseFloat(here.fontSize));
    table.classList.remove("narrowest");
    const width = letters + columns * PRINT_PADDING;
    this.node.style.setProperty("--fit", String(Math.min(1, paper / width)));
  }

  // A shadow on the side where there is more.
  private hint(): void {
    const { scrollLeft, scrollWidth, clientWidth } = this.box;
    this.node.classList.toggle("more-left", scrollLeft > 1);
    this.node.classList.toggle("more-right", scrollLeft + clientWidth < scrollWidth - 1);
  }
}

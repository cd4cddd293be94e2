// What each step was like, as columns that grow.

const COLUMNS = ["time", "kinetic", "potential", "contacts", "bodies", "residual", "tolerance", "iterations", "penetration", "missed",
  "overlap_mean", "overlap_p99", "overlap_max"] as const;
export type Column = (typeof COLUMNS)[number];

// As it comes in the page and from the server: null where a value is not finite.
export type StepsJson = { rows: number } & Partial<Record<Column, (number | null)[] | null>>;

export interface StepsTable extends Record<Column, Float64Array> {}
export class StepsTable {
  rows = 0;
  #room = new Map<Column, Float64Array>();

  constructor() {
    this.clear();
  }

  clear(): void {
    this.rows = 0;
    for (const c of COLUMNS) this.#room.set(c, new Float64Array(0));
    this.#publish();
  }

  append(json: StepsJson): void {
    const more = Number.isInteger(json.rows) && json.rows > 0 ? json.rows : 0, rows = this.rows + more;
    for (const c of COLUMNS) {
      let room = this.#room.get(c)!;
      if (room.length < rows) {
        const larger = new Float64Array(Math.max(rows, 2 * room.length));
        larger.set(room.subarray(0, this.rows));
        this.#room.set(c, (room = larger));
      }
      const values = json[c] ?? [];
      for (let k = 0; k < more; k++) room[this.rows + k] = values[k] ?? NaN;
    }
    this.rows = rows;
    this.#publish();
  }

  #publish(): void {
    for (const c of COLUMNS) this[c] = this.#room.get(c)!.subarray(0, this.rows);
  }
}

// Which rank of a run on several computed which bodies, by ranks.csv (docs/reference/output.md): all rows of one time
// hold until the next ones.

export const NO_RANK = -1;

// Bodies first[k] to last[k] were of rank[k]; ascending.
interface Owners { time: number; first: number[]; last: number[]; rank: number[] }

export class OwnersTable {
  bytes = 0; // of the file that have been read
  #at: Owners[] = [];
  #rest = ""; // of a line

  get known(): boolean {
    return this.#at.length > 0;
  }

  clear(): void {
    this.bytes = 0;
    this.#at = [];
    this.#rest = "";
  }

  // The next bytes of the file.
  append(bytes: Uint8Array): void {
    this.bytes += bytes.length;
    const lines = (this.#rest + new TextDecoder().decode(bytes)).split("\n");
    this.#rest = lines.pop()!;
    for (const line of lines) {
      const [time, , rank, first, last] = line.split(",").map(Number) as [number, number, number, number, number];
      if (!Number.isFinite(time) || !Number.isFinite(last)) continue; // the first line names the columns
      if (this.#at.at(-1)?.time !== time) this.#at.push({ time, first: [], last: [], rank: [] });
      const now = this.#at.at(-1)!;
      now.first.push(first);
      now.last.push(last);
      now.rank.push(rank);
    }
  }

  // Writes the rank of each of the bodies at a time, NO_RANK where it is not known.
  ranks(time: number, id: Float64Array, count: number): Int32Array {
    const out = new Int32Array(count).fill(NO_RANK);
    const now = this.#at.filter((o) => o.time <= time).at(-1);
    if (!now) return out;
    for (let i = 0; i < count; i++) {
      let low = 0, high = now.first.length; // the last range that begins at or before the body lies in low..high
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (now.first[middle]! <= id[i]!) low = middle;
        else high = middle;
      }
      if (now.first[low]! <= id[i]! && id[i]! <= now.last[low]!) out[i] = now.rank[low]!;
    }
    return out;
  }
}

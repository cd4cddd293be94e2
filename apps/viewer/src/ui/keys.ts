// The keyboard. Controls keep the keys that are theirs.

const TEXT = new Set(["number", "text", "search"]);
const MOVES = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"]);

function taken(e: KeyboardEvent): boolean {
  const target = e.target;
  if (target instanceof HTMLSelectElement) return true;
  if (target instanceof HTMLInputElement) {
    if (TEXT.has(target.type)) return true;
    if (target.type === "range" && target.closest(".slider")) return false; // the time slider's moves are ours
    return target.type === "checkbox" ? e.key === " " : MOVES.has(e.key);
  }
  return (target instanceof HTMLButtonElement || (target instanceof Element && target.tagName === "SUMMARY")) && (e.key === " " || e.key === "Enter");
}

export function listen(bindings: ReadonlyMap<string, (shift: boolean) => void>, silent: () => boolean): void {
  addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented || taken(e) || silent()) return;
    const act = bindings.get(e.key.length === 1 ? e.key.toLowerCase() : e.key);
    if (!act) return;
    e.preventDefault();
    act(e.shiftKey);
  });
}

// Where the triangles of a surface without edges are cut by the three planes through the body's origin: lines that show
// the form of what is round.

export function sections(position: Float32Array, triangles: Uint32Array): Float32Array {
  const out: number[] = [], at = (v: number, c: number): number => position[3 * v + c]!;
  for (let axis = 0; axis < 3; axis++) {
    for (let k = 0; k < triangles.length; k += 3) {
      const corners = [triangles[k]!, triangles[k + 1]!, triangles[k + 2]!], ends: number[] = [];
      corners.forEach((a, i) => {
        const b = corners[(i + 1) % 3]!, da = at(a, axis), db = at(b, axis);
        if (da >= 0 === db >= 0) return;
        for (let c = 0; c < 3; c++) ends.push(at(a, c) + (at(b, c) - at(a, c)) * (da / (da - db)));
      });
      if (ends.length === 6) out.push(...ends);
    }
  }
  return new Float32Array(out);
}

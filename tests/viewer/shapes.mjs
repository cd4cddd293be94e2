// Figures of made-up shapes, as a head of frames carries them: coarse, with flat facets. docs/reference/frames.md.

// The figure of { kind, half, radius, half_height, profile, parts, columns, rows, spacing, height, vertex, triangle }; a page
// may be given the text of this function.
export function figure(def, n = 48) {
  const triangles = [], lines = [];
  const ring = (r, h) => Array.from({ length: n }, (_, k) => [r * Math.cos((2 * Math.PI * k) / n), r * Math.sin((2 * Math.PI * k) / n), h]);
  const quad = (a, b, c, d) => triangles.push([a, b, c], [a, c, d]);
  const turned = (profile, rims) => {
    for (let j = 0; j + 1 < profile.length; j++) {
      const low = ring(...profile[j]), high = ring(...profile[j + 1]);
      low.forEach((_, k) => quad(low[k], low[(k + 1) % n], high[(k + 1) % n], high[k]));
    }
    for (const [r, h] of rims) if (r > 0) ring(r, h).forEach((p, k, all) => lines.push(p, all[(k + 1) % n]));
  };
  const arc = (rx, rz, at = 0, from = 0, to = 1) => Array.from({ length: 13 }, (_, k) => {
    const a = Math.PI * (from + ((to - from) * k) / 12);
    return [k === 0 && from === 0 ? 0 : k === 12 && to === 1 ? 0 : rx * Math.sin(a), at - rz * Math.cos(a)];
  });
  const box = ([x, y, z], shift = 0) => {
    const corner = (k) => [(k & 1 ? x : -x) + shift, k & 2 ? y : -y, k & 4 ? z : -z];
    for (const face of [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]) quad(...face.map(corner));
    for (let k = 0; k < 8; k++) for (const bit of [1, 2, 4]) if (!(k & bit)) lines.push(corner(k), corner(k | bit));
  };
  const { kind, radius: r, half_height: h } = def;
  const drawn = { sphere: "sphere", plane: "half space", revolve: "vessel", mesh: "sheet", field: "ground" }[kind] ?? "solid";
  if (kind === "box" || kind === "hull") box(def.half);
  if (kind === "cylinder") turned([[0, -h], [r, -h], [r, h], [0, h]], [[r, -h], [r, h]]);
  if (kind === "cone") turned([[0, -0.5 * h], [r, -0.5 * h], [0, 1.5 * h]], [[r, -0.5 * h]]);
  if (kind === "capsule") turned([...arc(r, r, -h, 0, 0.5), ...arc(r, r, h, 0.5, 1)], []);
  if (kind === "revolve") turned(def.profile, def.profile);
  if (kind === "ellipsoid") {
    turned(arc(1, 1), []);
    triangles.forEach((t, k) => (triangles[k] = t.map((p) => p.map((v, c) => v * def.half[c]))));
  }
  for (const part of def.parts ?? []) {
    const first = triangles.length;
    if (part.half) box(part.half, part.at);
    else turned(arc(part.radius, part.radius), []);
    if (!part.half) for (let k = first; k < triangles.length; k++) triangles[k] = triangles[k].map(([x, y, z]) => [x + part.at, y, z]);
  }
  if (kind === "field") {
    const at = (c, row) => [(c - 0.5 * (def.columns - 1)) * def.spacing, (row - 0.5 * (def.rows - 1)) * def.spacing, def.height[row * def.columns + c]];
    for (let row = 0; row + 1 < def.rows; row++) for (let c = 0; c + 1 < def.columns; c++) quad(at(c, row), at(c + 1, row), at(c + 1, row + 1), at(c, row + 1));
  }
  if (kind === "mesh") for (let k = 0; k < def.triangle.length; k += 3) triangles.push([0, 1, 2].map((i) => Array.from(def.vertex.slice(3 * def.triangle[k + i], 3 * def.triangle[k + i] + 3))));
  const sub = (a, b) => a.map((v, k) => v - b[k]), cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const solid = triangles.map((t) => [t, cross(sub(t[1], t[0]), sub(t[2], t[0]))]).filter(([, m]) => Math.hypot(...m) > 1e-12);
  const normal = solid.flatMap(([, m]) => [m, m, m].flat().map((v) => v / Math.hypot(...m)));
  const surface = { position: Float32Array.from(solid.flatMap(([t]) => t.flat())), normal: Float32Array.from(normal), triangles: Uint32Array.from({ length: 3 * solid.length }, (_, k) => k), lines: Float32Array.from(lines.flat()) };
  return { kind, drawn, levels: drawn === "sphere" || drawn === "half space" ? [] : [surface] };
}

// The payload of a HEAD: JSON, a zero or more up to a multiple of 8 bytes, arrays. `array(name, type, components, values)`
// makes one of these. Ends of lines are vertices of their own.
export function headPayload(head, array) {
  const figures = head.shapes.map((s) => figure(s)), levels = figures.flatMap((f) => f.levels);
  const sizes = (s) => [(s.position.length + s.lines.length) / 3, s.triangles.length / 3, s.lines.length / 6, 1];
  const shapes = head.shapes.map((s, k) => ({ ...s, drawn: figures[k].drawn, levels: figures[k].levels.map((l) => (figures[k].drawn === "solid" ? sizes(l) : [...sizes(l).slice(0, 3), 0])) }));
  const text = Buffer.from(JSON.stringify({ ...head, shapes })), pieces = figures.filter((f) => f.drawn === "solid").flatMap((f) => f.levels);
  const all = (of) => levels.flatMap((s) => Array.from(of(s)));
  const arrays = levels.length === 0 ? [] : [
    array(19, "f32", 3, all((s) => [...s.position, ...s.lines])),
    array(20, "integer", 3, all((s) => [...s.normal, ...s.lines.map(() => 0)].map((v) => Math.round(32767 * v)))),
    array(21, "integer", 3, all((s) => s.triangles)),
    array(22, "integer", 2, all((s) => Array.from({ length: s.lines.length / 3 }, (_, k) => s.position.length / 3 + k))),
    ...(pieces.length > 0 ? [array(23, "integer", 1, pieces.map((s) => s.triangles.length / 3))] : []),
  ];
  return Buffer.concat([text, Buffer.alloc(8 - (text.length % 8)), ...arrays]);
}

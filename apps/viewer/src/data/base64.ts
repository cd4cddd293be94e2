// The bytes of a base64 text, piece by piece, so that a page of many megabytes stays alive meanwhile.

import { breathe } from "./arrays";

const PIECE = 1 << 20; // characters; a multiple of 4

export async function fromBase64(text: string): Promise<Uint8Array> {
  const clean = /\s/.test(text) ? text.replace(/\s+/g, "") : text;
  const padding = clean.endsWith("==") ? 2 : clean.endsWith("=") ? 1 : 0;
  if (clean.length % 4 !== 0) throw new Error("the frames in this page are cut off: their base64 text has an odd length");
  const bytes = new Uint8Array((clean.length / 4) * 3 - padding);
  for (let at = 0, to = 0; at < clean.length; at += PIECE) {
    let piece: string;
    try {
      piece = atob(clean.slice(at, at + PIECE));
    } catch {
      throw new Error("the frames in this page are damaged: they are not base64");
    }
    for (let k = 0; k < piece.length; k++) bytes[to++] = piece.charCodeAt(k);
    await breathe();
  }
  return bytes;
}

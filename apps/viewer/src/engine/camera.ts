// A camera that goes round a point, and the mouse and fingers that move it.

import { PerspectiveCamera, Vector3 } from "three";
import type { Vec3 } from "../types";
import { FIELD_OF_VIEW, MARGIN } from "./palette";
import { add, along, centre, corners, cross, direction, dot, frameAbout, scale, sub, type Box, type Frame3 } from "./vector";

const TAN = Math.tan((FIELD_OF_VIEW * Math.PI) / 360);

export interface Ray { from: Vec3; way: Vec3 } // way has length 1

export class Orbit {
  target: Vec3 = [0, 0, 0];
  distance = 10;
  azimuth = 0;   // degrees
  elevation = 0;
  axes: Frame3 = frameAbout([0, 0, -1]);
  nearest = 1e-3; // distance that zooming stops at
  farthest = 1e6;
  width = 1;  // CSS pixels
  height = 1;

  get back(): Vec3 {
    return direction(this.axes, this.azimuth, this.elevation);
  }
  get right(): Vec3 {
    return direction(this.axes, this.azimuth + 90, 0);
  }
  get up(): Vec3 {
    return cross(this.back, this.right);
  }
  get eye(): Vec3 {
    return along(this.target, this.back, this.distance);
  }
  get pixel(): number { // size of a CSS pixel at distance 1
    return (2 * TAN) / this.height;
  }

  turn(dx: number, dy: number): void {
    this.azimuth = (((this.azimuth - dx * 0.35) % 360) + 540) % 360 - 180;
    this.elevation = Math.min(90, Math.max(-90, this.elevation + dy * 0.35));
  }

  pan(dx: number, dy: number): void {
    const s = this.pixel * this.distance;
    this.target = along(along(this.target, this.right, -dx * s), this.up, dy * s);
  }

  // What is under (x, y) at the target's distance stays there.
  zoom(factor: number, x: number, y: number): void {
    const distance = Math.min(this.farthest, Math.max(this.nearest, this.distance * factor));
    const s = this.pixel * (this.distance - distance);
    this.target = along(along(this.target, this.right, (x - this.width / 2) * s), this.up, (this.height / 2 - y) * s);
    this.distance = distance;
  }

  // The corners of the box fill the picture as far as they can from this direction. For each side of the picture
  // the corner that presses hardest decides; the two sides of an axis together give distance and target.
  fit(box: Box): void {
    const side = Math.min(this.width, this.height), c = centre(box);
    const ky = TAN * (1 - (2 * MARGIN * side) / this.height), kx = (TAN * this.width * (1 - (2 * MARGIN * side) / this.width)) / this.height;
    const most = (axis: Vec3, k: number): number => Math.max(...corners(box).map((p) => dot(sub(p, c), axis) + k * dot(sub(p, c), this.back)));
    const { right, up } = this;
    const r = most(right, kx), l = most(scale(right, -1), kx), t = most(up, ky), b = most(scale(up, -1), ky);
    this.distance = Math.max((r + l) / (2 * kx), (t + b) / (2 * ky), this.nearest);
    this.target = along(along(c, right, (r - l) / 2), up, (t - b) / 2);
  }

  rayAt(x: number, y: number): Ray {
    const s = this.pixel;
    const d = add(add(scale(this.back, -1), scale(this.right, (x - this.width / 2) * s)), scale(this.up, (this.height / 2 - y) * s));
    return { from: this.eye, way: scale(d, 1 / Math.hypot(...d)) };
  }

  apply(camera: PerspectiveCamera, near: number, far: number): void {
    camera.fov = FIELD_OF_VIEW;
    camera.aspect = this.width / this.height;
    camera.near = near;
    camera.far = far;
    camera.updateProjectionMatrix();
    camera.matrixWorld.makeBasis(new Vector3(...this.right), new Vector3(...this.up), new Vector3(...this.back)).setPosition(...this.eye);
    camera.matrixWorldInverse.copy(camera.matrixWorld).invert();
  }
}

const LINGER = 90; // ms over which a turn dies away after the mouse has let go

export class Controls {
  #pointers = new Map<number, { x: number; y: number }>();
  #panning = false;
  #speed = { x: 0, y: 0 }; // pixels per ms
  #last = 0;
  #coasting = 0;

  constructor(private canvas: HTMLCanvasElement, private orbit: Orbit, private moved: () => void) {
    canvas.style.touchAction = "none";
    const on = <K extends keyof HTMLElementEventMap>(name: K, handler: (e: HTMLElementEventMap[K]) => void): void =>
      canvas.addEventListener(name, handler, { passive: false });
    on("pointerdown", (e) => this.#down(e));
    on("pointermove", (e) => this.#move(e));
    on("pointerup", (e) => this.#up(e));
    on("pointercancel", (e) => this.#up(e));
    on("wheel", (e) => this.#wheel(e));
    on("contextmenu", (e) => e.preventDefault());
  }

  #place(e: MouseEvent): { x: number; y: number } {
    const box = this.canvas.getBoundingClientRect();
    return { x: e.clientX - box.left, y: e.clientY - box.top };
  }

  #down(e: PointerEvent): void {
    this.canvas.setPointerCapture(e.pointerId);
    this.#pointers.set(e.pointerId, this.#place(e));
    this.#panning = e.button !== 0 || e.shiftKey || e.ctrlKey || e.metaKey;
    this.#speed = { x: 0, y: 0 };
    cancelAnimationFrame(this.#coasting);
  }

  #move(e: PointerEvent): void {
    const before = this.#pointers.get(e.pointerId), now = this.#place(e);
    if (!before) return;
    const dx = now.x - before.x, dy = now.y - before.y;
    if (dx === 0 && dy === 0) return;
    const others = [...this.#pointers].filter(([id]) => id !== e.pointerId).map(([, p]) => p);
    this.#pointers.set(e.pointerId, now);
    if (others.length > 1) return;
    const other = others[0];
    if (other) {
      // Two fingers: their middle pans, their distance zooms.
      const apart = (p: { x: number; y: number }): number => Math.max(10, Math.hypot(p.x - other.x, p.y - other.y));
      this.orbit.pan(dx / 2, dy / 2);
      this.orbit.zoom(apart(before) / apart(now), (now.x + other.x) / 2, (now.y + other.y) / 2);
    } else if (this.#panning) {
      this.orbit.pan(dx, dy);
    } else {
      this.orbit.turn(dx, dy);
      const ms = Math.min(100, Math.max(4, e.timeStamp - this.#last));
      this.#speed = { x: 0.6 * this.#speed.x + 0.4 * (dx / ms), y: 0.6 * this.#speed.y + 0.4 * (dy / ms) };
    }
    this.#last = e.timeStamp;
    this.moved();
  }

  #up(e: PointerEvent): void {
    if (!this.#pointers.delete(e.pointerId)) return;
    const fast = Math.hypot(this.#speed.x, this.#speed.y) > 0.05 && e.timeStamp - this.#last < 40;
    if (this.#pointers.size === 0 && !this.#panning && fast && !matchMedia("(prefers-reduced-motion: reduce)").matches) this.#coast(performance.now());
  }

  #coast(last: number): void {
    this.#coasting = requestAnimationFrame(() => {
      const now = performance.now(), ms = Math.min(50, now - last), left = Math.exp(-ms / LINGER);
      this.orbit.turn(this.#speed.x * ms, this.#speed.y * ms);
      this.#speed = { x: this.#speed.x * left, y: this.#speed.y * left };
      this.moved();
      if (Math.hypot(this.#speed.x, this.#speed.y) > 0.02) this.#coast(now);
    });
  }

  #wheel(e: WheelEvent): void {
    e.preventDefault();
    const lines = e.deltaMode === 1 ? 33 : e.deltaMode === 2 ? 400 : 1;
    const step = Math.max(-240, Math.min(240, e.deltaY * lines * (e.ctrlKey ? 6 : 1))); // ctrl: a pinch on a touchpad
    const { x, y } = this.#place(e);
    this.orbit.zoom(Math.exp(step * 0.0015), x, y);
    this.moved();
  }
}

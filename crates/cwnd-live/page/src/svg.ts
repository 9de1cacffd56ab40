// Plots as SVG: the planes on the page, and the picture that is taken away.

import { short } from './quantity';
import type { Theme } from './theme';

export interface Axis { label: string; min: number; max: number; log?: boolean }
export interface Curve {
  x: ArrayLike<number>;
  y: ArrayLike<number>;
  colour: string;
  dash?: number[];
  width?: number;
  opacity?: number;
}
export interface Dot { x: number; y: number; colour: string; title: string; hollow?: boolean }
export interface Chart { title?: string; x: Axis; y: Axis; curves: Curve[]; dots?: Dot[]; texts?: { x: number; y: number; text: string }[] }

/** Of areas that curves are clipped to, on one page. */
let clips = 0;

/** A chart of a size in pixels, with colours of a theme. */
export function chart({ title, x, y, curves, dots = [], texts = [] }: Chart, width: number, height: number, theme: Theme): string {
  const [left, right, top, bottom] = [52, 10, title ? 26 : 8, 38];
  const place = ({ min, max, log }: Axis, from: number, to: number) => {
    const of = log ? Math.log10 : (v: number) => v;
    const [low, high] = [of(min), of(max)];
    return (v: number) => from + ((of(v) - low) / (high - low || 1)) * (to - from);
  };
  const [px, py] = [place(x, left, width - right), place(y, height - bottom, top)];
  const parts: string[] = [];
  const font = `font-family="system-ui, 'DejaVu Sans', sans-serif" font-size="11"`;
  for (const tick of ticks(x)) {
    const at = px(tick).toFixed(1);
    parts.push(`<path d="M${at} ${top}V${height - bottom}" stroke="${theme.grid}"/>`);
    parts.push(`<text x="${at}" y="${height - bottom + 15}" text-anchor="middle" fill="${theme.muted}">${label(tick, x)}</text>`);
  }
  for (const tick of ticks(y)) {
    const at = py(tick).toFixed(1);
    parts.push(`<path d="M${left} ${at}H${width - right}" stroke="${theme.grid}"/>`);
    parts.push(`<text x="${left - 6}" y="${at}" dy="4" text-anchor="end" fill="${theme.muted}">${label(tick, y)}</text>`);
  }
  clips += 1;
  parts.push(`<clipPath id="clip-${clips}"><rect x="${left - 2}" y="${top - 2}" width="${width - left - right + 4}" height="${height - top - bottom + 4}"/></clipPath><g clip-path="url(#clip-${clips})">`);
  for (const { x: xs, y: ys, colour, dash = [], width: stroke = 1.6, opacity = 1 } of curves) {
    let d = '';
    let pen = false;
    for (let i = 0; i < xs.length; i += 1) {
      const [a, b] = [px(xs[i]!), py(ys[i]!)];
      if (Number.isFinite(a) && Number.isFinite(b)) d += `${pen ? 'L' : 'M'}${a.toFixed(1)} ${b.toFixed(1)}`;
      pen = Number.isFinite(a) && Number.isFinite(b);
    }
    const dashes = dash.length > 0 ? ` stroke-dasharray="${dash.join(' ')}"` : '';
    parts.push(`<path d="${d}" fill="none" stroke="${colour}" stroke-width="${stroke}" stroke-opacity="${opacity}" stroke-linejoin="round"${dashes}/>`);
  }
  for (const { x: cx, y: cy, colour, title: name, hollow } of dots) {
    const [a, b] = [px(cx), py(cy)];
    if (!Number.isFinite(a) || !Number.isFinite(b)) continue;
    const fill = hollow ? theme.back : colour;
    parts.push(`<circle cx="${a.toFixed(1)}" cy="${b.toFixed(1)}" r="4.5" fill="${fill}" stroke="${hollow ? colour : theme.back}" stroke-width="1.5"><title>${escape(name)}</title></circle>`);
  }
  parts.push('</g>');
  for (const { x: at, y: up, text } of texts) {
    parts.push(`<text x="${px(at).toFixed(1)}" y="${py(up).toFixed(1)}" dx="-4" dy="-5" text-anchor="end" fill="${theme.muted}">${escape(text)}</text>`);
  }
  parts.push(`<text x="${(left + width - right) / 2}" y="${height - 6}" text-anchor="middle" fill="${theme.text}">${escape(x.label)}</text>`);
  parts.push(`<text transform="translate(12 ${(top + height - bottom) / 2}) rotate(-90)" text-anchor="middle" fill="${theme.text}">${escape(y.label)}</text>`);
  if (title) parts.push(`<text x="${left}" y="15" font-weight="600" fill="${theme.text}">${escape(title)}</text>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escape(`${y.label} against ${x.label}`)}" ${font}>${parts.join('')}</svg>`;
}

/** A name, of which one of more than `most` letters loses its middle. */
export function brief(name: string, most: number): string {
  const letters = [...name];
  return letters.length <= most ? name : `${letters.slice(0, most / 2).join('')}…${letters.slice(1 - most / 2).join('')}`;
}

/** Round numbers of an axis. */
export function ticks({ min, max, log }: Axis, about = 5): number[] {
  if (log) {
    const [low, high] = [Math.ceil(Math.log10(min) - 1e-9), Math.floor(Math.log10(max) + 1e-9)];
    const step = Math.max(1, Math.ceil((high - low) / 6));
    return Array.from({ length: Math.floor((high - low) / step) + 1 }, (_, k) => 10 ** (low + k * step));
  }
  const rough = (max - min) / about || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough) ?? rough;
  const list = [];
  for (let tick = Math.ceil(min / step) * step; tick <= max + step * 1e-9; tick += step) list.push(tick);
  return list;
}

function label(value: number, { log }: Axis): string {
  if (log && (value < 0.01 || value >= 1e4)) {
    const digits = String(Math.round(Math.log10(value))).replace('-', '−');
    return `10<tspan dy="-4" font-size="8">${digits}</tspan>`;
  }
  return short(value, 6);
}

export function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

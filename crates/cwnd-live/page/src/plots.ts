// The plots over time: uPlot with one cursor over all of them.

import uPlot from 'uplot';
import type { Line, Recorded, Results, Happened } from './model';
import { column, instants } from './model';
import type { Theme } from './theme';

interface Trace { y: Float32Array | null[]; colour: string; dash: number[]; width: number; fill?: string }
interface Kind {
  id: string;
  traces: (results: Results, all: Line[], colour: (line: Line) => string, theme: Theme, recordings: Recorded[]) => Trace[];
  /** What is drawn over the curves. */
  over?: (plot: uPlot, results: Results, all: Line[], events: Happened[], colour: (line: Line) => string, theme: Theme) => void;
}

const FEW = 6;

const KINDS: Kind[] = [
  {
    id: 'window',
    traces: (results, all, colour, theme, recordings) => [
      ...recordings.flatMap(({ window, dash }) => trace(window, theme.text, dash, 1.4)),
      ...(all.length <= FEW ? all.flatMap((line) => trace(column(results, line, 'ssthresh'), colour(line) + '77', [2, 3], 1)) : []),
      ...all.flatMap((line) => trace(column(results, line, 'window'), colour(line), line.dash, 1.7)),
    ],
    over: (plot, _results, all, events, colour, theme) => {
      const { ctx, bbox } = plot;
      const unit = devicePixelRatio;
      // Cuts by marks may come every round trip: where there are many, they say nothing that the curve does not.
      const many = events.filter(({ what }) => what === 'cut').length > 80;
      events.forEach(({ t, until, line, what }) => {
        if (many && what === 'cut') return;
        const x = plot.valToPos(t, 'x', true);
        if (x < bbox.left || x > bbox.left + bbox.width) return;
        const y = bbox.top + (4 + 7 * (line % FEW)) * unit;
        ctx.fillStyle = ctx.strokeStyle = what === 'timeout' ? theme.drop : colour(all[line]!);
        if (until > t) {
          const end = Math.min(plot.valToPos(until, 'x', true), bbox.left + bbox.width);
          ctx.fillRect(x, y - 3 * unit, end - x, unit);
        }
        ctx.beginPath();
        if (what === 'timeout') {
          ctx.lineWidth = 1.8 * unit;
          for (const side of [-1, 1]) {
            ctx.moveTo(x - 3.5 * unit, y - side * 3.5 * unit);
            ctx.lineTo(x + 3.5 * unit, y + side * 3.5 * unit);
          }
          ctx.stroke();
        } else if (what === 'loss' || what === 'cut') {
          ctx.moveTo(x - 3.5 * unit, y - 3 * unit);
          ctx.lineTo(x + 3.5 * unit, y - 3 * unit);
          ctx.lineTo(x, y + 3 * unit);
          ctx.closePath();
          if (what === 'loss') ctx.fill();
          else { ctx.lineWidth = unit; ctx.stroke(); }
        } else {
          ctx.fillRect(x - 0.5 * unit, y - 3 * unit, unit, 6 * unit);
        }
      });
    },
  },
  {
    id: 'rate',
    traces: (results, all, colour, theme, recordings) => [
      ...recordings.flatMap(({ goodput, dash }) => trace(goodput, theme.text, dash, 1.4)),
      ...trace(bounds(results, all), theme.muted, [4, 4], 1),
      ...(all.length <= FEW ? all.flatMap((line) => trace(column(results, line, 'rate'), colour(line) + '44', [], 1)) : []),
      ...all.flatMap((line) => trace(column(results, line, 'goodput'), colour(line), line.dash, 1.7)),
    ],
  },
  {
    id: 'queue',
    traces: (results, all, colour, theme) => results.runs.flatMap((run, index) => {
      const line = all.find((one) => one.run === index);
      const own = results.runs.length > 1 && line ? colour(line) : theme.link;
      return trace(run?.columns.get('queue'), own, line && results.runs.length > 1 ? line.dash : [], 1.4, results.runs.length > 1 ? undefined : own + '22');
    }),
    over: (plot, results, _all, _events, _colour, theme) => {
      const { ctx, bbox } = plot;
      const unit = devicePixelRatio;
      for (const run of results.runs) {
        const t = run?.columns.get('t');
        for (const [name, tone, top] of [['drops', theme.drop, 0], ['marks', theme.mark, 7]] as const) {
          const counts = run?.columns.get(name);
          if (!t || !counts) continue;
          ctx.strokeStyle = tone;
          ctx.lineWidth = 1.5 * unit;
          ctx.beginPath();
          for (let row = 1; row < t.length; row += 1) {
            if (counts[row]! <= counts[row - 1]!) continue;
            const x = plot.valToPos(t[row]!, 'x', true);
            if (x < bbox.left || x > bbox.left + bbox.width) continue;
            ctx.moveTo(x, bbox.top + (1 + top) * unit);
            ctx.lineTo(x, bbox.top + (7 + top) * unit);
          }
          ctx.stroke();
        }
      }
    },
  },
  {
    id: 'rtt',
    traces: (results, all, colour, theme) => [
      ...all.slice(0, FEW).flatMap((line) => {
        const t = results.runs[line.run]?.columns.get('t');
        return t ? trace(new Float32Array(t.length).fill(line.info.base_rtt), theme.muted, [2, 4], 1) : [];
      }),
      ...all.flatMap((line) => trace(column(results, line, 'rtt'), colour(line), line.dash, 1.7)),
    ],
  },
];

function trace(y: Float32Array | undefined, colour: string, dash: number[], width: number, fill?: string): Trace[] {
  return y ? [{ y, colour, dash, width, ...(fill ? { fill } : {}) }] : [];
}

/** All plots over time. */
export class Plots {
  private readonly plots = new Map<string, { plot: uPlot; signature: string }>();
  private results: Results | null = null;
  private all: Line[] = [];
  private events: Happened[] = [];
  private recordings: Recorded[] = [];
  private range: [number, number] = [0, 1];

  constructor(
    private readonly theme: () => Theme,
    private readonly hidden: Set<string>,
    private readonly moved: (row: number | null) => void,
  ) {
    new ResizeObserver(() => this.resize()).observe(document.getElementById('window')!);
  }

  colour = (line: Line): string => (this.theme().dark ? line.info.dark : line.info.light);

  draw(results: Results, all: Line[], events: Happened[], recordings: Recorded[], range: [number, number]): void {
    [this.results, this.all, this.events, this.recordings, this.range] = [results, all, events, recordings, range];
    const drawn = recordings.filter(({ name }) => !this.hidden.has(name));
    const shown = all.filter((line) => !this.hidden.has(line.name));
    const t = instants(results);
    if (!t) return;
    const theme = this.theme();
    for (const kind of KINDS) {
      const traces = kind.traces(results, shown, this.colour, theme, drawn);
      const signature = JSON.stringify([theme.dark, theme.text, traces.map(({ colour, dash, width }) => [colour, dash, width])]);
      const known = this.plots.get(kind.id);
      const data = [t, ...traces.map(({ y }) => filled(y, t.length))] as unknown as uPlot.AlignedData;
      if (known?.signature === signature) {
        known.plot.setData(data, true);
        continue;
      }
      known?.plot.destroy();
      this.plots.set(kind.id, { plot: this.make(kind, traces, data, theme), signature });
    }
  }

  /** Puts the cursor at a row. */
  point(row: number): void {
    const t = this.results && instants(this.results);
    if (!t) return;
    for (const { plot } of this.plots.values()) {
      plot.setCursor({ left: plot.valToPos(t[Math.min(row, t.length - 1)]!, 'x'), top: plot.over.clientHeight / 2 }, false);
    }
  }

  redraw(): void {
    if (this.results) this.draw(this.results, this.all, this.events, this.recordings, this.range);
  }

  private make(kind: Kind, traces: Trace[], data: uPlot.AlignedData, theme: Theme): uPlot {
    const box = document.querySelector<HTMLElement>(`#${kind.id} .plot`)!;
    const axis = { stroke: theme.muted, grid: { stroke: theme.grid, width: 1 }, ticks: { show: false }, font: '11px system-ui, sans-serif' };
    const plot: uPlot = new uPlot(
      {
        ...this.size(box),
        padding: [8, 18, 0, 0],
        legend: { show: false },
        cursor: {
          sync: { key: 'time', setSeries: false }, points: { show: false }, y: false, drag: { x: true, y: false },
        },
        scales: {
          x: { time: false, range: (_self, min, max) => (Number.isFinite(min) && max - min < (this.range[1] - this.range[0]) * 0.999 && plot?.scales['x']?.min !== undefined && this.zoomed ? [min, max] : this.range) },
          y: { range: (_self, _min, max) => [0, roundUp(this.most(plot, max))] },
        },
        axes: [
          { ...axis, size: 24, gap: 6, values: (_self, splits) => splits.map((value) => `${+value.toFixed(3)} s`) },
          { ...axis, size: 46, gap: 3, values: (_self, splits) => splits.map((value) => (value < 1e6 ? value.toLocaleString('en') : value.toExponential())) },
        ],
        series: [{}, ...traces.map(({ colour, dash, width, fill }): uPlot.Series => ({
          stroke: colour, width, points: { show: false }, ...(dash.length > 0 ? { dash } : {}), ...(fill ? { fill } : {}),
        }))],
        hooks: {
          draw: [(self) => {
            if (!kind.over || !this.results) return;
            self.ctx.save();
            const shown = this.events.filter(({ line }) => !this.hidden.has(this.all[line]?.name ?? ''));
            kind.over(self, this.results, this.all, shown, this.colour, this.theme());
            self.ctx.restore();
          }],
          setCursor: [(self) => { if (kind.id === 'window') this.moved(self.cursor.idx ?? null); }],
          setSelect: [(self) => { this.zoomed = self.select.width > 0; }],
        },
      },
      data,
      box,
    );
    plot.over.addEventListener('dblclick', () => { this.zoomed = false; this.redraw(); });
    return plot;
  }

  private zoomed = false;

  /** The largest finite value: thresholds begin at infinity. */
  private most(plot: uPlot | undefined, max: number): number {
    if (Number.isFinite(max) && max < 1e30) return max;
    let most = 0;
    for (const series of plot?.data.slice(1) ?? []) {
      for (const value of series) if (value != null && value < 1e30 && value > most) most = value;
    }
    return most;
  }

  private resize(): void {
    for (const [id, { plot }] of this.plots) plot.setSize(this.size(document.querySelector<HTMLElement>(`#${id} .plot`)!));
  }

  private size(box: HTMLElement): { width: number; height: number } {
    return { width: Math.max(200, box.clientWidth), height: box.clientWidth < 420 ? 170 : 210 };
  }
}

/** The rate of the bottleneck; nothing if it is more than twenty times the largest goodput, which would lie on the axis. */
function bounds(results: Results, all: Line[]): Float32Array | undefined {
  const capacity = results.runs[0]?.columns.get('capacity');
  const most = (columns: (Float32Array | undefined)[]) => columns.reduce((most, values) => values?.reduce((most, value) => (value > most ? value : most), most) ?? most, 0);
  return most([capacity]) > 20 * most(all.map((line) => column(results, line, 'goodput'))) ? undefined : capacity;
}

/** A column as long as that of time: nothing where a run has not come yet. */
function filled(y: Float32Array | null[], length: number): Float32Array | null[] {
  if (y.length === length || !(y instanceof Float32Array)) return y;
  const all = new Float32Array(length).fill(NaN);
  all.set(y.subarray(0, length));
  return all;
}

/** The next of 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8 times a power of ten, so that axes move seldom. */
function roundUp(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((step) => step * power >= value * 1.02) ?? 12) * power;
}

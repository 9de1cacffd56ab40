// What is shown, taken away: data, picture.

import { column, instants, lines, type Line, type Recorded, type Results } from './model';
import { brief, chart, escape, type Axis, type Curve } from './svg';
import type { Theme } from './theme';

export function download(name: string, text: string, type: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** One row for each flow and sampled instant, with the unit in the names of columns. Of recorded flows the window and the goodput are known. */
export function csv(results: Results, recordings: Recorded[]): string {
  const names = [['window', 'window_packets', 1], ['goodput', 'goodput_mbps', 1], ['rate', 'sent_mbps', 1], ['rtt', 'rtt_ms', 1], ['lost', 'lost_packets', 1], ['timeouts', 'timeouts', 1], ['retransmitted', 'retransmitted_packets', 1]] as const;
  const rows = [['run', 'flow', 'algorithm', 'time_s', ...names.map(([, name]) => name), 'queue_packets', 'drops', 'marks'].join(',')];
  for (const line of lines(results)) {
    const columns = results.runs[line.run]!.columns;
    const own = names.map(([name]) => column(results, line, name));
    const shared = ['t', 'queue', 'drops', 'marks'].map((name) => columns.get(name));
    const head = [quote(results.labels[line.run] ?? ''), quote(line.name), quote(line.info.algorithm)].join(',');
    for (let row = 0; row < (shared[0]?.length ?? 0); row += 1) {
      const numbers = [shared[0], ...own, ...shared.slice(1)].map((values) => number(values?.[row]));
      rows.push(`${head},${numbers.join(',')}`);
    }
  }
  const t = instants(results) ?? new Float32Array(0);
  for (const { name, window, goodput } of recordings) {
    t.forEach((at, row) => {
      const known = [at, window[row], goodput[row]].map(number);
      rows.push(['', quote(name), '', ...known, ...Array.from({ length: names.length - 2 + 3 }, () => '')].join(','));
    });
  }
  return rows.join('\r\n') + '\r\n';
}

/** The four plots over time below each other, as one picture. */
export function picture(results: Results, recordings: Recorded[], title: string, colour: (line: Line) => string, theme: Theme): string {
  const all = lines(results);
  const t = results.runs.find((run) => run)?.columns.get('t');
  if (!t) return '';
  const end = t[t.length - 1] ?? 1;
  const [width, height] = [820, 210];
  const of = (name: string): Curve[] => all.flatMap((line) => {
    const y = column(results, line, name);
    return y ? [{ x: results.runs[line.run]!.columns.get('t')!, y, colour: colour(line), dash: line.dash }] : [];
  });
  const whole_t = instants(results) ?? t;
  const recorded = (name: 'window' | 'goodput') => recordings.map((one): Curve => ({ x: whole_t, y: one[name], colour: theme.text, dash: one.dash }));
  const queues = results.runs.flatMap((run): Curve[] => {
    const [x, y] = [run?.columns.get('t'), run?.columns.get('queue')];
    return x && y ? [{ x, y, colour: theme.link }] : [];
  });
  const panels: [string, Curve[]][] = [['Window (packets)', [...recorded('window'), ...of('window')]], ['Goodput (Mbit/s)', [...recorded('goodput'), ...of('goodput')]], ['Queue (packets)', queues], ['Round-trip time (ms)', of('rtt')]];
  const drawn = panels.map(([label, curves], index) => {
    const most = Math.max(1e-9, ...curves.map(({ y }) => largest(y)));
    const x: Axis = { label: 'Time (s)', min: 0, max: end };
    const inner = chart({ ...(index === 0 ? { title } : {}), x, y: { label, min: 0, max: most * 1.05 }, curves }, width, height, theme);
    return `<g transform="translate(0 ${index * height})">${inner}</g>`;
  });
  const keys = [...all.map((line) => ({ name: line.name, dash: line.dash, stroke: colour(line) })), ...recordings.map(({ name, dash }) => ({ name, dash, stroke: theme.text }))];
  const legend = keys.map((line, index) => {
    const at = `${60 + (index % 5) * 150} ${4 * height + 14 + Math.floor(index / 5) * 18}`;
    const dashes = line.dash.length > 0 ? ` stroke-dasharray="${line.dash.join(' ')}"` : '';
    return `<g transform="translate(${at})"><path d="M0 0h22" stroke="${line.stroke}" stroke-width="2"${dashes}/><text x="28" y="4" fill="${theme.text}">${escape(brief(line.name, 20))}<title>${escape(line.name)}</title></text></g>`;
  });
  const whole = 4 * height + 30 + Math.floor((keys.length - 1) / 5) * 18;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${whole}" width="${width}" height="${whole}" font-family="system-ui, 'DejaVu Sans', sans-serif" font-size="11"><rect width="100%" height="100%" fill="${theme.back}"/>${drawn.join('')}${legend.join('')}</svg>`;
}

export function largest(values: ArrayLike<number>): number {
  let most = 0;
  for (let i = 0; i < values.length; i += 1) if (values[i]! > most && values[i]! < 1e30) most = values[i]!;
  return most;
}

function number(value: number | undefined): string {
  return value === undefined || !Number.isFinite(value) ? '' : String(Number(value.toPrecision(7)));
}

function quote(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// Quantities as scenarios write them, for sliders.

const RATES: [string, number][] = [['gbit', 1e9], ['mbit', 1e6], ['kbit', 1e3], ['bit', 1]];
const SPANS: [string, number][] = [['s', 1], ['ms', 1e-3], ['us', 1e-6], ['ns', 1e-9]];

/** A number and its unit, of which `factor` says how much it is: as the server reads it, letter case included. */
function read(text: string, factor: (unit: string) => number | undefined): number | null {
  const [, number, unit = ''] = /^\s*([\d.]+(?:[eE][-+]?\d+)?)\s*([A-Za-zµ/]+)\s*$/.exec(text) ?? [];
  const of = factor(unit);
  return number && of !== undefined && Number.isFinite(Number(number)) ? Number(number) * of : null;
}

/** Bits per second: `b` is a bit, `B` a byte, and a size is no rate. */
function rateFactor(unit: string): number | undefined {
  const bytes = /^([kKMGT]?)B(?:\/s|ps)$/.exec(unit)?.[1];
  const bits = /^([kKmMgGtT]?)(?:[bB][iI][tT]|b)(?:\/s|ps)?$/.exec(unit)?.[1];
  const prefix = bytes ?? bits;
  return prefix === undefined ? undefined : (bytes === undefined ? 1 : 8) * 1e3 ** ['', 'k', 'm', 'g', 't'].indexOf(prefix.toLowerCase());
}

const spanFactor = (unit: string) => [...SPANS, ['µs', 1e-6], ['min', 60], ['h', 3600]].find(([name]) => name === unit)?.[1] as number | undefined;

/** Three digits, without zeros at the end. */
export function short(value: number, digits = 3): string {
  return value === 0 ? '0' : String(Number(value.toPrecision(digits)));
}

function write(value: number, units: [string, number][]): string {
  const unit = units.find(([, factor]) => value >= factor * 0.9995) ?? units[units.length - 1]!;
  return short(value / unit[1]) + unit[0];
}

export const rate = { read: (text: string) => read(text, rateFactor), write: (value: number) => write(value, RATES) };
export const span = { read: (text: string) => read(text, spanFactor), write: (value: number) => write(value, SPANS) };
export const plain = {
  read: (text: string) => (text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : null),
  write: (value: number) => short(value, 2),
};

/** An algorithm with its parameters. */
export interface Spec { name: string; values: [string, string][] }

export function readSpec(text: string): Spec {
  const [name = '', rest] = split(text, ':', 2);
  const values = rest ? split(rest, ',').map((part): [string, string] => {
    const [key = '', value = ''] = split(part, '=', 2);
    return [key.trim(), value.trim()];
  }) : [];
  return { name: name.trim(), values };
}

export function writeSpec({ name, values }: Spec): string {
  const given = values.filter(([, value]) => value.trim() !== '');
  return given.length === 0 ? name : `${name}:${given.map(([key, value]) => `${key}=${value}`).join(',')}`;
}

/** Splits at a character outside brackets, into at most so many parts. */
function split(text: string, at: string, most = Infinity): string[] {
  const parts = [''];
  let depth = 0;
  for (const character of text) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (character === at && depth <= 0 && parts.length < most) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts;
}

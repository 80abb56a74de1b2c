import { InvalidArgumentError } from 'commander';

/** `1,234,567` */
export function formatCount(count: number): string {
  return count.toLocaleString('en');
}

/** Writes `1 event`, `1,234 events`. */
export function formatCounted(count: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : plural}`;
}

/** `a, b and c` */
export function joinWords(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

/** `2026-11-20 07:00`, UTC. */
export function formatMinute(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16).replace('T', ' ');
}

/** Replaces control characters, which a terminal obeys: texts of events come from anybody. Line breaks stay. */
export function toPrintable(text: string): string {
  return text.replace(/(?!\n)[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');
}

/** Formats rows in columns, each as wide as its longest cell, so the longest texts belong into the last one. */
export function formatTable(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const lines = [head, ...rows].map((row) =>
    row.map((cell) => toPrintable(String(cell)).replaceAll('\n', ' ')),
  );
  const widths = head.map((_, i) => Math.max(...lines.map((line) => [...(line[i] ?? '')].length)));
  const pad = (cell: string, i: number) => cell + ' '.repeat((widths[i] ?? 0) - [...cell].length);
  return lines.map((line) => line.map(pad).join('  ').trimEnd()).join('\n');
}

const LINE_EVERY_MS = 5_000;

/**
 * Returns a function that prints progress on standard error, a line every few seconds.
 *
 * @param total the final value of `done`; 0 if unknown
 */
export function createProgress(label: string, total: number): (done: number, note: string) => void {
  let lastMs = Date.now();
  return (done, note) => {
    if (Date.now() - lastMs < LINE_EVERY_MS) return;
    lastMs = Date.now();
    const percent = total > 0 ? ` ${Math.floor((100 * done) / total)}%` : '';
    process.stderr.write(`${label}${percent} ${note}\n`);
  };
}

/** Returns a function that formats a count as a rate since this call, such as `1,500/s`. */
export function createRate(): (count: number) => string {
  const startMs = performance.now();
  return (count) =>
    `${formatCount(Math.round(count / Math.max((performance.now() - startMs) / 1000, 0.001)))}/s`;
}

/** Returns a parser of an option that is an integer within bounds. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

/** Collects an option that may be given many times. */
export function collect(text: string, before: readonly string[] = []): string[] {
  if (text === '') throw new InvalidArgumentError('It must not be empty.');
  return [...before, text];
}

export function parsePair(text: string): [name: string, value: string] {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must be name=value.');
  return [text.slice(0, at), text.slice(at + 1)];
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Converts `90d`, `12h`, `30m` or `45s` to milliseconds; `undefined` for anything else. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d{1,6})([smhd])$/.exec(text);
  const unit = UNITS_MS[match?.[2] ?? ''];
  return unit === undefined ? undefined : Number(match?.[1]) * unit;
}

/** Parses an option that is a duration above 0. */
export function durationOption(text: string): number {
  const ms = parseDuration(text) ?? 0;
  if (ms === 0) throw new InvalidArgumentError('It must be a time such as 90d, 12h or 30m.');
  return ms;
}

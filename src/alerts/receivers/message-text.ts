import type { AlertMessage } from '../outbox.ts';

const STATUS_WORDS = {
  firing: 'firing',
  resolved: 'resolved',
  no_data: 'no data',
  error: 'error',
} as const satisfies Record<AlertMessage['status'], string>;

/** Returns one line, such as `[firing] checkout.errors`. */
export function titleOf({ alert, status, isTest }: AlertMessage): string {
  return `[${isTest === true ? 'test, ' : ''}${STATUS_WORDS[status]}] ${alert}`;
}

/** Returns a line for each of the first instances, such as `path=/orders (failures: 12)`, and how many others there are. */
export function describeInstances({ instances }: AlertMessage, countMax: number): string[] {
  const lines = instances.slice(0, countMax).map(({ labels, values }) => {
    const name = Object.entries(labels).map(([label, value]) => `${label}=${oneLine(value)}`);
    const numbers = Object.entries(values).map(([column, value]) => `${column}: ${oneLine(String(value))}`);
    return [name.join(', '), numbers.length > 0 ? `(${numbers.join(', ')})` : ''].join(' ').trim();
  });
  const others = instances.length - lines.length;
  return others > 0 ? [...lines, `and ${others} more`] : lines;
}

const VALUE_CHARS_MAX = 200;

/** Removes line breaks and other control characters of a row's value and cuts it. */
export function oneLine(text: string, charsMax: number = VALUE_CHARS_MAX): string {
  const line = text.slice(0, charsMax * 2).replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
  return shorten(line, charsMax);
}

/** Cuts a text, with `…` at its end, never within a sign. */
export function shorten(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text.toWellFormed();
  return `${text
    .slice(0, charsMax - 1)
    .toWellFormed()
    .replace(/\uFFFD$/, '')}…`;
}

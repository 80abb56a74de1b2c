import type { EndpointView } from '../../../../src/management/view.ts';
import { fromMicros } from '../../format/time.ts';
import { formatJson, type Row } from './answer.ts';

/** A log entry as the list shows it. */
export interface LogEntry {
  readonly id: string;
  /** Microseconds since the epoch. */
  readonly micros: number;
  readonly message: string;
  readonly metadata: unknown;
  /** HTTP status or level, if the metadata has one. */
  readonly mark: string;
  readonly tone: LogTone;
  /** The text that filters search, in lower case. */
  readonly text: string;
}

export type LogTone = 'neutral' | 'ok' | 'info' | 'warn' | 'bad';

export function toEntry(row: Row): LogEntry {
  const message = String(row['event_message'] ?? '');
  const metadata = row['metadata'];
  const { mark, tone } = findMark(metadata);
  return {
    id: String(row['id']),
    micros: Number(row['timestamp']),
    message,
    metadata,
    mark,
    tone,
    text: `${message}\n${formatJson(metadata, 0) ?? ''}`.toLowerCase(),
  };
}

const LEVELS: readonly (readonly [RegExp, LogTone])[] = [
  [/^(fatal|panic|emerg|alert|crit|err)/i, 'bad'],
  [/^warn/i, 'warn'],
  [/^(info|log|notice)/i, 'info'],
  [/^(debug|trace)/i, 'neutral'],
];

const STATUS_PLACES = [['response', 'status_code'], ['status_code'], ['status'], ['res', 'statusCode']];
const LEVEL_PLACES = [
  ['level'],
  ['severity'],
  ['severity_text'],
  ['error_severity'],
  ['parsed', 'error_severity'],
];

/** The status of a response, else the severity. */
function findMark(metadata: unknown): { mark: string; tone: LogTone } {
  const status = Number(findAt(metadata, STATUS_PLACES));
  if (status >= 100 && status < 600) return { mark: String(status), tone: toneOfStatus(status) };
  const level = findAt(metadata, LEVEL_PLACES);
  if (typeof level !== 'string' || level === '') return { mark: '', tone: 'neutral' };
  return {
    mark: level.toLowerCase(),
    tone: LEVELS.find(([pattern]) => pattern.test(level))?.[1] ?? 'neutral',
  };
}

function toneOfStatus(status: number): LogTone {
  if (status >= 500) return 'bad';
  if (status >= 400) return 'warn';
  return status >= 300 ? 'info' : 'ok';
}

function findAt(value: unknown, places: readonly (readonly string[])[]): unknown {
  for (const place of places) {
    const found = place.reduce<unknown>(memberOf, value);
    if (found !== undefined && found !== null) return found;
  }
  return undefined;
}

/** Logflare's clients wrap objects in lists of one. */
function memberOf(value: unknown, name: string): unknown {
  const object: unknown = Array.isArray(value) ? value[0] : value;
  return typeof object === 'object' && object !== null
    ? (object as Record<string, unknown>)[name]
    : undefined;
}

/** The parameters of the time range: exclusive start, inclusive end (docs/endpoints/logs.all.md). */
export function findBounds({ parameters }: Pick<EndpointView, 'parameters'>): {
  start?: string;
  end?: string;
} {
  const times = parameters.filter(({ control }) => control === 'time').map(({ name }) => name);
  const start = times.find((name) => name.endsWith('start'));
  const end = times.find((name) => name.endsWith('end'));
  return { ...(start !== undefined && { start }), ...(end !== undefined && { end }) };
}

/** Merges entries, newest first, without duplicates; keeps at most `max`. */
export function mergeEntries(
  kept: readonly LogEntry[],
  found: readonly LogEntry[],
  { max, drop }: { readonly max: number; readonly drop: 'oldest' | 'newest' },
): LogEntry[] {
  const known = new Map([...kept, ...found].map((entry) => [entry.id, entry]));
  const all = [...known.values()].sort((a, b) => b.micros - a.micros || (a.id < b.id ? 1 : -1));
  return drop === 'oldest' ? all.slice(0, max) : all.slice(-max);
}

/**
 * The end of the range before the oldest entry shown. More entries of the same microsecond may exist,
 * so it is included, unless the last read found nothing new there.
 */
export function olderThan(oldest: LogEntry, foundNothing: boolean): string {
  return fromMicros(foundNothing ? oldest.micros - 1 : oldest.micros);
}

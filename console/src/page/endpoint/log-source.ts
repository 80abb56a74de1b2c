import type { EndpointView } from '../../../../src/management/view.ts';
import { type Answer, type Row, toAnswer } from '../../api/answer.ts';
import type { Client } from '../../api/client.ts';
import { ownMember } from '../../format/own.ts';
import { fromMicros } from '../../format/time.ts';
import { parseTime } from '../../ui/chart/answer-range.ts';
import { type Line, type Mark, mergeLines, toLine } from '../../ui/lines/line.ts';
import type { LinePage, LineSource, LineTail } from '../../ui/lines/read.ts';
import { queryPath } from './lines.ts';

interface LogOptions {
  readonly endpoint: EndpointView;
  /** Those that gave the answer. */
  readonly values: Readonly<Record<string, string>>;
  /** Its newest page. */
  readonly answer: Pick<Answer, 'rows' | 'next'>;
}

/** The lines of an endpoint, read by its own query with its parameters. Its pages have one length. */
export function createLogSource(client: Client, { endpoint, values, answer }: LogOptions): LineSource {
  const { start, end } = findBounds(endpoint);
  const range = { fromMs: parseMs(values, start) ?? -Infinity, untilMs: afterMs(parseMs(values, end)) };
  const toPage = ({ rows, next }: LogOptions['answer'], cursor?: string): LinePage => {
    const lines = mergeLines([], rows.map(toLogLine)); // an endpoint may have the oldest first
    const hasCursors = next !== undefined || endpoint.live_tail || end === undefined;
    return { lines, next: hasCursors ? next : findBefore(lines, cursor) };
  };
  return {
    ...range,
    events: queryPath(endpoint.name, values),
    hasLongPages: false,
    first: toPage(answer),
    tail: start === undefined ? undefined : createLogTail({ endpoint, values }, end, range.fromMs),
    planSlices: (untilMs) => [{ fromMs: range.fromMs, untilMs }],
    async readPage({ fromMs, untilMs }, { cursor, signal }) {
      const change = {
        // The start is exclusive, the end inclusive. The user's own texts stay: a cursor belongs to them.
        ...(start !== undefined && !isSame(fromMs, range.fromMs) && { [start]: textBefore(fromMs) }),
        ...(end !== undefined && !isSame(untilMs, range.untilMs) && { [end]: textBefore(untilMs) }),
        ...(cursor?.startsWith(BEFORE) === true && end !== undefined
          ? { [end]: cursor.slice(BEFORE.length) }
          : cursor !== undefined && { cursor }),
      };
      const path = queryPath(endpoint.name, { ...values, ...change });
      return toPage(toAnswer(await client.callRaw(path, { signal })), cursor);
    },
  };
}

function createLogTail(
  { endpoint, values }: Pick<LogOptions, 'endpoint' | 'values'>,
  end: string | undefined,
  fromMs: number,
): LineTail {
  const path = queryPath(endpoint.name, { ...values, ...(end !== undefined && { [end]: '' }) });
  return {
    path: endpoint.live_tail ? path : undefined,
    toLine: toLogLine,
    since: (newest) => ({
      // More lines of the newest one's microsecond may have come.
      fromMs: newest === undefined ? fromMs : newest.micros / 1000,
      untilMs: Infinity,
    }),
  };
}

function toLogLine(row: Row): Line {
  return toLine(row, findMark(row['metadata']));
}

const BEFORE = 'before ';

/** In place of a cursor, for endpoints without one: the end of the range before the oldest line. */
function findBefore(lines: readonly Line[], cursor: string | undefined): string | undefined {
  const oldest = lines.at(-1);
  if (oldest === undefined) return undefined;
  const text = fromMicros(oldest.micros);
  // More lines of that microsecond may exist, so it is included, unless a page had no earlier one.
  return BEFORE + (cursor === BEFORE + text ? fromMicros(oldest.micros - 1) : text);
}

function parseMs(values: LogOptions['values'], name: string | undefined): number | undefined {
  const ms = parseTime(name === undefined ? '' : (ownMember(values, name) ?? '')) * 1000;
  return Number.isNaN(ms) ? undefined : ms;
}

/** An inclusive end as an exclusive one. */
function afterMs(ms: number | undefined): number {
  return ms === undefined ? Infinity : ms + 0.001;
}

/** By the microsecond: numbers with fractions are not exact. */
function isSame(ms: number, other: number): boolean {
  return Math.round(ms * 1000) === Math.round(other * 1000);
}

/** The microsecond before an instant; empty if it is infinite and so bounds nothing. */
function textBefore(ms: number): string {
  return Number.isFinite(ms) ? fromMicros(Math.round(ms * 1000) - 1) : '';
}

const LEVELS: readonly (readonly [RegExp, string])[] = [
  [/^(fatal|panic|emerg|alert|crit|err)/i, 'error'],
  [/^warn/i, 'warn'],
  [/^(info|log|notice)/i, 'info'],
  [/^(debug|trace)/i, 'none'],
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
function findMark(metadata: unknown): Mark {
  const status = Number(findAt(metadata, STATUS_PLACES));
  if (status >= 100 && status < 600) return { level: String(status), tone: toneOfStatus(status) };
  const level = findAt(metadata, LEVEL_PLACES);
  if (typeof level !== 'string' || level === '') return { level: null, tone: 'none' };
  return {
    level: level.toLowerCase(),
    tone: LEVELS.find(([pattern]) => pattern.test(level))?.[1] ?? 'none',
  };
}

function toneOfStatus(status: number): string {
  if (status >= 500) return 'error';
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

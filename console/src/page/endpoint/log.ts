import type { EndpointView } from '../../../../src/management/view.ts';
import type { Mark } from '../../ui/lines/line.ts';

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
export function findMark(metadata: unknown): Mark {
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

import { apiCounts } from '../oracle/api-counts.ts';
import { projectOf } from '../oracle/event.ts';
import { invocationStats } from '../oracle/invocation-stats.ts';
import { matchingLogs, ROWS_MAX } from '../oracle/logs.ts';
import type { TestCaller } from './callers.ts';
import type { TenantEvents } from './data.ts';

export type Parameters = Readonly<Record<string, string>>;

/** A random request. */
export interface Question {
  readonly endpoint: string;
  readonly parameters: Parameters;
}

export type Rows = readonly object[];

/** The expected response: a status, and with 200 the rows. */
export type Expected = { readonly status: number } | { readonly rows: Rows };

const TIERS = ['FREE', 'PRO', 'PAYG', 'ENTERPRISE'];
const INTERVALS: Readonly<Record<string, readonly string[]>> = {
  'functions.invocation-stats': ['5min', '15min', '1hr', '1day', '7day'],
  'usage.api-counts': ['hourly', 'minutely', 'daily'],
};
const DECLARED: Readonly<Record<string, readonly string[]>> = {
  'logs.all': ['project', 'project_tier'],
  'functions.invocation-stats': ['project', 'function_id', 'interval'],
  'usage.api-counts': ['project', 'interval'],
  search: ['project', 'source', 'from', 'limit'],
};
const SOURCES = ['cloudflare.logs.prod', 'deno-relay-logs'];
/** Rows of a search, at most. */
export const SEARCHED_MAX = 1_000;

/** The promises of docs/keys.md, implemented without code of the service. */
export function createOracle(events: TenantEvents, nowMs: number) {
  const now = nowMs * 1000;

  /** Events of the sources that a caller reads and of a project, or of all, newest first. */
  function searched(sources: readonly string[], project: string): Rows {
    const all = { 'cloudflare.logs.prod': events.edge, 'deno-relay-logs': events.invocations };
    const found = Object.entries(all)
      .filter(([source]) => sources.includes(source))
      .flatMap(([source, of]) =>
        of
          .filter((event) => project === '' || projectOf(event, source) === project)
          .map(({ id, timestamp }) => ({ source, id, timestamp })),
      );
    return found.toSorted((a, b) => b.timestamp - a.timestamp).slice(0, SEARCHED_MAX);
  }

  function rowsOf(endpoint: string, values: Parameters, isPinned: boolean): Rows {
    const { project = '', project_tier = '', interval = '', function_id = '' } = values;
    if (endpoint === 'logs.all') {
      const question = { project, tier: project_tier, start: undefined, end: undefined, now };
      const logs = matchingLogs(events.edge, 'cloudflare.logs.prod', question).slice(0, ROWS_MAX);
      return logs.map(({ id, timestamp }) => ({ id, timestamp }));
    }
    if (endpoint === 'functions.invocation-stats') {
      const question = { project, functionId: function_id, interval, now };
      return invocationStats(events.invocations, question).map(({ timestamp, times, count, errorCount }) => ({
        timestamp,
        min_execution_time: times[0],
        max_execution_time: times.at(-1),
        count,
        error_count: errorCount,
      }));
    }
    const own = isPinned
      ? events.edge.filter((event) => projectOf(event, 'cloudflare.logs.prod') === project)
      : events.edge;
    const pattern = isPinned ? escapeSigns(project) : project;
    return apiCounts(own, { pattern, interval: interval as 'hourly' | 'minutely' | 'daily', now }); // checked before
  }

  return (caller: TestCaller, { endpoint, parameters }: Question): Expected => {
    const status = statusOfKey(caller, endpoint);
    if (status !== undefined) return { status };
    const pins = pinsOf(caller, parameters);
    const values = valuesOf(pins, { endpoint, parameters });
    if (values === undefined) return { status: 403 };
    const { project = '', interval = '', source = '' } = values;
    if (endpoint === 'search') {
      const named = source === '' ? (caller.sources ?? SOURCES) : source.split(',');
      if (caller.sources !== undefined && named.some((name) => !caller.sources?.includes(name)))
        return { status: 403 };
      return named.some((name) => !SOURCES.includes(name))
        ? { status: 404 }
        : { rows: searched(named, project) };
    }
    const counts = endpoint === 'usage.api-counts';
    if (!project || (counts && !INTERVALS[endpoint]?.includes(interval))) return { status: 400 };
    return { rows: rowsOf(endpoint, values, Object.hasOwn(pins, 'project')) };
  };
}

/** The status if the key alone decides. */
function statusOfKey(caller: TestCaller, endpoint: string): number | undefined {
  if (caller.state === 'bad') return 401;
  if (!caller.mayQuery) return 403;
  const declared = DECLARED[endpoint];
  // A key with a list does not learn which others there are.
  if (declared === undefined) return caller.endpoints === undefined ? 404 : 403;
  const pinned = [...Object.keys(caller.pins), ...Object.keys(caller.choices)];
  const isVoid = pinned.length > 0 && !pinned.some((name) => declared.includes(name));
  return isVoid || caller.endpoints?.includes(endpoint) === false ? 403 : undefined;
}

/** The pins of a request: one value of each choice. */
function pinsOf({ pins, choices }: TestCaller, sent: Parameters): TestCaller['pins'] {
  const chosen = Object.entries(choices).map(([name, values]) => [
    name,
    values.find((value) => value === sent[name]) ?? values[0] ?? '',
  ]);
  return { ...pins, ...Object.fromEntries(chosen) };
}

/** The parameters with the pins added; `undefined` if one was sent with another value. */
function valuesOf(pins: TestCaller['pins'], { endpoint, parameters }: Question): Parameters | undefined {
  const taken = Object.entries(pins).filter(([name]) => DECLARED[endpoint]?.includes(name));
  const isFree = taken.every(([name, pin]) => mayBe(endpoint, name, { pin, sent: parameters[name] ?? '' }));
  return isFree ? { ...parameters, ...Object.fromEntries(taken) } : undefined;
}

function mayBe(endpoint: string, name: string, { pin, sent }: { pin: string; sent: string }): boolean {
  if (endpoint === 'usage.api-counts' && name === 'interval' && !INTERVALS[endpoint]?.includes(pin))
    return false;
  if (sent === '' || sent === pin) return true;
  if (name === 'project_tier') return pin === 'FREE' && !TIERS.includes(sent);
  return endpoint === 'usage.api-counts' && name === 'project' && sent === escapeSigns(pin);
}

export function escapeSigns(text: string): string {
  return [...text].map((c) => ('\\^$.|?*+()[]{}'.includes(c) ? `\\${c}` : c)).join('');
}

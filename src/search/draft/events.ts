import type { Endpoint } from '../../definitions/endpoint.ts';
import type { Source } from '../../definitions/source.ts';
import { parseExactJson } from '../../lib/json/exact.ts';
import { writeValue } from '../../sql/quote.ts';
import { SEARCH_FROM, SEARCH_UNTIL, type SearchScope, type WriteSearch, writeArms } from '../arms.ts';
import { column } from '../field.ts';

/** An event as it was stored. */
export interface StoredEvent {
  readonly source: string;
  readonly id: string;
  readonly timestamp: number;
  readonly project: string;
  readonly event_message: string;
  readonly metadata: string;
  readonly attributes: string;
}

const EVENTS_MAX = 20;
// Larger events make no test that a person would read.
const EVENT_BYTES_MAX = 8 * 1024;

const NAMES = ['source', 'id', 'timestamp', 'project', 'event_message', 'metadata', 'attributes'] as const;

/**
 * The members of the endpoint that reads the newest events of a search whole; sources over existing tables are left
 * out, since no test can store their events.
 */
export function planSample(scope: SearchScope): Pick<Endpoint, 'columns' | 'maxRows' | 'writeSelect'> {
  const writeSelect: WriteSearch = (value) => `SELECT ${NAMES.map(writeItem).join(', ')} FROM (
${writeArms(scope, value, {
  bounds: [SEARCH_FROM, SEARCH_UNTIL],
  more: () =>
    `AND ${['metadata', 'attributes', 'event_message'].map((name) => `length(${column(name)})`).join(' + ')} ` +
    `<= ${EVENT_BYTES_MAX}`,
  select: (_, { name }) =>
    `${writeValue(name)} AS source, ${column('timestamp')} AS at, ` +
    `${['id', 'project', 'event_message', 'metadata', 'attributes'].map((one) => `${column(one)} AS ${one}`).join(', ')}`,
  end:
    `ORDER BY ${column('timestamp')} DESC, ${column('id')} DESC LIMIT 1 BY ` +
    `${column('timestamp')}, ${column('id')}, ${column('project')} LIMIT ${EVENTS_MAX}`,
})}
)
ORDER BY at DESC, id DESC, source DESC, project DESC LIMIT ${EVENTS_MAX}`;
  const columns = NAMES.map((name) => ({
    name,
    type: name === 'timestamp' ? ('integer' as const) : ('string' as const),
    description: '',
  }));
  return { columns, maxRows: EVENTS_MAX, writeSelect };
}

const writeItem = (name: string) => (name === 'timestamp' ? 'toUnixTimestamp64Micro(at) AS timestamp' : name);

/** Writes a source's table with only these events, under its name. */
export function writeSampleTable(source: Source, events: readonly StoredEvent[], name: string): string {
  const own = events.filter((event) => event.source === source.name);
  const keys = own.map(
    ({ id, timestamp, project }) => `(${writeValue(id)}, ${timestamp}, ${writeValue(project)})`,
  );
  const isOne =
    keys.length === 0
      ? 'false'
      : `id IN (${own.map(({ id }) => writeValue(id)).join(', ')}) AND (id, ` +
        `toUnixTimestamp64Micro(timestamp), toString(project)) IN (${keys.join(', ')})`;
  return `(SELECT * FROM ${name} WHERE ${isOne} LIMIT 1 BY timestamp, id, project) AS ${name}`;
}

/**
 * Returns an event as a test sends it, with only what is read of it.
 *
 * @param read paths from its root, each as JSON; `undefined` if it has no JSON object
 */
export function toTestEvent(event: StoredEvent, read: ReadonlySet<string>, instant: string) {
  const paths = [...read].map((path) => JSON.parse(path) as string[]); // written by names.ts
  const others = event.attributes === '' ? {} : parseExactJson(event.attributes);
  const metadata = event.metadata === '' ? undefined : parseExactJson(event.metadata);
  const whole = { ...toMap(others), metadata };
  const kept: Record<string, unknown> = {};
  for (const path of paths) if (path[0] !== 'event_message') keep(whole, path, kept);
  const hasMessage = paths.some(([first]) => first === 'event_message');
  return {
    id: event.id,
    timestamp: instant,
    ...(event.project !== '' && { project: event.project }),
    ...(hasMessage && { event_message: event.event_message }),
    ...kept,
  };
}

type Map = Record<string, unknown>;

function toMap(value: unknown): Map {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Map) : {};
}

/** Copies the value at a path, if there is one. */
function keep(from: Map, path: readonly string[], to: Map): void {
  const [name, ...rest] = path;
  if (name === undefined || !Object.hasOwn(from, name) || from[name] === undefined) return;
  if (rest.length === 0) {
    to[name] = from[name];
    return;
  }
  const inner = from[name];
  if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return;
  const before = Object.hasOwn(to, name) ? to[name] : undefined;
  if (before === inner) return; // kept whole
  const kept = toMap(before);
  keep(inner as Map, rest, kept);
  if (Object.keys(kept).length > 0) to[name] = kept;
}

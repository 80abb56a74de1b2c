import { isDeepStrictEqual } from 'node:util';
import { Document, isMap, isSeq, parse } from 'yaml';
import type { ResultColumn } from '../../definitions/endpoint.ts';
import { createParameter } from '../../definitions/parameter.ts';
import { isManaged, type Source } from '../../definitions/source.ts';
import { YAML_OPTIONS } from '../../definitions/yaml-file.ts';
import { MICROS_PER_MS } from '../../lib/instant.ts';
import { parseExactJson } from '../../lib/json.ts';
import { NDJSON_FORMAT } from '../../query/format.ts';
import { parseParameters } from '../../query/parameters.ts';
import { createQuestion } from '../../query/question.ts';
import type { Run, RunOptions } from '../../query/run.ts';
import { writeValue } from '../../sql/sql.ts';
import { column } from '../field.ts';
import { writeArms } from '../part.ts';
import { SEARCH } from '../search.ts';
import { LINE_CHARS_MAX, type SearchDraft, toIso } from './draft.ts';
import { findRead, writeQuery } from './query.ts';

export interface DraftTestParts {
  /** Keeps to the quotas of the caller and of the project. */
  readonly runCounted: Run;
  /** ms since the epoch. */
  readonly now: () => number;
}

type Execution = Pick<RunOptions, 'signal' | 'lane' | 'requestId'>;

const EVENTS_MAX = 20;
const EVENTS_BYTES_MAX = 24 * 1024;
// Larger events make no test that a person would read.
const EVENT_BYTES_MAX = 8 * 1024;

/**
 * Writes a test of a draft: the newest events of its search, trimmed to what the query reads, and the rows for them.
 *
 * @returns `undefined` if there is no event that a test could have
 * @throws as a query
 */
export async function createDraftTest(
  { runCounted: run, now }: DraftTestParts,
  draft: SearchDraft,
  execution: Execution,
): Promise<string | undefined> {
  const { query } = draft;
  const { shape, scope, values } = query;
  if (!scope.sources.some(isManaged)) return undefined;
  const nowMs = now();
  const kept = keepEvents(await readEvents(run, draft, execution), draft);
  if (kept.length === 0) return undefined;
  const events = kept.map(({ event }) => event);
  const endpoint = {
    ...SEARCH,
    sql: writeQuery(query, (source) => writeSampleTable(source, events)),
    ...{ columns: shape.columns, maxRows: shape.maxRows },
    parameters: Object.entries(draft.parameters).map(([name, fields]) => createParameter(name, fields)),
  };
  const question = createQuestion(endpoint, parseParameters(endpoint, draft.values), NDJSON_FORMAT);
  const { body } = await run(question, { ...execution, instantMs: nowMs });
  const newest = Math.max(...events.map(({ timestamp }) => timestamp));
  const written = Map.groupBy(kept, ({ event }) => event.source);
  return writeTest({
    now: toIso(Math.max(nowMs, Math.ceil(newest / MICROS_PER_MS)) * MICROS_PER_MS),
    events: Object.fromEntries([...written].map(([name, own]) => [name, own.map((one) => one.written)])),
    cases: [
      {
        name: `as found in ${values['q'] === '' ? 'the events' : 'a search'} of ${draft.values['from']}`,
        parameters: draft.values,
        ...(shape.isRounded === true && { approximately: 0.000_001 }),
        rows: linesOf(body).map(parseExactJson),
      },
    ],
  });
}

const linesOf = (body: Buffer) => body.toString().split('\n').filter(Boolean);

/** An event as it was stored. */
interface StoredEvent {
  readonly source: string;
  readonly id: string;
  readonly timestamp: number;
  readonly project: string;
  readonly event_message: string;
  readonly metadata: string;
  readonly attributes: string;
}

const TEXTS = ['id', 'project', 'event_message', 'metadata', 'attributes'];
const COLUMNS: readonly ResultColumn[] = [
  ...['source', ...TEXTS].map((name) => ({ name, type: 'string', description: '' }) as const),
  { name: 'timestamp', type: 'integer', description: '' },
];

/** Reads the newest events of a search whole, without those of existing tables, which no test can store. */
async function readEvents(
  run: Run,
  { query }: SearchDraft,
  execution: Execution,
): Promise<readonly StoredEvent[]> {
  const scope = { ...query.scope, sources: query.scope.sources.filter(isManaged) };
  const size = ['metadata', 'attributes', 'event_message']
    .map((name) => `length(${column(name)})`)
    .join(' + ');
  const [time, id, project] = ['timestamp', 'id', 'project'].map(column);
  const select = (name: string) => [
    `${writeValue(name)} AS source`,
    `${time} AS at`,
    ...TEXTS.map((one) => `${column(one)} AS ${one}`),
  ];
  const writeSelect = () => {
    const arms = writeArms(scope, {
      more: () => `AND ${size} <= ${EVENT_BYTES_MAX}`,
      select: (_, { name }) => select(name).join(', '),
      end: `ORDER BY ${time} DESC, ${id} DESC LIMIT 1 BY ${time}, ${id}, ${project} LIMIT ${EVENTS_MAX}`,
    });
    return `SELECT source, ${TEXTS.join(', ')}, toUnixTimestamp64Micro(at) AS timestamp FROM (\n${arms}\n)
ORDER BY at DESC, id DESC, source DESC, project DESC LIMIT ${EVENTS_MAX}`;
  };
  const sample = { ...SEARCH, columns: COLUMNS, maxRows: EVENTS_MAX, writeSelect };
  const { body } = await run(createQuestion(sample, query.values, NDJSON_FORMAT), execution);
  return linesOf(body).map((line) => JSON.parse(line) as StoredEvent); // the columns that were asked for
}

/** Writes a source's table with only these events, under its name. */
function writeSampleTable({ name, table }: Source, events: readonly StoredEvent[]): string {
  const own = events.filter((event) => event.source === name);
  const ids = own.map(({ id }) => writeValue(id));
  const keys = own.map(({ timestamp, project }, i) => `(${ids[i]}, ${timestamp}, ${writeValue(project)})`);
  const isOne =
    own.length === 0
      ? 'false'
      : `id IN (${ids.join(', ')}) AND (id, toUnixTimestamp64Micro(timestamp), toString(project)) ` +
        `IN (${keys.join(', ')})`;
  return `(SELECT * FROM ${table} WHERE ${isOne} LIMIT 1 BY timestamp, id, project) AS ${table}`;
}

/** Trims events to what the query reads, up to the bound, without those that YAML would change. */
function keepEvents(stored: readonly StoredEvent[], { query }: SearchDraft) {
  const reads = new Map(query.scope.sources.map((source) => [source.name, findRead(query, source)]));
  const kept: { event: StoredEvent; written: object }[] = [];
  let bytes = 0;
  for (const event of stored) {
    const written = toTestEvent(event, reads.get(event.source) ?? []);
    const text = new Document(written).toString({ lineWidth: 0 });
    bytes += Buffer.byteLength(text);
    if (bytes > EVENTS_BYTES_MAX) break;
    if (isKept(text, written)) kept.push({ event, written });
  }
  return kept;
}

type Members = Readonly<Record<string, unknown>>;
const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns an event as a test sends it, with only what is read of it. */
function toTestEvent(event: StoredEvent, read: readonly (readonly string[])[]): object {
  const { id, timestamp, project, event_message: message, metadata, attributes } = event;
  const others = attributes === '' ? {} : parseExactJson(attributes);
  const whole = {
    ...(isMembers(others) && others),
    event_message: message,
    ...(metadata !== '' && { metadata: parseExactJson(metadata) }),
  };
  const isWhole = metadata === '' && read.some((path) => path.length === 1 && path[0] === 'metadata');
  const kept = isWhole ? whole : trim(whole, read);
  // With other members, but no metadata, it would have other fields.
  const isBare = metadata !== '' && !Object.hasOwn(kept, 'metadata');
  return {
    ...{ id, timestamp: toIso(timestamp), ...(project !== '' && { project }), ...kept },
    ...(isBare && Object.keys(kept).some((name) => name !== 'event_message') && { metadata: {} }),
  };
}

/** Returns the values at some paths. */
function trim(value: Members, paths: readonly (readonly string[])[]): Members {
  const kept: Record<string, unknown> = {};
  for (const [name = '', own] of Map.groupBy(paths, ([first]) => first)) {
    if (!Object.hasOwn(value, name)) continue;
    const inner = value[name];
    const rests = own.map(([, ...rest]) => rest);
    if (rests.some((rest) => rest.length === 0)) kept[name] = inner;
    else if (isMembers(inner)) {
      const some = trim(inner, rests);
      if (Object.keys(some).length > 0) kept[name] = some;
    }
  }
  return kept;
}

/** Whether a test's reader gets the same event. */
function isKept(text: string, written: object): boolean {
  const options = { ...YAML_OPTIONS, intAsBigInt: true };
  const toNumber = (_: unknown, value: unknown) =>
    typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value;
  return isDeepStrictEqual(parse(text, toNumber, options), written);
}

/** Writes an event and a row in a line each. */
function writeTest(content: object): string {
  const document = new Document(content);
  const events = document.get('events');
  const lists = [
    ...(isMap(events) ? events.items.map(({ value }) => value) : []),
    document.getIn(['cases', 0, 'rows']),
  ];
  for (const item of lists.flatMap((list) => (isSeq(list) ? list.items : [])))
    if (isMap(item)) item.flow = true;
  return document.toString({ lineWidth: LINE_CHARS_MAX });
}

import { isDeepStrictEqual } from 'node:util';
import { Document, isMap, isSeq, parse } from 'yaml';
import { createParameter } from '../../definitions/parameter.ts';
import { isManaged } from '../../definitions/source.ts';
import { YAML_OPTIONS } from '../../definitions/yaml-file.ts';
import { MICROS_PER_MS } from '../../lib/instant.ts';
import { parseExactJson } from '../../lib/json/exact.ts';
import { NDJSON_FORMAT } from '../../query/format.ts';
import { parseParameters } from '../../query/parameters.ts';
import { createQuestion } from '../../query/question.ts';
import type { Run, RunOptions } from '../../query/run.ts';
import { boundsOf } from '../part.ts';
import { SEARCH } from '../search.ts';
import { LINE_CHARS_MAX, type SearchDraft, toIso } from './draft.ts';
import { planSample, type StoredEvent, toTestEvent, writeSampleTable } from './events.ts';
import { findRead, writeQuery } from './query.ts';

export interface DraftTestParts {
  readonly run: Run;
  /** ms since the epoch. */
  readonly now: () => number;
}

type Execution = Pick<RunOptions, 'signal' | 'lane' | 'requestId'>;

const EVENTS_BYTES_MAX = 24 * 1024;

/**
 * Writes a test of a draft: the newest events of its search, trimmed to what the query reads, and the rows that it
 * returns for them.
 *
 * @returns `undefined` if there is no event that a test could have
 * @throws as a query
 */
export async function createDraftTest(
  { run, now }: DraftTestParts,
  draft: SearchDraft,
  execution: Execution,
): Promise<string | undefined> {
  const { query, request } = draft;
  const managed = query.scope.sources.filter(isManaged);
  if (managed.length === 0) return undefined;
  const nowMs = now();
  const stored = await readEvents(run, draft, execution);
  const kept = keepEvents(stored, draft);
  if (kept.length === 0) return undefined;
  const events = kept.map(({ event }) => event);
  const sql = writeQuery(query, (source) => writeSampleTable(source, events, source.table));
  const { shape } = query;
  const endpoint = {
    ...SEARCH,
    name: draft.name,
    ...{ sql, columns: shape.columns, maxRows: shape.maxRows },
    parameters: Object.entries(draft.parameters).map(([name, fields]) => createParameter(name, fields)),
  };
  const values = parseParameters(endpoint, draft.values);
  const { body } = await run(createQuestion(endpoint, values, NDJSON_FORMAT), {
    ...execution,
    instantMs: nowMs,
  });
  const rows = body.toString().split('\n').filter(Boolean).map(parseExactJson);
  const newest = Math.max(...events.map(({ timestamp }) => timestamp));
  return writeTest({
    now: toIso(Math.max(nowMs, Math.ceil(newest / MICROS_PER_MS)) * MICROS_PER_MS),
    events: Object.fromEntries(
      [...Map.groupBy(kept, ({ event }) => event.source)].map(([name, own]) => [
        name,
        own.map(({ written }) => written),
      ]),
    ),
    cases: [
      {
        name: `as found in ${request.values['q'] === '' ? 'the events' : 'a search'} of ${draft.values['from']}`,
        parameters: draft.values,
        ...(shape.isRounded === true && { approximately: 0.000_001 }),
        rows,
      },
    ],
  });
}

/** Reads the newest events of a search whole. */
async function readEvents(
  run: Run,
  { query, request }: SearchDraft,
  execution: Execution,
): Promise<readonly StoredEvent[]> {
  const { scope } = query;
  const sources = scope.sources.filter(isManaged);
  const sample = { ...SEARCH, ...planSample({ ...scope, sources }) };
  const values = { ...request.values, ...boundsOf(request.range) };
  const { body } = await run(createQuestion(sample, values, NDJSON_FORMAT), execution);
  return body
    .toString()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as StoredEvent); // the columns of `planSample`
}

/** Trims events to what the query reads, up to the bound, without those that YAML would change. */
function keepEvents(stored: readonly StoredEvent[], { query }: SearchDraft) {
  const reads = new Map(query.scope.sources.map((source) => [source.name, findRead(query, source)]));
  const kept: { event: StoredEvent; written: object }[] = [];
  let bytes = 0;
  for (const event of stored) {
    const written = toTestEvent(event, reads.get(event.source) ?? new Set(), toIso(event.timestamp));
    const text = new Document(written).toString({ lineWidth: 0 });
    bytes += Buffer.byteLength(text);
    if (bytes > EVENTS_BYTES_MAX) break;
    if (isKept(text, written)) kept.push({ event, written });
  }
  return kept;
}

/** Whether a test's reader gets the same event. */
function isKept(text: string, written: object): boolean {
  const options = { ...YAML_OPTIONS, intAsBigInt: true };
  const read: unknown = parse(
    text,
    (_: unknown, value: unknown) =>
      typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value,
    options,
  );
  return isDeepStrictEqual(read, written);
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

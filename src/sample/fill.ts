import { setImmediate } from 'node:timers/promises';
import type { Source } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import { truncateTable } from '../engine/table.ts';
import { createBatcher } from '../ingest/batcher.ts';
import type { Event } from '../ingest/event.ts';
import { typedValues } from '../ingest/read-event.ts';
import { charsOf, insertEvents } from '../ingest/rows.ts';
import { findValue } from '../lib/json.ts';
import { createRandom } from '../lib/random.ts';
import { identifier, join, sql } from '../sql/sql.ts';
import { AREAS, SAMPLE_KINDS, type SampleKind, type SampleOptions, sampleRequests } from './source.ts';

/** The events of one source. */
export type SamplePart = Readonly<ReturnType<typeof planSample>[number]>;

/** Plans a sample for the sources that it knows. */
export function planSample(sources: readonly Source[], rows: number) {
  const known = sources.flatMap((source) => {
    const kind = SAMPLE_KINDS[source.name];
    return kind === undefined ? [] : [{ source, kind }];
  });
  const inTurn = ({ areas }: SampleKind) => AREAS.filter((area) => areas.includes(area)).length;
  const perTurn = known.reduce((sum, { kind }) => sum + inTurn(kind), 0);
  const turns = Math.ceil(rows / perTurn);
  let excess = turns * perTurn - rows;
  return known.map(({ source, kind }) => {
    const skipped = Math.min(excess, turns * inTurn(kind));
    excess -= skipped;
    return {
      ...{ source, kind },
      /** Requests of the sample, which are the same for every source. */
      requests: turns * AREAS.length,
      /** How many of the oldest events are left out, so that all sources together have as many as asked for. */
      skipped,
    };
  });
}

/** Generates the events of one source, in order of time. */
export function* sampleEvents(part: SamplePart, options: Omit<SampleOptions, 'rows'>): Generator<Event> {
  const { source, kind, requests } = part;
  const random = createRandom(`${options.seed}/${source.name}/${options.end}`);
  const isTop = source.projectPaths[0]?.join('.') === 'project';
  let left = part.skipped;
  for (const request of sampleRequests(requests, options)) {
    if (!kind.areas.includes(request.area) || left-- > 0) continue;
    const { at: timestamp, project } = request;
    const id = random.uuid();
    const { message, metadata } = kind.describe(request, random);
    const wire = { id, timestamp, event_message: message, ...(isTop && { project }), metadata };
    const typed = typedValues((path) => findValue(wire, path), project, source.columns);
    // As parseEvent reads it from its JSON.
    yield { id, timestamp, project, message, metadata: JSON.stringify(metadata), attributes: '', typed };
  }
}

export interface FillOptions extends SampleOptions {
  /** Aborting ends it; events generated before are stored. */
  readonly signal: AbortSignal;
  /** Called every few thousand events with the number of stored ones. */
  readonly onProgress: (stored: number) => void;
}

const PAUSE_ROWS = 2_000;
// Large enough that the engine's fixed cost of an insert does not count, small enough that memory stays flat.
const BATCH_CHARS_MAX = 8 * 1024 * 1024;
const BATCH_ROWS_MAX = 50_000;

/**
 * Stores a sample: one source after another, each in order of time, so that an insert touches few daily parts of the table.
 *
 * @returns the number of stored events
 */
export async function storeSample(
  engine: Engine,
  sources: readonly Source[],
  { signal, onProgress, ...options }: FillOptions,
): Promise<number> {
  let stored = 0;
  for (const part of planSample(sources, options.rows)) {
    const batcher = createBatcher<Event>({
      itemsMax: BATCH_ROWS_MAX,
      charsMax: BATCH_CHARS_MAX,
      async send(events) {
        await insertEvents(engine, part.source, events);
        stored += events.length;
      },
    });
    let generated = 0;
    for (const event of sampleEvents(part, options)) {
      if (signal.aborted) break;
      const full = batcher.add(event, charsOf(event));
      if (full !== undefined) await full;
      if (++generated % PAUSE_ROWS > 0) continue;
      onProgress(stored);
      await setImmediate(); // lets the event loop handle signals and responses of the engine
    }
    await batcher.flush();
  }
  return stored;
}

/** Whether any source has an event. */
export async function hasEvents(engine: Engine, sources: readonly Source[]): Promise<boolean> {
  if (sources.length === 0) return false;
  const any = sources.map(({ table }) => sql`SELECT 1 FROM (SELECT id FROM ${identifier(table)} LIMIT 1)`);
  return (await engine.inspect(join(any, ' UNION ALL '))).length > 0;
}

/** Empties the tables of the sources. */
export async function removeEvents(engine: Engine, sources: readonly Source[]): Promise<void> {
  for (const source of sources) await engine.command(truncateTable(source, engine.cluster));
}

import { setImmediate } from 'node:timers/promises';
import type { Source } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import { truncateTable } from '../engine/table.ts';
import { createEventWriter } from '../ingest/writer.ts';
import { identifier, join, sql } from '../sql/sql.ts';
import { sampleEvents } from './event.ts';
import { planSample, type SamplePart } from './plan.ts';
import type { SampleOptions } from './project.ts';

export interface FillOptions extends SampleOptions {
  /** Aborting ends it; events generated before are stored. */
  readonly signal: AbortSignal;
  /** Called every few thousand events with the number of stored ones. */
  readonly onProgress: (stored: number) => void;
}

const PAUSE_ROWS = 2_000;

/**
 * Stores a sample: one source after another, each in order of time, so that an insert touches few daily parts of the table.
 *
 * @returns the number of stored events
 */
export async function storeSample(
  engine: Engine,
  sources: readonly Source[],
  options: FillOptions,
): Promise<number> {
  let stored = 0;
  for (const part of planSample(sources, options)) {
    stored += await storePart(engine, part, {
      ...options,
      onProgress: (own) => options.onProgress(stored + own),
    });
  }
  return stored;
}

async function storePart(engine: Engine, part: SamplePart, options: FillOptions): Promise<number> {
  const writer = createEventWriter(engine, part.source);
  let generated = 0;
  for (const event of sampleEvents(part, options)) {
    if (options.signal.aborted) break;
    const full = writer.add(event);
    if (full !== undefined) await full;
    if (++generated % PAUSE_ROWS > 0) continue;
    options.onProgress(writer.stored);
    await setImmediate(); // lets the event loop handle signals and responses of the engine
  }
  await writer.flush();
  return writer.stored;
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

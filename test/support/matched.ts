import type { Source } from '../../src/definitions/source.ts';
import { parseEvent } from '../../src/ingest/event.ts';
import { createMatch } from '../../src/ingest/filter/match.ts';
import type { SearchTree } from '../../src/search/parse.ts';
import type { Core } from '../../src/service/open-core.ts';
import type { SearchedEvent } from '../../trial/oracle/search.ts';
import { storeEvents } from './service.ts';

/** Finds events as `drop` of their source would, before they are stored. */
export function createFindAtDoor(
  events: readonly SearchedEvent[],
  sources: readonly Source[],
  nowMs: number,
) {
  const rules = { now: nowMs * 1_000, eventBytesMax: 1_000_000, project: '' };
  const parsed = events.map((event) => {
    const source = sources.find(({ name }) => name === event.source);
    if (source === undefined) throw new Error(`no source ${event.source}`);
    const text = JSON.stringify({ ...event, timestamp: new Date(event.timestamp / 1_000).toISOString() });
    return { event, source, parsed: parseEvent({ text }, source, rules) };
  });
  return (tree: SearchTree): SearchedEvent[] => {
    const matches = new Map(sources.map((source) => [source, createMatch(tree, source)]));
    return parsed.filter((one) => matches.get(one.source)?.(one.parsed)).map(({ event }) => event);
  };
}

/** Stores random events of a test, each in its source. */
export async function storeSearched(core: Core, events: readonly SearchedEvent[], nowMs: number) {
  for (const [source, own] of Map.groupBy(events, (event) => event.source)) {
    const sent = own.map(({ timestamp, ...event }) => ({
      ...event,
      timestamp: new Date(timestamp / 1_000).toISOString(),
    }));
    await storeEvents(core, source, sent, nowMs);
  }
}

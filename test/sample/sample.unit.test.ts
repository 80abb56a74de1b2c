import { describe, expect, test } from 'vitest';
import { GENERAL_SOURCE } from '../../src/definitions/accepts.ts';
import { readDefinitions } from '../../src/definitions/read.ts';
import type { Source } from '../../src/definitions/source.ts';
import { type Event, encodeRow, parseEvent } from '../../src/ingest/event.ts';
import { sampleEvents } from '../../src/sample/event.ts';
import { planSample } from '../../src/sample/plan.ts';
import type { SampleOptions } from '../../src/sample/project.ts';

const { definitions } = await readDefinitions({ endpointsDir: 'endpoints', sourcesDir: 'sources' });
/** The shipped sources, except the general one and those that Tailrace itself writes, which have no sample. */
const SOURCES = definitions.sources.filter(
  ({ name, isInternal }) => name !== GENERAL_SOURCE && isInternal !== true,
);
const DAY_MICROS = 86_400_000_000;
const END = Date.UTC(2026, 10, 20, 7, 30) * 1000; // a Friday
const OPTIONS: SampleOptions = { rows: 20_000, seed: 1, days: 7, projects: 3, end: END };

function eventsOf(name: string, options: Partial<SampleOptions> = {}): { source: Source; events: Event[] } {
  const all = { ...OPTIONS, ...options };
  const part = planSample(SOURCES, all).find(({ source }) => source.name === name);
  if (part === undefined) throw new Error(`no sample of ${name}`);
  return { source: part.source, events: [...sampleEvents(part, all)] };
}
const textOf = (events: readonly Event[]) => events.map(encodeRow).join('');

/** The event as a client would send it. */
function toWire({ id, timestamp, message, metadata, project }: Event, source: Source): string {
  const top = source.projectPaths[0]?.join('.') === 'project' ? { project } : {};
  return JSON.stringify({ id, timestamp, event_message: message, ...top, metadata: JSON.parse(metadata) });
}

describe.each(SOURCES.map(({ name }) => name))('the sample of %s', (name) => {
  const { source, events } = eventsOf(name);

  test('is the same for the same seed and end, and shares no id with another', () => {
    expect(textOf(eventsOf(name).events)).toBe(textOf(events));
    const ids = new Set(events.map(({ id }) => id));
    expect(ids.size).toBe(events.length);
    for (const other of [{ seed: 2 }, { end: END + 1_000_000 }])
      expect(eventsOf(name, other).events.filter(({ id }) => ids.has(id))).toEqual([]);
  });

  test('consists of events that the wire form returns as they are', () => {
    const options = { now: END, eventBytesMax: 16_384, project: '' };
    const read = events.map((event) => parseEvent({ text: toWire(event, source) }, source, options));
    expect(textOf(read)).toBe(textOf(events));
  });

  test('fills each typed column in most rows', () => {
    for (const [i, column] of source.columns.entries()) {
      const filled = events.filter(({ typed }) => typed[i] !== null).length;
      expect(filled / events.length, column.name).toBeGreaterThan(0.8);
    }
  });

  test('comes in order of time, over the days asked for, and belongs to every project', () => {
    const times = events.map(({ timestamp }) => timestamp);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect([times[0], times.at(-1)]).toEqual([
      expect.toSatisfy((first: number) => first > END - 7 * DAY_MICROS && first < END - 6 * DAY_MICROS),
      expect.toSatisfy((last: number) => last <= END && last > END - 300_000_000),
    ]);
    expect(new Set(events.map(({ project }) => project)).size).toBe(OPTIONS.projects);
  });
});

test('a plan shares out every row, whichever sources are defined', () => {
  for (const rows of [0, 1, 999, 1_000_000_007])
    for (const sources of [SOURCES, SOURCES.slice(2, 4)])
      expect(planSample(sources, { rows, days: 7 }).reduce((sum, part) => sum + part.rows, 0)).toBe(rows);
});

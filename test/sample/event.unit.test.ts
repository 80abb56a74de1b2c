import { describe, expect, test } from 'vitest';
import type { Source } from '../../src/definitions/source.ts';
import { type Event, encodeRow, parseEvent } from '../../src/ingest/event.ts';
import { SAMPLE_KINDS } from '../../src/sample/plan.ts';
import { END, eventsOf, SOURCES } from './support.ts';

const DAY_MICROS = 86_400_000_000;
const text = (events: readonly Event[]) => events.map(encodeRow).join('');

/** The event as a client would send it. */
function toWire(event: Event, source: Source): string {
  const top = source.projectPaths[0]?.join('.') === 'project' ? { project: event.project } : {};
  const { id, timestamp, message, metadata } = event;
  return JSON.stringify({ id, timestamp, event_message: message, ...top, metadata: JSON.parse(metadata) });
}

test('there is a sample of every shipped source but the general one, and no other', () => {
  expect(SAMPLE_KINDS.map((kind) => kind.source).sort()).toEqual(SOURCES.map((source) => source.name).sort());
});

describe.each(SOURCES.map((source) => source.name))('the sample of %s', (name) => {
  const { source, events } = eventsOf(name);

  test('is the same, to the byte, for the same seed and end', () => {
    expect(text(eventsOf(name).events)).toBe(text(events));
  });

  test('shares no id with that of another seed or another end', () => {
    const ids = new Set(events.map((event) => event.id));
    expect(ids.size).toBe(events.length);
    for (const other of [{ seed: 2 }, { end: END + 1_000_000 }]) {
      expect(eventsOf(name, other).events.filter((event) => ids.has(event.id))).toEqual([]);
    }
  });

  test('is made of events that the wire form gives back as they are', () => {
    for (const event of events) {
      const read = parseEvent({ text: toWire(event, source) }, source, {
        now: END,
        eventBytesMax: 16_384,
        project: '',
      });
      if (encodeRow(read) !== encodeRow(event)) expect(read).toEqual(event); // slow, and so only where it fails
    }
  });

  test('fills each typed column in most rows', () => {
    for (const [i, column] of source.columns.entries()) {
      const filled = events.filter((event) => event.typed[i] !== null).length;
      expect(filled / events.length, column.name).toBeGreaterThan(0.8);
    }
  });

  test('has a message in every event, in one of several wordings', () => {
    expect(events.filter((event) => event.message === '')).toEqual([]);
    expect(new Set(events.map((event) => event.message)).size).toBeGreaterThan(4);
  });

  test('belongs to each project, most of it to aurora, and comes in order of time', () => {
    const count = (project: string) => events.filter((event) => event.project === project).length;
    expect(count('aurora')).toBeGreaterThan(count('basalt'));
    expect(count('basalt')).toBeGreaterThan(count('cobalt'));
    expect(count('cobalt')).toBe(events.length - count('aurora') - count('basalt'));
    for (const [i, event] of events.entries()) {
      expect(event.timestamp).toBeGreaterThanOrEqual(events[i - 1]?.timestamp ?? END - 7 * DAY_MICROS + 1);
    }
    const last = events.at(-1)?.timestamp ?? 0;
    expect(last).toBeLessThanOrEqual(END);
    expect(last).toBeGreaterThan(END - 300_000_000);
  });

  test.each([
    [2, 7, 2],
    [90, 90, 90],
    [90, 3, 3],
  ])(
    'of a source that keeps %i days, when asked for %i days, reaches %i days back',
    (retention, days, reach) => {
      const first = eventsOf(name, { days, rows: 4_000 }, retention).events[0]?.timestamp ?? 0;
      expect(first).toBeGreaterThan(END - reach * DAY_MICROS);
      expect(first).toBeLessThan(END - 0.9 * reach * DAY_MICROS);
    },
  );
});

test('edge events carry about a kilobyte of metadata, with nulls and empty arrays in it', () => {
  const { events } = eventsOf('cloudflare.logs.prod');
  const average = events.reduce((sum, event) => sum + event.metadata.length, 0) / events.length;
  expect(average).toBeGreaterThan(900);
  expect(average).toBeLessThan(1_400);
  expect(events.every((event) => event.metadata.includes('"sb":[]'))).toBe(true);
  expect(events.every((event) => event.metadata.includes(':null'))).toBe(true);
});

test('a thousand projects have a thousand names, none of which stands in the URL of another', () => {
  const { events } = eventsOf('cloudflare.logs.prod', { projects: 1_000, rows: 200_000 });
  const urls = new Map(events.map((event) => [event.project, String(event.typed[2])]));
  expect(urls.size).toBeGreaterThan(990);
  const refs = [...urls.keys()];
  for (const [project, url] of urls) expect(refs.filter((ref) => url.includes(ref))).toEqual([project]);
});

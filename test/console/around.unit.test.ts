import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Client, RawAnswer } from '../../console/src/api/client.ts';
import {
  formatAt,
  LINES_MAX,
  type Line,
  parseAt,
  toLine,
} from '../../console/src/page/explore/lines/line.ts';
import { createRead, type Read, readOlder } from '../../console/src/page/explore/lines/read.ts';
import { hasOlder } from '../../console/src/page/explore/lines/use-work.tsx';
import type { Search } from '../../console/src/page/explore/search.ts';
import { parseInstant } from '../../src/lib/instant.ts';
import { runs } from '../support/property.ts';

const T = 1_795_176_000_123_456;
const RANGE_MICROS = 120_000_000;

/** Lines at these instants, newest first, as the service orders them. */
function createLines(micros: readonly number[]): Line[] {
  return micros
    .map((one, i) =>
      toLine({
        ...{ source: 's', id: String(i).padStart(6, '0'), timestamp: one, project: 'p' },
        ...{ level: null, event_message: '', metadata: {} },
      }),
    )
    .sort((a, b) => b.micros - a.micros || (a.id < b.id ? 1 : -1));
}

/** The service: pages of a range, newest first, and how many were read. */
function serve(all: readonly Line[]) {
  const counts = { requests: 0 };
  const callRaw = async (path: string): Promise<RawAnswer> => {
    counts.requests++;
    const query = new URL(path, 'http://localhost').searchParams;
    const [from, until] = [parseInstant(query.get('from') ?? ''), parseInstant(query.get('until') ?? '')];
    if (from === undefined || until === undefined || !(from < until)) throw new Error(`no range: ${path}`);
    const limit = Number(query.get('limit'));
    const at = Number(query.get('cursor') ?? 0);
    const within = all.filter(({ micros }) => from <= micros && micros < until);
    const result = within.slice(at, at + limit).map(({ source, id, micros, project }) => ({
      ...{ source, id, timestamp: micros, project, level: null, event_message: '', metadata: {} },
    }));
    const link = `</api/search?cursor=${at + limit}>; rel="next"`;
    const headers = new Headers(at + limit < within.length ? { link } : {});
    const text = JSON.stringify({ result });
    return { text, headers, status: 200, ms: 1, blob: new Blob([text]) };
  };
  const client = { callRaw } as Pick<Client, 'callRaw'> as Client;
  return { client, counts };
}

const search: Search = {
  ...{ q: '', source: [], project: '', nowMs: T / 1000, widthMs: 5_000, offsetMs: 0 },
  fromMs: Math.floor((T - RANGE_MICROS) / 1000),
  untilMs: Math.floor((T + RANGE_MICROS) / 1000),
};

/** Opens an address of a line, then reads on to the end. */
async function readAll(all: readonly Line[], at: Line) {
  const { client, counts } = serve(all);
  let read: Read = createRead(search, formatAt(at));
  const { signal } = new AbortController();
  const options = { client, signal, onRead: (next: Read) => (read = next) };
  await readOlder(read, options);
  const [first, requests] = [read, counts.requests];
  while (hasOlder(read) && read.lines.length < LINES_MAX) await readOlder(read, options);
  return { first, requests, whole: read };
}

/** Whether the lines are all that there are between the first and the last of them. */
function expectWhole(lines: readonly Line[], all: readonly Line[]): void {
  const [newest = Number.NaN, oldest = Number.NaN] = [lines[0]?.micros, lines.at(-1)?.micros];
  const within = all.filter(({ micros }) => oldest < micros && micros <= newest);
  expect(lines.filter(({ micros }) => micros > oldest).map(({ id }) => id)).toEqual(
    within.map(({ id }) => id),
  );
}

const inRange = (all: readonly Line[]) =>
  all.filter(({ micros }) => search.fromMs * 1000 <= micros && micros < search.untilMs * 1000);

test('a line is read with those around it at any distances of events', async () => {
  const distance = fc.oneof(
    { weight: 5, arbitrary: fc.integer({ min: 1, max: 3 }) }, // of one instant a page has all

    fc.integer({ min: 1, max: 20_000 }),
    fc.integer({ min: 1, max: 40_000_000 }),
  );
  const events = fc.tuple(
    fc.array(fc.tuple(distance, fc.integer({ min: 1, max: 900 })), { maxLength: 12 }),
    fc.nat(),
  );
  await fc.assert(
    fc.asyncProperty(events, async ([groups, pick]) => {
      let next = T - RANGE_MICROS / 2;
      const micros = groups.flatMap(([step, count]) => {
        next += step;
        return Array.from({ length: count }, () => next);
      });
      const all = createLines([...micros, T]);
      const at = all[pick % all.length];
      if (at === undefined) throw new Error('a line');
      if (!inRange(all).includes(at)) return;
      const { first, whole } = await readAll(all, at);
      expect(first.lines).toContainEqual(at);
      expectWhole(first.lines, all);
      expectWhole(whole.lines, all);
      const older = inRange(all).filter(({ micros }) => micros <= at.micros);
      expect(whole.lines.length).toBeGreaterThanOrEqual(Math.min(LINES_MAX, older.length));
      if (!whole.hasNewer && all.length <= LINES_MAX) expect(whole.lines).toHaveLength(inRange(all).length);
    }),
    runs(40),
  );
});

test('the address of a line has its time, source and id, of any characters', () => {
  fc.assert(
    fc.property(fc.integer({ min: -9e15, max: 9e15 }), fc.string(), (micros, id) => {
      expect(parseAt(formatAt({ micros, source: 'postgres.logs', id }))).toEqual({
        ...{ micros, source: 'postgres.logs', id },
      });
    }),
  );
});

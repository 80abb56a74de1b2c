import { describe, expect, it } from 'vitest';
import type { LogEntry } from '../../console/src/page/endpoint/log.ts';
import { ENTRIES_MAX, type Read, readNewer, readOlder } from '../../console/src/page/endpoint/log-reader.ts';

const { signal } = new AbortController();
const PAGE = 100;

/** Entry `n`, and the microsecond that it is of. */
function entry(n: number, micros = n): LogEntry {
  const plain = { message: '', metadata: {}, mark: '', tone: 'neutral', text: '' } as const;
  return { id: String(n).padStart(6, '0'), micros: 1_780_000_000_000_000 + micros, ...plain };
}

/** Reads as `logs.all` does: after `from`, up to `to`, newest first, the newest hundred. */
function createLog(all: readonly LogEntry[]): { read: Read; calls: () => number } {
  let calls = 0;
  const sorted = all.toSorted((a, b) => b.micros - a.micros || (a.id < b.id ? 1 : -1));
  const micros = (iso: string) => Date.parse(iso) * 1000 + Number(iso.slice(23, 26));
  return {
    calls: () => calls,
    read: async ({ from = '', to = '' }) => {
      calls++;
      const [after, until] = [from === '' ? 0 : micros(from), to === '' ? Infinity : micros(to)];
      return sorted.filter((one) => one.micros > after && one.micros <= until).slice(0, PAGE);
    },
  };
}

const many = (count: number) => Array.from({ length: count }, (_, n) => entry(n));
const ids = (entries: readonly LogEntry[]) => [...new Set(entries.map(({ id }) => id))].sort();

describe('newer entries', () => {
  const newer = (read: Read, newest: LogEntry | undefined) =>
    readNewer(read, { start: 'from', end: 'to', newest, signal });

  it('come without a gap when more came in than an answer holds', async () => {
    const all = many(777);
    const { read } = createLog(all);
    expect(ids(await newer(read, entry(41)))).toEqual(ids(all.slice(41)));
  });

  it('take one call when they fit into an answer', async () => {
    const { read, calls } = createLog(many(120));
    expect(await newer(read, entry(100))).toHaveLength(20);
    expect(await newer(read, entry(119))).toEqual([entry(119)]);
    expect(calls()).toBe(2);
  });

  it('of the microsecond of the newest are among them', async () => {
    const { read } = createLog([entry(1, 5), entry(2, 5), entry(3, 5)]);
    expect(await newer(read, entry(2, 5))).toEqual([entry(3, 5), entry(2, 5), entry(1, 5)]);
  });

  it('end where the newest has left the plan’s window', async () => {
    const { read } = createLog(many(300).slice(50));
    expect(ids(await newer(read, entry(20)))).toEqual(ids(many(300).slice(50)));
    expect(await newer(createLog([]).read, entry(20))).toEqual([]);
  });

  it('are no more than the list holds', async () => {
    const { read } = createLog(many(ENTRIES_MAX + 5 * PAGE));
    expect((await newer(read, entry(3))).length).toBe(ENTRIES_MAX);
  });

  it('are the newest alone where nothing was known', async () => {
    const { read, calls } = createLog(many(300));
    expect(await newer(read, undefined)).toHaveLength(PAGE);
    expect(calls()).toBe(1);
  });
});

describe('older entries', () => {
  it('are found before a full page of one microsecond, and end', async () => {
    const all = [entry(1, 1), ...Array.from({ length: PAGE }, (_, n) => entry(10 + n, 7))];
    const { read } = createLog(all);
    const shown = all.slice(1).toReversed();
    expect(await readOlder(read, { end: 'to', shown, signal })).toEqual([entry(1, 1)]);
    expect(await readOlder(read, { end: 'to', shown: [...shown, entry(1, 1)], signal })).toEqual([]);
  });
});

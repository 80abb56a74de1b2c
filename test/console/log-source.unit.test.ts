import { describe, expect, it } from 'vitest';
import { toAnswer } from '../../console/src/api/answer.ts';
import type { Client, RawAnswer } from '../../console/src/api/client.ts';
import { createLogSource } from '../../console/src/page/endpoint/log-source.ts';
import { formatAt } from '../../console/src/ui/lines/at.ts';
import { LINES_MAX, type Line, toLine } from '../../console/src/ui/lines/line.ts';
import {
  createRead,
  hasNewer,
  hasOlder,
  isBegun,
  type Read,
  readAround,
  readLater,
  readOlder,
  readSince,
} from '../../console/src/ui/lines/read.ts';
import { parseInstant } from '../../src/lib/instant.ts';
import type { EndpointView } from '../../src/management/view.ts';

const { signal } = new AbortController();
const PAGE = 100;
const T = 1_780_000_000_000_000;

type Row = Readonly<{ id: string; timestamp: number; event_message: string; metadata: object }>;

/** Row `n`, and the microsecond that it is of. */
function row(n: number, micros = n): Row {
  return { id: String(n).padStart(6, '0'), timestamp: T + micros, event_message: '', metadata: {} };
}

const many = (count: number, step = 1) => Array.from({ length: count }, (_, n) => row(n, n * step));
const ids = (all: readonly { readonly id: string }[]) => [...new Set(all.map(({ id }) => id))].sort();
const lineOf = (one: Row): Line => toLine(one);

const time = (name: string) => ({ name, control: 'time' }) as EndpointView['parameters'][number];

/** An endpoint as `logs.all`: after `iso_start`, up to `iso_end`, newest first, a page of a hundred; with cursors or without. */
async function createLog(all: readonly Row[], hasCursor: boolean, values: Record<string, string> = {}) {
  const asked: URLSearchParams[] = [];
  const sorted = all.toSorted((a, b) => b.timestamp - a.timestamp || (a.id < b.id ? 1 : -1));
  const micros = (iso: string) => parseInstant(iso) ?? Number.NaN;
  const callRaw = async (path: string): Promise<RawAnswer> => {
    const query = new URL(path, 'http://localhost').searchParams;
    asked.push(query);
    const [from, to] = [query.get('iso_start') ?? '', query.get('iso_end') ?? ''];
    const [after, until] = [from === '' ? 0 : micros(from), to === '' ? Infinity : micros(to)];
    const [at = 0, bounds] = JSON.parse(query.get('cursor') ?? '[]') as [number?, string?];
    // As the service does: a cursor is for the parameters that it came with.
    if (bounds !== undefined && bounds !== `${from} ${to}`)
      throw new Error('the cursor is of another question');
    const within = sorted.filter(({ timestamp }) => timestamp > after && timestamp <= until);
    const cursor = JSON.stringify([at + PAGE, `${from} ${to}`]);
    const isMore = hasCursor && at + PAGE < within.length;
    const link = `</api/endpoints/query/a?${new URLSearchParams({ cursor })}>; rel="next"`;
    const page = within.slice(at, at + PAGE);
    const text = JSON.stringify({ result: values['order'] === 'oldest first' ? page.reverse() : page });
    const headers = new Headers(isMore ? { link } : {});
    return { text, headers, status: 200, ms: 1, blob: new Blob([text]) };
  };
  const client = { callRaw } as Pick<Client, 'callRaw'> as Client; // nothing else is called
  const parameters = [time('iso_start'), time('iso_end')];
  const endpoint = { name: 'a', live_tail: hasCursor, parameters } as unknown as EndpointView; // what it reads
  const answer = toAnswer(await callRaw(`/?${new URLSearchParams(values)}`));
  asked.splice(0);
  return { source: createLogSource(client, { endpoint, values, answer }), calls: () => asked.length, asked };
}

describe.each([
  ['with cursors', true],
  ['without cursors', false],
])('an endpoint %s', (_name, hasCursor) => {
  it('has its first page at once, and goes on to the oldest line, each once', async () => {
    const all = many(777).flatMap((one, n) =>
      n % 7 === 0 ? [one, { ...one, id: `${one.id}-same` }] : [one],
    );
    const { source, calls } = await createLog(all, hasCursor);
    let read: Read = createRead(source, '');
    expect([isBegun(read), read.lines.length, calls()]).toEqual([true, PAGE, 0]);
    while (hasOlder(read)) await readOlder(read, { signal, onRead: (next) => (read = next) });
    expect(read.lines).toHaveLength(all.length);
    expect(ids(read.lines)).toEqual(ids(all));
  });

  it('keeps the bounds that the user wrote', async () => {
    const values = { iso_start: '2026-05-28T20:26:40', iso_end: '2026-05-28T20:26:40.000500Z' };
    const all = many(900);
    const { source, asked } = await createLog(all, hasCursor, values);
    let read: Read = createRead(source, '');
    while (hasOlder(read)) await readOlder(read, { signal, onRead: (next) => (read = next) });
    expect(read.lines).toHaveLength(500);
    expect(asked.every((query) => query.get('iso_start') === values.iso_start)).toBe(true);
  });

  it('reads what has come since a line without a gap', async () => {
    const all = many(777);
    const { source } = await createLog(all, hasCursor);
    expect(ids(await readSince(source, lineOf(row(41)), signal))).toEqual(ids(all.slice(41)));
  });

  it('takes one call for new lines that fit into a page', async () => {
    const { source, calls } = await createLog(many(120), hasCursor);
    expect(await readSince(source, lineOf(row(100)), signal)).toHaveLength(20);
    expect(ids(await readSince(source, lineOf(row(119)), signal))).toEqual([row(119).id]);
    expect(calls()).toBe(2);
  });

  it('reads new lines of the microsecond of the newest', async () => {
    const { source } = await createLog([row(1, 5), row(2, 5), row(3, 5)], hasCursor);
    const found = await readSince(source, lineOf(row(2, 5)), signal);
    expect(found.map(({ id }) => id)).toEqual([row(3).id, row(2).id, row(1).id]);
  });

  it('ends where the newest has left the plan’s window', async () => {
    const left = many(300).slice(50);
    expect(ids(await readSince((await createLog(left, hasCursor)).source, lineOf(row(20)), signal))).toEqual(
      ids(left),
    );
    expect(await readSince((await createLog([], hasCursor)).source, lineOf(row(20)), signal)).toEqual([]);
  });

  it('reads no more new lines than the list holds', async () => {
    const { source } = await createLog(many(LINES_MAX + 5 * PAGE), hasCursor);
    expect(await readSince(source, lineOf(row(3)), signal)).toHaveLength(LINES_MAX);
  });
});

it('an endpoint without cursors gets past a full page of one microsecond', async () => {
  const all = [row(1, 1), ...Array.from({ length: PAGE }, (_, n) => row(10 + n, 7))];
  const { source } = await createLog(all, false);
  let read: Read = createRead(source, '');
  while (hasOlder(read)) await readOlder(read, { signal, onRead: (next) => (read = next) });
  expect(read.lines).toHaveLength(all.length);
});

it('an endpoint without cursors that has the oldest lines of a page first goes on to the oldest line', async () => {
  const { source, calls } = await createLog(many(250), false, { order: 'oldest first' });
  let read: Read = createRead(source, '');
  while (hasOlder(read)) await readOlder(read, { signal, onRead: (next) => (read = next) });
  expect(read.lines.map(({ id }) => id)).toEqual(ids(many(250)).toReversed());
  expect(calls()).toBeLessThan(6);
});

it('an endpoint with cursors shows a line among those around it, and reads on to both sides', async () => {
  const all = many(2_000, 10_000);
  const at = lineOf(row(1_000, 10_000_000));
  const values = {
    iso_start: new Date((T - 5_000_000) / 1000).toISOString(),
    iso_end: new Date((T + 15_000_000) / 1000).toISOString(),
  };
  const { source } = await createLog(all, true, values);
  let read: Read = createRead(source, formatAt(at));
  const options = { signal, onRead: (next: Read) => (read = next) };
  await readAround(read, at, options);
  const index = read.lines.findIndex(({ id }) => id === at.id);
  expect(index).toBeGreaterThanOrEqual(100);
  expect(read.lines.length - index).toBeGreaterThanOrEqual(100);
  while (hasNewer(read)) read = await readLater(read, options);
  while (hasOlder(read)) await readOlder(read, options);
  expect(ids(read.lines)).toEqual(ids(all.filter(({ timestamp }) => timestamp <= T + 15_000_000)));
});

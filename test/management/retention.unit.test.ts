import { expect, test } from 'vitest';
import type { Registry } from '../../src/definitions/registry.ts';
import { readRetention } from '../../src/management/retention.ts';
import type { RetentionReport } from '../../src/retention/file.ts';

const MS = Date.UTC(2026, 10, 20);
const day = (name: string, rows: number) => ({ table: 't', day: name, rows, bytes: rows * 10 });
const REPORT: RetentionReport = {
  clock: { state: 'plausible', clockMs: MS, isOther: false, plausibleMs: MS },
  due: [
    {
      ...{ source: 'held', reason: 'age', percent: 80, held: 'share' },
      days: [day('2026-10-01', 1), day('2026-10-02', 2), day('2026-10-04', 4)],
    },
    { source: 'free', reason: 'size', percent: 1, days: [day('2026-10-01', 8)] },
  ],
  storeBytesMax: 0,
};
const registry = { findSource: (name: string) => ({ id: name, name }) } as unknown as Registry;
const read = (sources?: readonly string[]) =>
  readRetention(
    { retention: { review: async () => REPORT }, registry },
    { keyId: 'k', scopes: ['manage'], pins: {}, sources },
  );

test('what waits for an operator comes with its reason, days and size', async () => {
  const { due, stopped, message } = await read();
  expect(stopped).toEqual(['share']);
  expect(message).toMatch(
    /^retention has stopped for a source: 80 % of its events \(3 days\).*tailrace retention --confirm/,
  );
  expect(due).toEqual([
    {
      ...{ source: 'held', reason: 'age', held: 'share', percent: 80, days: 3, rows: 7, bytes: 70 },
      ...{ first_day: '2026-10-01', last_day: '2026-10-04' },
    },
    {
      ...{ source: 'free', reason: 'size', held: null, percent: 1, days: 1, rows: 8, bytes: 80 },
      ...{ first_day: '2026-10-01', last_day: '2026-10-01' },
    },
  ]);
});

test('a key that is limited to sources sees only theirs', async () => {
  const { due } = await read(['free']);
  expect(due.map(({ source }) => source)).toEqual(['free']);
});

import { expect, test } from 'vitest';
import { createEventFilter } from '../../src/definitions/event-filter.ts';
import type { Source } from '../../src/definitions/source.ts';
import { createRejections, KINDS_MAX, SAMPLE_CHARS_MAX } from '../../src/ingest/rejected/collect.ts';
import { createRejectedLog } from '../../src/ingest/rejected/log.ts';
import { toPattern } from '../../src/ingest/rejected/reason.ts';

const filter = createEventFilter({ redact: [{ field: 'metadata.password' }] });
const PLAIN = { name: 'plain' } as Source;
const REDACTING = { name: 'secret', filter } as Source;
const SENDER = { keyId: 'k', pinnedProject: undefined };

test('the kind of a reason leaves its times and texts out', () => {
  const aged = 'is older than the 7 days that logs keeps: ';
  expect(toPattern(`${aged}2026-11-20 07:00:00.000000`)).toBe(`${aged}…`);
  const named = 'names the project "a\\"b", but the key sends for "c" only';
  expect(toPattern(named)).toBe('names the project …, but the key sends for … only');
});

test('rejected events of a request are counted by source and reason, each with the first of them, cut', () => {
  const rejections = createRejections();
  const long = `{"a":"${'x'.repeat(SAMPLE_CHARS_MAX)}"}`;
  rejections.add('names "a"', { wire: { text: long }, source: PLAIN });
  rejections.add('names "b"', { wire: { text: '{}' }, source: PLAIN });
  rejections.add('names "b"', { wire: { line: Buffer.from('{"b":1}') }, source: undefined });
  const cut = long.slice(0, SAMPLE_CHARS_MAX);
  expect(rejections.finish()).toEqual([
    { source: 'plain', pattern: 'names …', reason: 'names "a"', count: 2, sample: cut },
    { source: '', pattern: 'names …', reason: 'names "b"', count: 1, sample: '{"b":1}' },
  ]);
});

test('rejected events of a source that redacts have no sample, nor do unreadable ones; kinds have a bound', () => {
  const rejections = createRejections();
  rejections.add('a', { wire: { text: '{"metadata":{"password":"p"}}' }, source: REDACTING });
  rejections.add('b', { wire: { refused: 'is not JSON' }, source: PLAIN });
  expect(rejections.finish().map(({ sample }) => sample)).toEqual([undefined, undefined]);
  for (let i = 0; i < 2 * KINDS_MAX; i++)
    rejections.add(`kind ${i}`, { wire: { text: '{}' }, source: PLAIN });
  expect(rejections.finish()).toHaveLength(KINDS_MAX);
});

test('the log of rejected events adds up what one key sends, keeps the newest kinds and the last sample', () => {
  let now = 1_000;
  const log = createRejectedLog(() => now);
  const one = { source: 's', pattern: 'p', reason: 'first', count: 2, sample: 'old' };
  log.add([one], SENDER);
  now = 2_000;
  log.add([{ ...one, reason: 'second', sample: 'new' }], SENDER);
  log.add([one], { ...SENDER, pinnedProject: 'aurora' });
  expect(log.list()).toMatchObject([
    { pinnedProject: 'aurora', count: 2 },
    { reason: 'second', sample: 'new', count: 4, firstMs: 1_000, lastMs: 2_000 },
  ]);
  for (let i = 0; i < 1_000; i++) log.add([{ ...one, pattern: String(i) }], SENDER);
  expect(log.list()).toHaveLength(500);
  log.forget();
  expect(log.list()).toEqual([]);
});

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SearchTree, SearchValue } from '../../src/search/tree.ts';
import { trusted } from '../../src/sql/sql.ts';
import { printSearch } from '../../trial/oracle/print-search.ts';
import { findEvents, type SearchedEvent } from '../../trial/oracle/search.ts';
import { get } from '../support/http.ts';
import { runs } from '../support/property.ts';
import { startTestService, storeEvents } from '../support/service.ts';

const DAY_MS = 86_400_000;
const nowMs = Date.UTC(2026, 10, 20, 12);
const SOURCE = 'postgres.logs';
const { core, url, close } = await startTestService({ now: nowMs });
afterAll(close);

const MESSAGES = [
  ...['Connection refused', 'CONNECTION RESET BY PEER', 'canceling statement due to statement_timeout'],
  ...[
    '100% of orders_pkey',
    'C:\\temp\\new',
    '%_\\',
    'a\\%b_c',
    "it's",
    '"quoted"',
    '(?i)(A|B)*',
    'nul\0nul',
    '',
  ],
  ...[
    'ÉTÉ à la plage',
    'été',
    'STRASSE straße',

    'Привет МИР',
    '𝄞 clef',
  ],
  ...[
    '548a717004d657d6-GRU',
    'c454cbf6-d8b6-4042-a7b2-e7c31c697806',
    'oom',
    'ab',
    'z',
    'line\nbreak',
    'aaaaaaaaaa',
  ],
];
// A part for each: in the index of a part with other messages, these could hide that one is missing.
const events: SearchedEvent[] = MESSAGES.map((event_message, i) => ({
  source: SOURCE,
  id: `e${i}`,
  timestamp: (nowMs - i * DAY_MS - 1_000) * 1_000,
  project: 'aurora',
  event_message,
  metadata: {},
}));
const sent = events.map(({ timestamp, ...event }) => ({
  ...event,
  timestamp: new Date(timestamp / 1_000).toISOString(),
}));
await storeEvents(core, SOURCE, sent, nowMs);
const { sources } = core.registry;

/** A part of a message in any letter case, or two with a wildcard between them; signs would need quotes there, which allow no wildcard. */
const VALUE: fc.Arbitrary<SearchValue> = fc
  .tuple(fc.constantFrom(...MESSAGES), fc.nat(40), fc.nat(40), fc.constantFrom(1, 3, 4, 5, 40), fc.nat(3))
  .map(([message, start, gap, length, form]) => {
    const signs = [...message]; // not code units: half a sign cannot be sent
    const from = start % (signs.length + 1);
    const text = signs.slice(from, from + length).join('');
    const first = form % 2 === 0 ? text : text.toUpperCase();
    const next = signs.slice(start + length + gap, start + 2 * length + gap).join('');
    const isBare = /^\w+$/.test(first) && /^\w+$/.test(next);
    return form === 3 && isBare ? [first, next] : [first];
  });
const ODD = [
  '%',
  '_',
  '\\',
  '\\%',
  'a_b',
  "'",
  'k',
  'K',
  'K',

  'ss',
  'ß',

  'nowhere to be found',
  'zzzz',
];
const TEXT: fc.Arbitrary<SearchTree> = fc
  .oneof(
    { weight: 4, arbitrary: VALUE },
    { weight: 1, arbitrary: fc.constantFrom(...ODD).map((odd) => [odd] as const) },
  )
  .map((value) => ({ kind: 'text', value }));
const TREE: fc.Arbitrary<SearchTree> = fc.oneof(
  { weight: 4, arbitrary: TEXT },
  { weight: 1, arbitrary: TEXT.map((item) => ({ kind: 'not' as const, item })) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('and' as const, 'or' as const),
      items: fc.tuple(TEXT, TEXT),
    }),
  },
);

const range = {
  source: SOURCE,
  from: new Date(nowMs - 60 * DAY_MS).toISOString(),
  until: new Date(nowMs).toISOString(),
};

async function find(q: string): Promise<string[]> {
  const { status, text, body } = await get(url, `/api/search?${new URLSearchParams({ ...range, q })}`);
  expect(status, text).toBe(200);
  return body.result.map(({ id }) => String(id));
}

// Merges build the index of the messages, so an answer that it makes wrong changes then.
describe.each(['as they came', 'merged'])('messages %s', (state) => {
  beforeAll(async () => {
    if (state === 'merged') await core.engine.command('OPTIMIZE TABLE postgres_logs FINAL');
  }, 60_000);

  test('are found by any text in them, in any letter case', async () => {
    await fc.assert(
      fc.asyncProperty(TREE, async (tree) => {
        const q = printSearch(tree);
        expect(await find(q), q).toEqual(findEvents(events, sources, tree).map(({ id }) => id));
      }),
      runs(60),
    );
  }, 60_000);
});

test('the index leaves out the parts that cannot have the text', async () => {
  const searched = (text: string) =>
    core.engine.inspect(
      trusted(
        `EXPLAIN indexes = 1 SELECT id FROM postgres_logs PREWHERE lower(event_message) LIKE '%${text}%'`,
      ),
    );
  const countParts = async (text: string) => {
    const plan = (await searched(text)).map((line) => Object.values(line)[0]).join('\n');
    return /event_message_substrings[\s\S]*?Parts: (\d+)\//.exec(plan)?.[1];
  };
  expect(await countParts('refused')).toBe('1');
  expect(await countParts('nowhere')).toBe('0');
});

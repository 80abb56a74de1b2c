import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SearchTree } from '../../src/search/parse.ts';
import { trusted } from '../../src/sql/sql.ts';
import { isQuotedValue, printSearch } from '../../trial/oracle/print-search.ts';
import { findEvents, type SearchedEvent } from '../../trial/oracle/search.ts';
import { read } from '../support/http.ts';
import { createFindAtDoor, storeSearched } from '../support/matched.ts';
import { runs, sample, weighted } from '../support/property.ts';
import { ownService } from '../support/service.ts';

// Searches for all letters, in blocks of many rows, and for number-like texts, against an oracle (trial/oracle/search.ts).
const nowMs = Date.UTC(2026, 10, 20, 12);
const DAY_MS = 86_400_000;
const SOURCE = 'gotrue.logs.prod';
const RANGE = { from: new Date(nowMs - 8 * DAY_MS).toISOString(), until: new Date(nowMs).toISOString() };
const bounds = { searchClausesMax: 1_024, searchBytesMax: 65_536 };
const { core, url } = await ownService({ now: nowMs, bounds });
const { sources } = core.registry;
const { table: TABLE } = core.registry.getSource(SOURCE);
const idsOf = (found: readonly { id?: unknown }[]) => found.map(({ id }) => String(id)).toSorted();

const LETTERS = Array.from({ length: 0x2_0000 }, (_, code) => code)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))
  .filter((letter) => /[\p{Changes_When_Casemapped}\p{Changes_When_Casefolded}]/u.test(letter));
const CASELESS = [...'接שب😀1-%_\\. (]\0\u0301'];
const WORDS =
  'μήνυμα|ΜΉΝΥΜΑ|ΟΔΌΣ|straße|STRASSE|ΐς|ǆep|ʂɪɤƛι|273 K|café timeout|İstanbul|ılık|接続拒否'.split('|');

/** JSON that a metadata has for `x`: numbers as they are written, of which a double holds some only nearly; and texts. */
const NUMBERS = `0 -0 -0.0 5 5.0 5e0 -5 0.1 0.30000000000000004 0.3 1e2 100 1e21 1e-7 1.5e300 -1.5e300 1e-300
9007199254740992 9007199254740993 9007199254740994 -9007199254740993 1189998819991197253 1189998819991197254
9223372036854775807 18446744073709551615 123456789.125 4.999999999999999`.split(/\s/);
const TEXTS =
  `5|05|5.0|+5| 5|5 |.5|5.|1e2|1E+2|1e400|-1e400|inf|-inf|nan|Infinity|0x10|1_000|٥|9007199254740993|9007199254740993.0
0.1000|12345678901234567890123456789|12345678901234567890123456788.5|1e-30||a|-|true`.split(/[|\n]/);
const raw = (json: string): unknown =>
  (JSON as unknown as { rawJSON: (json: string) => unknown }).rawJSON(json); // since ES2026
const VALUES = [...NUMBERS.map(raw), ...TEXTS, null, true, [5], { a: 5 }];

const events: SearchedEvent[] = [
  ...LETTERS.map((letter) => `a${letter}é ${letter}`),
  ...WORDS.flatMap((word) => [word, `timeout ${word} refused`]),
  ...CASELESS,
].map((event_message, i) => ({
  source: SOURCE,
  id: `e${i}`,
  // Of seven days: each has its part, whose index of texts has to lead to the messages in it.
  timestamp: (nowMs - 1_000 - i - (i % 7) * DAY_MS) * 1_000,
  project: 'aurora',
  event_message,
  metadata: { x: VALUES[i % VALUES.length] },
}));
await storeSearched(core, events, nowMs);

const findAtDoor = createFindAtDoor(events, [core.registry.getSource(SOURCE)], nowMs);

const ANY_LETTER = fc.constantFrom(...LETTERS, ...CASELESS);
const TEXT: fc.Arbitrary<SearchTree> = fc
  .oneof(
    ANY_LETTER,
    fc
      .tuple(fc.constantFrom('a', 'A', ' ', ''), ANY_LETTER, fc.constantFrom('é', 'É', ''))
      .map((all) => all.join('')),
    fc
      .tuple(fc.constantFrom(...WORDS), fc.nat(3), fc.integer({ min: 1, max: 12 }), fc.nat(2))
      .map(([word, start, length, form]) => {
        const part = [...word].slice(start, start + length).join('');
        return form === 0 ? part : form === 1 ? part.toUpperCase() : part.toLowerCase();
      }),
  )
  .map((text) => ({ kind: 'text', value: [text] }) as const);
const NUMBER = fc.oneof(
  fc.constantFrom(...NUMBERS, ...TEXTS),
  fc.double({ noNaN: true }).map((double) => String(double).replace('e+', 'e')),
  fc
    .tuple(
      fc.constantFrom('9007199254740993', '1189998819991197253', '5', '100'),
      fc.integer({ min: -2, max: 2 }),
    )
    .map(([number, more]) => String(BigInt(number) + BigInt(more))),
);
const OPERATOR = fc.constantFrom(...(['=', '>=', '<=', '>', '<'] as const));
const COMPARE: fc.Arbitrary<SearchTree> = fc
  .record({ operator: OPERATOR, text: NUMBER, mayQuote: fc.boolean() })
  .map(({ operator, text, mayQuote }) => ({
    ...{ kind: 'compare', field: ['x'], operator, value: [text], position: 0 },
    isQuoted: isQuotedValue([text], mayQuote),
  }));
const ONE = fc.oneof(TEXT, COMPARE);
const TREE = weighted([4, ONE], [1, ONE.map((item): SearchTree => ({ kind: 'not', item }))]);

async function ask(parameters: Record<string, string>) {
  const query = new URLSearchParams({ source: SOURCE, ...RANGE, ...parameters });
  return (await read(url, `/api/search?${query}`)).result;
}

async function count(q: string): Promise<number> {
  const rows = await ask({ q, part: 'histogram', by: 'source', buckets: '1' });
  return Number(rows[0]?.['count'] ?? 0);
}

// Merges build the index of the messages, so an answer that it makes wrong changes then.
test.each(['as they came', 'merged'])('finds the events that an oracle finds, %s', async (state) => {
  if (state === 'merged') await core.engine.command(trusted(`OPTIMIZE TABLE ${TABLE} FINAL`));
  await fc.assert(
    fc.asyncProperty(TREE, async (tree) => {
      const q = printSearch(tree);
      const found = findEvents(events, sources, tree);
      expect(await count(q), q).toBe(found.length);
      expect(findAtDoor(tree), `${q}, before events are stored`).toEqual(found);
    }),
    runs(120),
  );
});

test('finds all cases of every letter, and no other letter', async () => {
  const size = 20;
  const starts = Array.from({ length: Math.ceil(LETTERS.length / size) }, (_, i) => i * size);
  for (const start of sample(starts)) {
    const letters = LETTERS.slice(start, start + size);
    const items = letters.map((letter) => ({ kind: 'text', value: [`a${letter}É`] }) as const);
    const tree = { kind: 'or' as const, items };
    const found = await ask({ q: printSearch(tree), limit: '1000' });
    expect(idsOf(found)).toEqual(idsOf(findEvents(events, sources, tree)));
  }
});

import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { FORMATS, NDJSON_FORMAT, splitLines } from '../../src/query/format.ts';
import { parseParameters } from '../../src/query/parameters.ts';
import { comparePositions, type Position, readPosition } from '../../src/query/position.ts';
import { at, createQuestion } from '../../src/query/question.ts';
import { createRunner } from '../../src/query/run.ts';
import { createSteps } from '../../src/query/steps.ts';
import { runs } from '../support/property.ts';
import { openTestStore, ownFolder, writeFiles } from '../support/service.ts';

/** Rows come from a parameter: pairs of a number and a text, in any order. */
const YAML = (name: string, id: number, by: string) => `
id: 22222222-2222-4222-8222-22222222220${id}
name: ${name}
description: Rows of a parameter.
max_rows: 1000
caching: disabled
cursor: { by: [${by}], size: 4 }
parameters:
  numbers: { type: list, of: integer, description: Numbers. }
  texts: { type: list, of: string, description: As many texts. }
columns:
  number: { type: integer, description: A number. }
  text: { type: string, description: A text. }
`;
const SQL = (order: string, after: string) => `SELECT number, text
FROM (SELECT p.1 AS number, p.2 AS text FROM (SELECT arrayJoin(arrayZip(@numbers, @texts)) AS p))
WHERE @cursor_number IS NULL OR ${after}
ORDER BY ${order}
LIMIT 4`;

const ENDPOINTS = {
  'rows.down': ['number desc, text desc', '(number, text) < (@cursor_number, @cursor_text)'],
  'rows.up': ['number asc, text asc', '(number, text) > (@cursor_number, @cursor_text)'],
  'rows.mixed': [
    'text desc, number asc',
    'text < @cursor_text OR (text = @cursor_text AND number > @cursor_number)',
  ],
} as const;

const { path: folder } = await ownFolder();
for (const [i, [name, [order, after]]] of Object.entries(ENDPOINTS).entries())
  await writeFiles(join(folder, name), {
    'endpoint.yaml': YAML(name, i, order),
    'query.sql': SQL(order, after),
  });
const { core, close } = await openTestStore({ TAILRACE_ENDPOINTS_DIR: folder });
afterAll(close);
const run = createSteps(createRunner(core.engine, Date.now), 60_000, Date.now);

const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };
const number = fc.oneof(fc.constantFrom(-1n, 0n, 1n, INT64.min, INT64.max, 2n ** 53n + 1n), fc.bigInt(INT64));
const text = fc.oneof(
  fc.constantFrom('', 'a', 'a\0', "'", '\\', '\n', 'é', '𝄞', '\uffff', '=', '@number'),
  fc.string({ unit: 'binary', maxLength: 5 }).map((one) => one.toWellFormed()),
);
const rows = fc.uniqueArray(fc.tuple(number, text), {
  maxLength: 18,
  selector: ([n, t]) => JSON.stringify([String(n), t]),
});

// Few positions, so that pages end among rows alike.
const alike = fc.array(fc.tuple(fc.constantFrom(0n, 1n, INT64.min), fc.constantFrom('', 'a', 'a\0')), {
  maxLength: 30,
});

/** @param format of the answers whose ends lead on */
async function readAll(name: string, all: readonly (readonly [bigint, string])[], format = NDJSON_FORMAT) {
  const endpoint = core.registry.getEndpoint(name);
  const raw = { numbers: all.map(([n]) => String(n)), texts: all.map(([, t]) => t) };
  const first = createQuestion(endpoint, parseParameters(endpoint, raw, 100_000), NDJSON_FORMAT);
  const { pages } = endpoint;
  if (pages === undefined) throw new Error('it has pages');
  const read: Position[] = [];
  for (let next: Position | undefined, question = first; ; question = at(first, next)) {
    const answer = await run(question);
    read.push(...splitLines(answer.body).map((row) => readPosition(pages, row)));
    next = format === NDJSON_FORMAT ? answer.last : (await run({ ...question, format })).last;
    if (next === undefined) return { pages, read, first };
  }
}

describe('positions', () => {
  test.each(Object.keys(ENDPOINTS))(
    'lead through any rows of %s once, in the order of the engine',
    async (name) => {
      await fc.assert(
        fc.asyncProperty(rows, async (all) => {
          const { pages, read } = await readAll(name, all);
          const isText = pages.by[0]?.type === 'string';
          const wanted = all.map(([n, t]) => (isText ? [t, String(n)] : [String(n), t]));
          expect(read).toEqual(wanted.toSorted((a, b) => comparePositions(pages, a, b)));
        }),
        runs(15),
      );
    },
  );

  test.each(['ndjson', 'csv'])(
    'lead through rows alike in %s, each as often as it is there',
    async (format) => {
      const chosen = FORMATS.find(({ name }) => name === format);
      await fc.assert(
        fc.asyncProperty(alike, async (all) => {
          const texts = all.map(([n, t]) => [String(n), t]);
          const { pages, read } = await readAll('rows.down', all, chosen);
          expect(read).toEqual(texts.toSorted((a, b) => comparePositions(pages, a, b)));
        }),
        runs(15),
      );
    },
  );
});

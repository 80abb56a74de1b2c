import fc from 'fast-check';
import { expect, test } from 'vitest';
import { listRecords } from '../../src/query/run.ts';
import { runs } from '../support/property.ts';

/** JSON with each number as the text that it was written with. */
type Json = { number: string } | { text: string } | { list: Json[] } | { members: [string, Json][] };

const NUMBERS = ['0', '-1', '12345678901234567890', '1e400', '-0.0', '0.1000', 'true', 'false', 'null'];
const { json } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(...NUMBERS).map((number) => ({ number })),
    fc
      .oneof(fc.string({ unit: 'binary' }), fc.constantFrom('{}', '[{"', '\\', '"', '\n,', '}'))
      .map((text) => ({ text })),
    fc.array(tie('json'), { maxLength: 4 }).map((list) => ({ list })),
    fc.array(fc.tuple(fc.string(), tie('json')), { maxLength: 4 }).map((members) => ({ members })),
  ),
}));

/** @param isListed whether an object here is a list of itself */
function write(value: Json, isRecord: boolean, isListed = isRecord): string {
  if ('number' in value) return value.number;
  if ('text' in value) return JSON.stringify(value.text);
  if ('list' in value) return `[${value.list.map((one) => write(one, isRecord, false)).join(',')}]`;
  const members = value.members.map(([name, one]) => `${JSON.stringify(name)}:${write(one, isRecord)}`);
  return isListed ? `[{${members.join(',')}}]` : `{${members.join(',')}}`;
}

const writeRows = (rows: readonly Json[][], places: readonly number[]) =>
  rows
    .map((row) => `{${row.map((value, i) => `"c${i}":${write(value, places.includes(i))}`).join(',')}}\n`)
    .join('');

test('each object in the columns becomes a list of itself, and nothing else changes', async () => {
  const rows = fc.array(fc.array(json, { minLength: 1, maxLength: 4 }), { maxLength: 5 });
  const places = fc.subarray([0, 1, 2, 3]);
  await fc.assert(
    fc.asyncProperty(rows, places, async (values, at) => {
      const listed = await listRecords(Buffer.from(writeRows(values, [])), at);
      expect(listed.toString()).toBe(writeRows(values, at));
    }),
    runs(300),
  );
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { takeRows } from '../../src/http/mcp/rows.ts';

test('as many whole rows are taken as fit, whatever is in them', () => {
  const row = fc.record({
    a: fc.string({ unit: 'binary' }),
    b: fc.jsonValue(),
    '"{': fc.constantFrom('}', '\\', '"'),
  });
  const rows = fc.array(row, { maxLength: 20 });
  const holds = fc.property(rows, fc.nat(600), (all, bytesMax) => {
    const texts = all.map((one) => JSON.stringify(one));
    const body = Buffer.from(`{"result":[${texts.join(',')}]}`);
    const fitting = texts.findIndex((_, i) => Buffer.byteLength(texts.slice(0, i + 1).join(',')) > bytesMax);
    const expected = fitting === -1 ? texts : texts.slice(0, fitting);
    expect(takeRows({ body, rows: all.length }, bytesMax)).toEqual({
      text: expected.join(','),
      rows: expected.length,
    });
  });
  fc.assert(holds);
});

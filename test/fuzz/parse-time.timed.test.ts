import { expect, test } from 'vitest';
import { measureParser } from '../../trial/fuzz/parser.ts';
import { PARSERS } from '../../trial/fuzz/parsers.ts';
import { SEED, scale } from '../support/property.ts';

// Time on a core that a caller's text may hold the thread that answers requests.
const MS_MAX = 50;

test.each(Object.entries(PARSERS))(
  'no text of a caller, up to the accepted length, holds up the others: %s',
  async (name, parser) => {
    const slowest = await measureParser(parser, scale(15), `${SEED} ${name}`);
    expect(slowest.ms, JSON.stringify(slowest)).toBeLessThan(MS_MAX);
  },
);

test('the trial finds a parser that takes too long for a nested, a repeated and its longest accepted text, or that ends the stack', async () => {
  const parser = { charsMax: 160, tokens: ['a'], nests: [['(', ')']] as const };
  const cube = { ...parser, parse: (text: string) => countTriples(text.replaceAll('(', '')) };
  expect(await measureParser(cube, 1, 'a seed')).toMatchObject({
    chars: 160,
    text: expect.stringContaining('"a"'),
  });
  const accepts = (text: string) => text.length <= 96;
  const bounded = { ...cube, accepts, parse: (text: string) => accepts(text) && countTriples(text) };
  expect((await measureParser(bounded, 1, 'a seed')).chars).toBe(96);
  const endless = { ...parser, charsMax: 100_000, parse: depthOf };
  await expect(measureParser(endless, 1, 'a seed')).rejects.toThrow('call stack');
});

function countTriples(text: string): number {
  let count = 0;
  for (const a of text) for (const b of text) for (const c of text) if (a === b && b === c) count++;
  return count;
}

function depthOf(text: string): number {
  return text.startsWith('(') ? 1 + depthOf(text.slice(1)) : 0;
}

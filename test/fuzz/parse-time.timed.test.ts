import { expect, test } from 'vitest';
import { leastCoreMs, measureParser, type Parser } from '../../trial/fuzz/parser.ts';
import { PARSERS } from '../../trial/fuzz/parsers.ts';
import { SEED, scale } from '../support/property.ts';

/**
 * How many times as long as `readWords` a caller's text may hold the thread that answers requests: 50 ms on a core of a machine like
 * that of docs/performance.md, where `readWords` takes 6.0 ms. That is the least of 20 measurements, by turns with the slowest
 * parsers, of which the least are 20 to 35 ms. Beside a load of 14, all took half as long again: by medians 4 to 6.5 times `readWords`.
 */
const TIMES_MAX = 8;
/** A busy moment may slow down only one of the two, so what is too slow is measured again; a slow parser is so each time. */
const TRIES = 3;

const WORDS = ',a'.repeat(32_768);

/** A fixed piece of work like that of the parsers: cuts a text of 64 KiB into words by a regular expression. */
function readWords(): number {
  const words: { readonly text: string; readonly start: number; readonly before: string | undefined }[] = [];
  for (const { 0: text, index: start } of WORDS.matchAll(/[a-z]+|,/g))
    words.push({ text, start, before: words.at(-1)?.text });
  return words.length;
}

/** Measures the slowest text of a parser, in times of `readWords`, before or after it, whichever took longer. */
async function measureTimes(parser: Parser, mixtures: number, seed: string) {
  const beforeMs = await leastCoreMs(readWords);
  const slowest = await measureParser(parser, mixtures, seed);
  const wordsMs = Math.max(beforeMs, await leastCoreMs(readWords));
  return { ...slowest, wordsMs, times: slowest.ms / wordsMs };
}

test.each(Object.entries(PARSERS))(
  'no text of a caller, up to the accepted length, holds up the others: %s',
  async (name, parser) => {
    let slowest = await measureTimes(parser, scale(15), `${SEED} ${name}`);
    for (let tries = 1; tries < TRIES && slowest.times >= TIMES_MAX; tries++)
      slowest = await measureTimes(parser, scale(15), `${SEED} ${name}`);
    expect(slowest.times, JSON.stringify(slowest)).toBeLessThan(TIMES_MAX);
  },
);

test('a parser that takes twice as long as it may is found on any machine, and one that takes half as long is not', async () => {
  const repeat = (count: number) => ({ charsMax: 16, tokens: ['a'], parse: () => times(count, readWords) });
  expect((await measureTimes(repeat(2 * TIMES_MAX), 0, 'a seed')).times).toBeGreaterThan(TIMES_MAX);
  expect((await measureTimes(repeat(TIMES_MAX / 2), 0, 'a seed')).times).toBeLessThan(TIMES_MAX);
});

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

function times(count: number, work: () => unknown): void {
  for (let i = 0; i < count; i++) work();
}

import { expect, test } from 'vitest';
import { type SyntaxNode, walk } from '../../src/sandbox/syntax-tree.ts';
import { measureParsers } from '../../trial/fuzz/parse-time.ts';
import { PARSERS } from '../../trial/fuzz/parsers.ts';
import { growth } from '../../trial/growth.ts';
import { scale } from '../support/property.ts';

// On a core; ten times the goal of 5 ms. `npm run bench -- parse` tries more.
const MS_MAX = 50;
const GROWTH_MAX = 3;
// Below it a clock measures itself, and objects of many members become dictionaries, which is a step and no growth.
const MEASURABLE_MS = 8;

test.each(Object.entries(PARSERS))(
  'no text of a caller holds up the others, in proportion to its length: %s',
  async (name, parser) => {
    const [slowest] = await measureParsers({ [name]: parser }, scale(15), 'a seed');
    expect(slowest?.ms, JSON.stringify(slowest)).toBeLessThan(MS_MAX);
    if ((slowest?.ms ?? 0) > MEASURABLE_MS)
      expect(slowest?.growth, JSON.stringify(slowest)).toBeLessThan(GROWTH_MAX);
  },
  60_000,
);

test('the trial finds a parser whose time grows faster than its text, or that ends the stack', async () => {
  // The cube, since a square is near the bound on a busy machine.
  const cube = { charsMax: 200, tokens: ['a'], parse: (text: string) => countTriples(text) };
  const [slowest] = await measureParsers({ cube }, 1, 'a seed');
  expect(slowest?.growth).toBeGreaterThan(GROWTH_MAX);
  const endless = { charsMax: 100_000, tokens: ['a'], nests: [['(', ')'] as const], parse: depthOf };
  await expect(measureParsers({ endless }, 1, 'a seed')).rejects.toThrow('call stack');
});

function countTriples(text: string): number {
  let count = 0;
  for (const a of text) for (const b of text) for (const c of text) if (a === b && b === c) count++;
  return count;
}

function depthOf(text: string): number {
  return text.startsWith('(') ? 1 + depthOf(text.slice(1)) : 0;
}

test('a syntax tree is walked in a time in proportion to its size, however deep it is', () => {
  const chain = (depth: number) => {
    let node: SyntaxNode = { kind: 'leaf', text: '', children: [] };
    for (let i = 0; i < depth; i++) node = { kind: 'Function', text: '', children: [node] };
    return node;
  };
  const trees = new Map([500, 2_000].map((depth) => [depth, chain(depth)]));
  const walkAll = (depth: number) => [...walk(trees.get(depth) ?? chain(depth))];
  expect(growth(walkAll, 500)).toBeLessThan(GROWTH_MAX);
});

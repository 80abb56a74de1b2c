import accepts from '@fastify/accepts';
import Fastify from 'fastify';
import fresh from 'fresh';
import { expect, test } from 'vitest';
import { NEGOTIATED_CHARS_MAX } from '../../src/http/listener.ts';
import { type SyntaxNode, walk } from '../../src/query/syntax-tree.ts';
import { measureParsers } from '../../trial/fuzz/parse-time.ts';
import { coreMs, growth } from '../../trial/growth.ts';
import { scale } from '../support/property.ts';

// On a core; ten times the goal of docs/security.md. `npm run bench -- parse` tries more.
const MS_MAX = 50;
const GROWTH_MAX = 3;
// Below it a clock measures itself.
const MEASURABLE_MS = 0.5;

test('no text of a caller holds up the others: the slowest of each parser, in proportion to its length', () => {
  for (const { ms, growth: factor, ...slowest } of measureParsers(scale(15), 'a seed')) {
    expect(ms, JSON.stringify(slowest)).toBeLessThan(MS_MAX);
    if (ms > MEASURABLE_MS) expect(factor, JSON.stringify(slowest)).toBeLessThan(GROWTH_MAX);
  }
}, 120_000);

test('headers that are negotiated by are short enough for work that grows with the square of their length', async () => {
  const app = Fastify();
  await app.register(accepts);
  const offered = ['application/json', 'application/json; charset=utf-8'];
  app.get('/', (request) => {
    return { ms: coreMs(() => [request.accepts().type(offered), request.accepts().encodings(['zstd'])]) };
  });
  for (const unit of ['a/b;"', ',', ';', 'a/b,', 'a;q=1,', '*/*,', '"']) {
    const text = `a/b;x="${unit.repeat(NEGOTIATED_CHARS_MAX)}`.slice(0, NEGOTIATED_CHARS_MAX);
    const answer = await app.inject({ url: '/', headers: { accept: text, 'accept-encoding': text } });
    expect(answer.json<{ ms: number }>().ms, unit).toBeLessThan(MS_MAX);
  }
  await app.close();
});

test('If-None-Match is read in a time in proportion to its length', () => {
  const read = (length: number) => fresh({ 'if-none-match': '"a",'.repeat(length) }, { etag: '"b"' });
  expect(growth(read, 2_000)).toBeLessThan(GROWTH_MAX);
});

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

import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { readDefinitions } from '../../src/definitions/read.ts';
import { parseParameters } from '../../src/query/parameters.ts';
import { createSearch, SEARCH } from '../../src/search/search.ts';

// The terms that a search may have, by the number of its sources and by what it asks for.
const [source] = (await readDefinitions(parseConfig({}))).definitions.sources;
if (source === undefined) throw new Error('there is no source');

function ask(part: string, sources: number, terms: number): void {
  createSearch(parseParameters(SEARCH, { q: 'a '.repeat(terms), part }, 1_000), {
    sources: new Array(sources).fill(source),
    nowMs: 1e12,
    limits: { searchClausesMax: 128 },
  });
}

test.each([
  { part: 'rows', sources: 16, most: 128 },
  { part: 'rows', sources: 32, most: 64 },
  { part: 'compare', sources: 8, most: 128 },
  { part: 'compare', sources: 16, most: 64 },
  { part: 'compare', sources: 32, most: 32 },
])('part=$part of $sources sources has at most $most terms', ({ part, sources, most }) => {
  ask(part, sources, most);
  expect(() => ask(part, sources, most + 1)).toThrow(`more than ${most} terms`);
});

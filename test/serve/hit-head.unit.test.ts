import { describe, expect, test } from 'vitest';
import type { CacheOutcome } from '../../src/cache/store.ts';
import { JSON_FORMAT } from '../../src/query/format.ts';
import { createDescribeWhole, createRepresent } from '../../src/serve/describe.ts';
import { CACHED } from '../support/cached-endpoint.ts';

const ENDPOINT = { ...CACHED, cachingSeconds: 60 };
const answer = {
  body: Buffer.from('{}'),
  rows: 0,
  format: JSON_FORMAT,
  instantMs: 0,
  engineMs: 7,
  coreMs: 0,
};
const representation = await createRepresent()(answer, 'identity');
const servedAs = (outcome: CacheOutcome, ageSeconds: number) => ({ answer, outcome, ageSeconds });

/** Returns the value of a header. */
function find(head: readonly string[], name: string): string | undefined {
  return head.find((_, at) => at % 2 === 1 && head[at - 1] === name);
}

describe('the headers of a hit', () => {
  const whole = createDescribeWhole();
  const of = (ageSeconds: number, vary?: string, endpoint = ENDPOINT) =>
    whole({ question: { endpoint }, vary }, servedAs('hit', ageSeconds), representation);

  test('are not those of the request that computed the answer', () => {
    of(0);
    const first = whole({ question: { endpoint: ENDPOINT } }, servedAs('miss', 0), representation);
    expect([find(first, 'cache-status'), find(first, 'server-timing')]).toEqual([
      'Tailrace; fwd=miss; stored',
      'engine;dur=7.0',
    ]);
    expect(find(of(0), 'server-timing')).toBe('engine;dur=0.0');
  });
});

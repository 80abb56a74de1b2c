import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { planSample } from '../../src/sample/plan.ts';
import { SOURCES } from './support.ts';

const total = (parts: readonly { rows: number }[]) => parts.reduce((sum, part) => sum + part.rows, 0);

describe('planSample', () => {
  test('gives most rows to the requests at the gateway', () => {
    const rows = Object.fromEntries(
      planSample(SOURCES, { rows: 1_000, days: 7 }).map((part) => [part.source.name, part.rows]),
    );
    expect(rows['cloudflare.logs.prod']).toBe(600);
    expect(rows['deno-relay-logs']).toBe(150);
    expect(Object.values(rows).filter((one) => one === 0)).toEqual([]);
  });

  test('shares out every row, whichever sources are defined', () => {
    fc.assert(
      fc.property(fc.nat(1_000_000_000), fc.subarray([...SOURCES], { minLength: 1 }), (rows, sources) => {
        const parts = planSample(sources, { rows, days: 7 });
        expect(total(parts)).toBe(rows);
        expect(Math.min(...parts.map((part) => part.rows))).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  test('makes nothing where no source is one that it knows', () => {
    expect(planSample([], { rows: 100, days: 7 })).toEqual([]);
  });
});

import { beforeEach, describe, expect, test } from 'vitest';
import { createSuspects, type SuspectQuery, type Suspects } from '../../../src/engine/process/suspects.ts';

const query = (identity: string, more: Partial<SuspectQuery> = {}): SuspectQuery => ({ identity, ...more });

let now = 0;
let suspects: Suspects;
let ends = 0;
/** At another end of the process each time. */
const suspect = (one: SuspectQuery, isCertain: boolean) => suspects.suspect(one, { end: ++ends, isCertain });
beforeEach(() => {
  now = 1_000;
  suspects = createSuspects(() => now);
});

test('a query that ran when the engine ended twice is refused, and others are not', () => {
  suspect(query('bad'), false);
  suspects.check(query('bad'));
  suspect(query('bad'), false);
  expect(() => suspects.check(query('bad'))).toThrow(
    expect.objectContaining({ code: 'engine_unavailable', retryAfterSeconds: 300 }),
  );
  suspects.check(query('good'));
});

test('a query that ended by itself in between was not the cause', () => {
  suspect(query('often'), false);
  suspects.clear(query('often'));
  suspect(query('often'), false);
  suspects.check(query('often'));
});

test('a query is accepted again when its time is over', () => {
  suspect(query('bad'), false);
  suspect(query('bad'), false);
  now += 299_000;
  expect(() => suspects.check(query('bad'))).toThrow('is rejected for 1 s');
  now += 1_001;
  suspects.check(query('bad'));
});

test('no more than a thousand are remembered', () => {
  for (let i = 0; i < 2; i++) suspect(query('first'), false);
  for (let i = 0; i < 1_000; i++) suspect(query(`other ${i}`), false);
  suspects.check(query('first'));
});

describe('a key with a query that certainly ended the engine', () => {
  const attack = (value: number, origin = 'some.endpoint request-9', lane = 'key-1') =>
    query(`value ${value}`, { origin, lane });

  test('is refused at that endpoint, whatever the values, longer each time up to an hour', () => {
    for (const [i, ms] of [5_000, 30_000, 300_000, 900_000, 3_600_000, 3_600_000].entries()) {
      suspect(attack(i), true);
      now += ms - 1;
      expect(() => suspects.check(attack(9))).toThrow(
        'a query of this key to this endpoint has ended the engine and is rejected for 1 s',
      );
      now += 1;
      suspects.check(attack(9));
    }
  });

  test('is refused with all of its tokens, which count together', () => {
    for (const [i, ms] of [5_000, 30_000, 300_000].entries()) {
      suspect(attack(i, undefined, `key-1/token-${i}`), true);
      now += ms - 1;
      for (const lane of ['key-1', 'key-1/token-0', 'key-1/token-9'])
        expect(() => suspects.check(attack(9, undefined, lane))).toThrow('is rejected for 1 s');
      suspects.check(attack(9, undefined, 'key-2/token-0'));
      now += 1;
    }
  });

  test('is refused everywhere once queries to a second endpoint have done it, and longer', () => {
    suspect(attack(1), true);
    suspect(attack(2, 'draft-1 request-2'), true);
    now += 29_999;
    for (const origin of ['some.endpoint 1', 'draft-1 2', 'draft-2 3'])
      expect(() => suspects.check(attack(9, origin))).toThrow(
        'queries of this key to several endpoints have ended the engine and are rejected for 1 s',
      );
    now += 1;
    suspect(attack(3), true); // as before at the first one: still of several
    expect(() => suspects.check(attack(9, 'draft-3 4'))).toThrow('are rejected for 300 s');
  });

  test('is counted once if several of its queries ran at one end', () => {
    for (let i = 0; i < 3; i++) suspects.suspect(attack(i), { end: 1, isCertain: true });
    expect(() => suspects.check(attack(9))).toThrow('is rejected for 5 s');
  });

  test('is remembered longer than it is refused, and forgotten in the end', () => {
    suspect(attack(1), true);
    now += 7_199_999;
    suspect(attack(2), true);
    expect(() => suspects.check(attack(9))).toThrow('is rejected for 30 s');
    now += 7_200_001;
    suspect(attack(3), true);
    expect(() => suspects.check(attack(9))).toThrow('is rejected for 5 s');
  });

  test('is not refused elsewhere, nor is another key', () => {
    suspect(attack(1), true);
    suspects.check(attack(9, 'another.endpoint request-9'));
    suspects.check(attack(9, 'some.endpoint request-9', 'key-2'));
    suspects.check(query('of the service itself'));
  });

  test('is not when something else may have been the cause', () => {
    for (let i = 0; i < 9; i++) suspect(attack(i), false);
    suspects.check(attack(10));
  });
});

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
});

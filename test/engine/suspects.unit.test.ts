import { beforeEach, expect, test } from 'vitest';
import { createSuspects, type Suspects } from '../../src/engine/embedded/running.ts';

let now = 0;
let suspects: Suspects;
beforeEach(() => {
  now = 1_000;
  suspects = createSuspects(() => now);
});

/** Queries of these keys run when the process ends. */
const end = (...lanes: (string | undefined)[]) =>
  suspects.count(lanes.map((lane) => ({ lane, isAgain: false }))).map(({ lane }) => lane);

test('a key whose queries were running at two ends waits, longer each time up to an hour, with all its tokens', () => {
  end('bad');
  suspects.check('bad');
  for (const ms of [5_000, 30_000, 300_000, 900_000, 3_600_000, 3_600_000]) {
    end('bad', 'bad/token');
    now += ms - 1;
    expect(() => suspects.check('bad/token')).toThrow(
      expect.objectContaining({ code: 'engine_unavailable', retryAfterSeconds: 1 }),
    );
    now += 1;
    suspects.check('bad/token');
  }
  suspects.check('good');
  suspects.check(undefined);
});

test('a key beside one that keeps ending the process does not wait', () => {
  expect(end('good', 'bad', undefined)).toEqual(['good', 'bad', undefined]);
  // Its query runs again by itself, while others of the good key run.
  const again = [
    { lane: 'bad', isAgain: true },
    { lane: 'good', isAgain: false },
  ];
  expect(suspects.count(again)).toEqual(again.slice(0, 1));
  expect(() => suspects.check('bad')).toThrow('are rejected for 5 s');
  now += 5_000;
  expect(end('bad', 'good')).toEqual(['bad']);
  expect(() => suspects.check('bad')).toThrow('are rejected for 30 s');
  suspects.check('good');
});

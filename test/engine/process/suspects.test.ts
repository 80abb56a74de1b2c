import { beforeEach, expect, test } from 'vitest';
import { createSuspects, type Suspects } from '../../../src/engine/process/suspects.ts';

let now = 0;
let suspects: Suspects;
beforeEach(() => {
  now = 1_000;
  suspects = createSuspects(() => now);
});

test('a query that ran when the engine ended twice is refused, and others are not', () => {
  suspects.suspect('bad');
  suspects.check('bad');
  suspects.suspect('bad');
  expect(() => suspects.check('bad')).toThrow(
    expect.objectContaining({ code: 'engine_unavailable', retryAfterSeconds: 300 }),
  );
  suspects.check('good');
});

test('a query that ended by itself in between was not the cause', () => {
  suspects.suspect('often');
  suspects.clear('often');
  suspects.suspect('often');
  suspects.check('often');
});

test('a query is taken again when its time is over', () => {
  suspects.suspect('bad');
  suspects.suspect('bad');
  now += 299_000;
  expect(() => suspects.check('bad')).toThrow('is refused for 1 s');
  now += 1_001;
  suspects.check('bad');
});

test('no more than a thousand are remembered', () => {
  for (let i = 0; i < 2; i++) suspects.suspect('first');
  for (let i = 0; i < 1_000; i++) suspects.suspect(`other ${i}`);
  suspects.check('first');
});

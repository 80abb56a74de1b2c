import { expect, test } from 'vitest';
import { createFailedKeys } from '../../src/http/failed-keys.ts';

test('a right key is told the same wait as a wrong one, also where failures are few', () => {
  const clock = { now: 1_800_000_000_000 };
  const failedKeys = createFailedKeys(5, () => clock.now);
  for (let i = 0; i < 5; i++) expect(failedKeys.fail('192.0.2.1')).toBeUndefined();
  for (const waitSeconds of [12, 11, 10]) {
    expect(failedKeys.enter('192.0.2.1', 'right')).toBe(waitSeconds);
    expect(failedKeys.fail('192.0.2.1')).toBe(waitSeconds);
    clock.now += 1_000;
  }
  clock.now += 9_000;
  expect(failedKeys.enter('192.0.2.1', 'right')).toBeUndefined();
});

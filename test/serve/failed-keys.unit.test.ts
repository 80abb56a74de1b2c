import { expect, test } from 'vitest';
import { createFailedKeys } from '../../src/serve/admit.ts';

test('a right key is told to wait as long as a wrong one, whatever the bound', () => {
  for (const perMinute of [1, 5, 60, 600]) {
    const failedKeys = createFailedKeys(perMinute, () => 1_000);
    let wait: number | undefined;
    for (let i = 0; i <= perMinute; i++) wait = failedKeys.fail('192.0.2.1');
    expect(wait).toBe(Math.ceil(60 / perMinute));
    expect(failedKeys.enter('192.0.2.1', 'right')).toBe(wait);
    expect(failedKeys.enter('192.0.2.2', 'right')).toBeUndefined();
  }
});

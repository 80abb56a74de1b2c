import { describe, expect, test } from 'vitest';
import { createClockGuard } from '../../src/lib/clock-guard.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW = Date.UTC(2026, 10, 20);

function createGuard(seenMs?: number) {
  const world = { now: NOW, ticks: 0 };
  const pass = (ms: number) => {
    world.now += ms;
    world.ticks += ms;
  };
  const guard = createClockGuard({
    now: () => world.now,
    ticks: () => world.ticks,
    seenMs,
    jumpMsMax: DAY_MS,
  });
  return { world, pass, ...guard };
}

describe('a clock', () => {
  test.each([
    ['just as far as it may', DAY_MS, 'plausible'],
    ['further', DAY_MS + 1, 'ahead'],
    ['just as far back', -DAY_MS, 'plausible'],
    ['further back', -DAY_MS - 1, 'behind'],
  ])('that was set %s', (_, byMs, state) => {
    const { world, check } = createGuard(NOW);
    world.now += byMs;
    expect(check().state).toBe(state);
  });

  test('that is ahead counts what passes, and is believed once it is right again', () => {
    const { world, pass, check } = createGuard(NOW);
    world.now += 100 * DAY_MS;
    expect(check()).toMatchObject({ state: 'ahead', plausibleMs: NOW });
    pass(30 * DAY_MS);
    expect(check()).toMatchObject({ state: 'ahead', plausibleMs: NOW + 30 * DAY_MS });
    world.now -= 100 * DAY_MS;
    expect(check()).toMatchObject({ state: 'plausible', plausibleMs: NOW + 30 * DAY_MS });
  });
});

import { describe, expect, test } from 'vitest';
import type { MetricValue } from '../../src/http/metrics.ts';
import { createTraffic, SAMPLE_MS } from '../../src/http/traffic.ts';
import { findQuantile } from '../../src/http/traffic-totals.ts';

/** Metrics that a test counts up by hand. */
function createCounts() {
  const clock = { now: Date.UTC(2026, 0, 1) };
  const requests = { value: 0 };
  const events = { value: 0 };
  const series: Record<string, () => MetricValue[]> = {
    tailrace_http_requests_total: () => [{ labels: { endpoint: 'a' }, value: requests.value }],
    tailrace_events_stored_total: () => [{ labels: { source: 's' }, value: events.value }],
  };
  const read = async (name: string) => series[name]?.() ?? [];
  const traffic = createTraffic({ read }, () => clock.now);
  async function pass(seconds: number, perSample: number): Promise<void> {
    for (let ms = 0; ms < seconds * 1000; ms += SAMPLE_MS) {
      clock.now += SAMPLE_MS;
      requests.value += perSample;
      events.value += 2 * perSample;
      await traffic.sample();
    }
  }
  return { clock, traffic, pass };
}

describe('the traffic of an endpoint', () => {
  test('is counted over the last minute and over the last hour', async () => {
    const { traffic, pass } = createCounts();
    await pass(3 * 3600, 1);
    await pass(60, 10);
    const now = await traffic.read();
    expect(now.ofEndpoint('a', true)).toMatchObject({ requests_per_minute: 60, hit_ratio: null });
    expect(now.windowSeconds).toBeGreaterThanOrEqual(3600);
    expect(now.windowSeconds).toBeLessThanOrEqual(3660);
    const { minutes, requests } = now.ofEndpoint('a', true);
    expect(minutes.length).toBeLessThanOrEqual(62);
    expect(minutes.reduce((total, one) => total + one.requests, 0)).toBe(requests);
    expect(now.ofSource('s')).toMatchObject({ eventsPerSecond: 2 });
  });

  test('is nothing where there was none', async () => {
    const { traffic } = createCounts();
    const now = await traffic.read();
    expect(now.ofEndpoint('b', true)).toMatchObject({
      requests_per_minute: 0,
      requests: 0,
      p50_ms: null,
      hit_ratio: null,
      last_failure: null,
    });
    expect(now.ofSource('b')).toMatchObject({ eventsPerSecond: 0 });
  });

  test('remembers the last failure', async () => {
    const { traffic, clock } = createCounts();
    traffic.failed('a', 'query_timeout');
    expect((await traffic.read()).ofEndpoint('a', true).last_failure).toEqual({
      code: 'query_timeout',
      at: new Date(clock.now).toISOString(),
    });
  });
});

describe('a quantile of a histogram', () => {
  const at = (...counts: number[]) =>
    new Map([0.1, 0.2, 0.4, Number.POSITIVE_INFINITY].map((bound, i) => [bound, counts[i] ?? 0]));

  test.each([
    ['lies evenly within its bucket', at(0, 10, 10, 10), 0.5, 0.15],
    ['of the first bucket begins at zero', at(10, 10, 10, 10), 0.5, 0.05],
    ['beyond the last bound is that bound', at(0, 0, 0, 10), 0.99, 0.4],
    ['of nothing is none', at(0, 0, 0, 0), 0.5, undefined],
  ])('%s', (_what, durations, quantile, expected) => {
    const found = findQuantile(durations, quantile);
    if (expected === undefined) expect(found).toBeUndefined();
    else expect(found).toBeCloseTo(expected, 10);
  });
});

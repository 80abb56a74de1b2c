import { describe, expect, test } from 'vitest';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { createTraffic, SAMPLE_MS } from '../../src/telemetry/traffic.ts';

/** Metrics that a test counts up by hand. */
function createCounts() {
  const clock = { now: Date.UTC(2026, 0, 1) };
  const metrics = createMetrics(() => clock.now);
  const traffic = createTraffic(metrics, () => clock.now);
  function pass(seconds: number, perSample: number): void {
    for (let ms = 0; ms < seconds * 1000; ms += SAMPLE_MS) {
      clock.now += SAMPLE_MS;
      metrics.requestCounts.at('/', 'a', '200').add(perSample);
      metrics.committed('s', 2 * perSample, false);
      traffic.sample();
    }
  }
  const request = (ms: number) =>
    metrics.request({ route: '/', endpoint: 'a', status: 200, seconds: ms / 1000 });
  return { clock, metrics, traffic, pass, request };
}

describe('the traffic of an endpoint', () => {
  test('is counted over the last minute and over the last hour', () => {
    const { traffic, pass } = createCounts();
    pass(3 * 3600, 1);
    pass(60, 10);
    const now = traffic.read();
    expect(now.ofEndpoint('a', true)).toMatchObject({ requests_per_minute: 60, hit_ratio: null });
    expect(now.windowSeconds).toBeGreaterThanOrEqual(3600);
    expect(now.windowSeconds).toBeLessThanOrEqual(3660);
    const { minutes, requests } = now.ofEndpoint('a', true);
    expect(minutes.length).toBeLessThanOrEqual(62);
    expect(minutes.reduce((total, one) => total + one.requests, 0)).toBe(requests);
    expect(now.ofSource('s')).toMatchObject({ events_per_second: 2 });
  });
});

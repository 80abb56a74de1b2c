import { describe, expect, test } from 'vitest';
import { countLatency, createLatencies } from '../../src/http/latency.ts';
import type { MetricValue } from '../../src/http/metrics.ts';
import { createTraffic, SAMPLE_MS } from '../../src/http/traffic.ts';

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
  const latencies = createLatencies();
  const traffic = createTraffic({ read, latencies: () => [['a', latencies]] }, () => clock.now);
  async function pass(seconds: number, perSample: number): Promise<void> {
    for (let ms = 0; ms < seconds * 1000; ms += SAMPLE_MS) {
      clock.now += SAMPLE_MS;
      requests.value += perSample;
      events.value += 2 * perSample;
      await traffic.sample();
    }
  }
  /** One request. */
  function request(ms: number): void {
    requests.value++;
    countLatency(latencies, ms / 1000);
  }
  return { clock, traffic, pass, request };
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

  test('has percentiles near the one request that there was, of the hour and of its minute', async () => {
    const { traffic, pass, request } = createCounts();
    await pass(60, 0);
    request(127);
    const { p50_ms: p50, p99_ms: p99, minutes } = (await traffic.read()).ofEndpoint('a', true);
    for (const ms of [p50, p99, minutes.at(-1)?.p99_ms]) {
      expect(ms).toBeGreaterThan(122);
      expect(ms).toBeLessThan(132);
    }
    expect(minutes[0]?.p50_ms).toBeNull();
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

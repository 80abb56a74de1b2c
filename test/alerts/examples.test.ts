import { expect, test } from 'vitest';
import type { AlertView } from '../../src/management/alert-view.ts';
import { storeSample } from '../../src/sample/fill.ts';
import { INCIDENT } from '../../src/sample/source.ts';
import { read } from '../support/http.ts';
import { ownService } from '../support/service.ts';

// The alerts of a new project on the sample of `tailrace dev`, whose last event is of this instant.
const END_MS = Date.UTC(2026, 10, 20, 7, 30);
const MINUTE_MS = 60_000;
const OPTIONS = { rows: 20_000, seed: 1, days: 7, projects: 5, end: END_MS * 1_000 };
const SOURCES = ['cloudflare.logs.prod', 'deno-relay-logs'];

const service = await ownService({
  now: END_MS,
  env: { TAILRACE_ENDPOINTS_DIR: 'template/endpoints', TAILRACE_ALERTS_DIR: 'template/alerts' },
  async prepare({ engine, registry }) {
    const sources = SOURCES.map((name) => registry.getSource(name));
    await storeSample(engine, sources, { ...OPTIONS, signal: AbortSignal.any([]), onProgress() {} });
  },
});

const listAlerts = async () => (await read<{ result: AlertView[] }>(service.url, '/api/alerts')).result;

/** Moves the clock, and waits until each alert has been evaluated at its tick. @returns what is not inactive, with its instances */
async function stateAfter(minutes: number): Promise<Record<string, unknown>> {
  for (let minute = 0; minute < minutes; minute++) {
    service.clock.now += MINUTE_MS;
    await evaluated();
  }
  return Object.fromEntries(
    (await listAlerts())
      .filter(({ state }) => state !== 'inactive')
      .map(({ name, state, instances }) => [
        name,
        [state, ...instances.flatMap(({ labels }) => Object.values(labels))],
      ]),
  );
}

const evaluated = () =>
  expect
    .poll(async () => (await listAlerts()).map(({ last_evaluation: at }) => Date.parse(at ?? '')))
    .toEqual(Array.from({ length: 3 }, () => expect.toSatisfy((ms) => ms > service.clock.now - MINUTE_MS)));

test('failing paths and a slow function fire on the incident of the sample, once it has held for two minutes', async () => {
  const function_id = `${INCIDENT.name}-aurora`;
  const path = `/functions/v1/${INCIDENT.name}`;
  await evaluated();
  // Had it been evaluated before the sample was stored, it would have found no events.
  expect(await stateAfter(0)).toEqual({
    'failing.paths': ['pending', path],
    'slow.functions': ['pending', function_id],
  });
  expect(await stateAfter(2)).toEqual({
    'failing.paths': ['firing', path],
    'slow.functions': ['firing', function_id],
  });
});

test('a project that sends no more events fires after a quarter of an hour and a minute', async () => {
  expect(await stateAfter(12)).not.toHaveProperty('no.events');
  expect(await stateAfter(5)).toMatchObject({ 'no.events': ['firing'] });
});

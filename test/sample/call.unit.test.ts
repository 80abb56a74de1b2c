import { describe, expect, test } from 'vitest';
import type { Event } from '../../src/ingest/event.ts';
import { functionCalls } from '../../src/sample/call.ts';
import { planSample } from '../../src/sample/plan.ts';
import type { SampleOptions } from '../../src/sample/project.ts';
import { END, eventsOf, hoursOfDay, OPTIONS, SOURCES } from './support.ts';

const MINUTE_MICROS = 60_000_000;

/** What both sources say of a call. */
function essenceOf({ timestamp, project, metadata }: Event) {
  const { request, response } = JSON.parse(metadata);
  return [timestamp, project, request.method, request.pathname ?? request.path, response.status_code].join(
    ' ',
  );
}

const callsAtGateway = (options: Partial<SampleOptions> = {}) =>
  eventsOf('cloudflare.logs.prod', options).events.filter(({ message }) =>
    message.includes('/functions/v1/'),
  );

describe('the calls of functions', () => {
  test.each([{}, { seed: 7 }, { days: 1, projects: 1 }, { rows: 1_234 }])(
    'are at the gateway just those that were invoked, with %j',
    (options) => {
      const invoked = eventsOf('deno-relay-logs', options).events.map(essenceOf);
      expect(invoked.length).toBeGreaterThan(100);
      expect(callsAtGateway(options).map(essenceOf).toSorted()).toEqual(invoked.toSorted());
    },
  );

  test('take as long at the gateway as in the function, and a little more', () => {
    const invoked = eventsOf('deno-relay-logs').events;
    for (const [i, event] of callsAtGateway().entries()) {
      const took = JSON.parse(event.metadata).response.origin_time - Number(invoked[i]?.typed[1]);
      expect(took).toBeGreaterThan(1);
      expect(took).toBeLessThan(13);
    }
  });

  test('are at the gateway also where the source of invocations is not defined', () => {
    const gateway = SOURCES.filter(({ name }) => name === 'cloudflare.logs.prod');
    expect(planSample(gateway, OPTIONS)[0]?.calls.rows).toBe(10_000);
  });

  test.each(hoursOfDay())('are there for each project in the last five minutes at %s', (end) => {
    const options = { ...OPTIONS, rows: 300_000, projects: 5, end };
    const calls = planSample(SOURCES, options)[1]?.calls ?? { rows: 0, days: 0 };
    const recent = new Set<string>();
    for (const { at, project } of functionCalls(calls, options)) {
      if (at > end - 5 * MINUTE_MICROS) recent.add(project.ref);
    }
    expect([...recent].toSorted()).toEqual(['aurora', 'basalt', 'cobalt', 'dahlia', 'ember']);
  });
});

describe('requests at the gateway', () => {
  const { events } = eventsOf('cloudflare.logs.prod');

  test('for a websocket come from browsers, which name no library', () => {
    const sockets = events
      .map(({ metadata }) => JSON.parse(metadata).request)
      .filter(({ path }) => /realtime/.test(path));
    expect(sockets.length).toBeGreaterThan(1_000);
    for (const { headers } of sockets) {
      expect(headers.user_agent).toMatch(/^Mozilla\//);
      expect(headers.x_client_info).toBeNull();
    }
  });

  test.each([0, 6, 12, 18].map((hour) => END + hour * 60 * MINUTE_MICROS))(
    'have failed for each project within the last hour, at %s',
    (end) => {
      const { events: all } = eventsOf('cloudflare.logs.prod', { rows: 60_000, projects: 5, end });
      const failed = all.filter(
        ({ timestamp, typed }) => timestamp > end - 60 * MINUTE_MICROS && Number(typed[3]) >= 500,
      );
      expect([...new Set(failed.map(({ project }) => project))]).toHaveLength(5);
    },
  );
});

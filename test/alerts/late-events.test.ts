import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEvaluate } from '../../src/alerts/evaluate.ts';
import { createEvaluator } from '../../src/alerts/evaluator.ts';
import { createOutbox } from '../../src/alerts/outbox.ts';
import { lastTick } from '../../src/alerts/tick.ts';
import { type Alert, createAlert } from '../../src/definitions/alert.ts';
import { openSqliteStore } from '../../src/keys/sqlite-store.ts';
import { createRunner } from '../../src/query/run.ts';
import { createAlertModel } from '../../trial/alerts/model.ts';
import { runs } from '../support/property.ts';
import { openTestStore, storeEvents, temporaryFolder } from '../support/service.ts';

const EVERY_S = 30;
const DELAY_S = 45;
const WINDOW_S = 60;
const TICKS = 12;
const START_MS = Date.now() - 3_600_000;
const PATHS = ['/a', '/b'];
const MOST = 100;
const SQL = `SELECT path, count() AS failures FROM edge_logs
WHERE project = @project AND timestamp > toDateTime64(@now, 6, 'UTC') - toIntervalSecond(${WINDOW_S})
  AND timestamp <= toDateTime64(@now, 6, 'UTC')
GROUP BY path`;
const ENDPOINT = {
  ...{ id: '4c1d2e3f-0000-4000-8000-0000000000ff', name: 'late.paths', description: 'Of a test.' },
  ...{ max_rows: 100, caching: 60, query_sandboxing: false },
  parameters: { project: { type: 'string', required: true, description: 'Project.' } },
  columns: {
    path: { type: 'string', description: 'Path.' },
    failures: { type: 'integer', description: 'Events of the last minute.' },
  },
};

const closing: (() => unknown)[] = [];
let store: Awaited<ReturnType<typeof openTestStore>>;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let made = 0;

beforeAll(async () => {
  folder = await temporaryFolder();
  closing.push(folder.remove);
  const endpoint = join(folder.path, 'endpoints', ENDPOINT.name);
  await mkdir(endpoint, { recursive: true });
  await writeFile(join(endpoint, 'endpoint.yaml'), JSON.stringify(ENDPOINT));
  await writeFile(join(endpoint, 'query.sql'), SQL);
  store = await openTestStore({ TAILRACE_ENDPOINTS_DIR: join(folder.path, 'endpoints') });
  closing.push(store.close);
});
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

interface LateEvent {
  readonly path: string;
  /** Seconds after the start. */
  readonly atS: number;
  readonly lateS: number;
}

const anyEvent: fc.Arbitrary<LateEvent> = fc.record({
  path: fc.constantFrom(...PATHS),
  atS: fc.integer({ min: -WINDOW_S, max: TICKS * EVERY_S }),
  lateS: fc.integer({ min: 0, max: DELAY_S }),
});
const anyRules = fc.record({ for: fc.constantFrom(0, 60), keep_firing_for: fc.constantFrom(0, 60) });

function alertOf(project: string, rules: Readonly<Record<string, number>>): Alert {
  const value = {
    ...{ id: '5f1f3f0a-8c1e-4a52-9a58-0d6a2f6a4c11', name: 'late', description: '', endpoint: ENDPOINT.name },
    ...{ parameters: { project }, every: EVERY_S, delay: DELAY_S, when: { column: 'failures', above: 1 } },
    ...{ per: ['path'], text: '{{ path }}', to: ['ops'], ...rules },
  };
  return createAlert({ file: 'a.yaml', text: '', value, fault: () => ({ file: '', line: 1, message: '' }) });
}

/** A service whose clock is moved from tick to tick. */
function openService(alert: Alert) {
  const { alerts } = openSqliteStore(join(folder.path, String(++made)));
  const { core } = store;
  let nowMs = START_MS;
  const now = () => nowMs;
  const run = createRunner(core.engine, now, now);
  const evaluate = createEvaluate({ registry: core.registry, run, parameterBytesMax: 1_000 });
  const evaluator = createEvaluator({
    ...{ alerts: () => [alert], evaluate, store: alerts, owner: 'one', now },
    ...{ leaseMs: () => 60_000, ticks: () => 0, receivers: () => new Set(['ops']) },
  });
  const outbox = createOutbox(alerts, now);
  return async (atMs: number): Promise<string[]> => {
    nowMs = atMs;
    await evaluator.renew();
    evaluator.tick();
    await evaluator.idle();
    const messages: string[] = [];
    for (let one = await outbox.next('ops', nowMs); one; one = await outbox.next('ops', nowMs)) {
      const sign = one.message.status === 'resolved' ? '-' : '+';
      messages.push(...one.message.instances.map(({ labels }) => `${sign}${labels['path']}`));
      await outbox.done(one.id);
    }
    return messages;
  };
}

/** What holds at an instant, if every event had come in time. */
function holdAt(events: readonly LateEvent[], atMs: number): readonly string[] {
  const isIn = ({ atS }: LateEvent) => {
    const ageMs = atMs - (START_MS + atS * 1_000);
    return ageMs >= 0 && ageMs < WINDOW_S * 1_000;
  };
  return PATHS.filter((path) => events.filter((event) => event.path === path && isIn(event)).length > 1);
}

const toWire = (project: string, { path, atS }: LateEvent) => ({
  ...{ timestamp: (START_MS + atS * 1_000) * 1_000, project, event_message: `GET ${path}` },
  metadata: { request: { path } },
});

test('events that are up to `delay` late count as if they had come in time', async () => {
  const property = fc.asyncProperty(
    anyRules,
    fc.array(anyEvent, { minLength: 10, maxLength: 60 }),
    async (rules, events) => {
      const project = `late-${made}`;
      const alert = alertOf(project, rules);
      const evaluateAt = openService(alert);
      const model = createAlertModel(alert, MOST);
      let storedMs = Number.NEGATIVE_INFINITY;
      for (let i = 0; i < TICKS; i++) {
        const tickMs = lastTick(alert, START_MS + (i + 1) * EVERY_S * 1_000);
        const arrived = events.filter(({ atS, lateS }) => {
          const atMs = START_MS + (atS + lateS) * 1_000;
          return atMs > storedMs && atMs <= tickMs;
        });
        storedMs = tickMs;
        const wire = arrived.map((event) => toWire(project, event));
        if (wire.length > 0) await storeEvents(store.core, 'cloudflare.logs.prod', wire, tickMs);
        const held = holdAt(events, tickMs - DELAY_S * 1_000);
        const expected = model.advance(tickMs, held, () => false);
        expect((await evaluateAt(tickMs)).toSorted()).toEqual(expected.toSorted());
      }
    },
  );
  await fc.assert(property, runs(20));
}, 240_000);

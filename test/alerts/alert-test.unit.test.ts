import { afterAll, beforeEach, expect, test } from 'vitest';
import { writeEntry } from '../../src/alerts/history.ts';
import { createAlert } from '../../src/definitions/alert.ts';
import { readDefinitions } from '../../src/definitions/read.ts';
import { createRegistry } from '../../src/definitions/registry.ts';
import { openControlStore } from '../../src/keys/open-control-store.ts';
import { createAlertTest } from '../../src/management/alert-test.ts';
import { temporaryFolder, testConfig } from '../support/service.ts';

const folder = await temporaryFolder();
const control = await openControlStore(testConfig(folder.path));
const read = await readDefinitions({ endpointsDir: 'endpoints', sourcesDir: 'sources' });
const shipped = createRegistry(read.definitions);
afterAll(async () => {
  await control.close();
  await folder.remove();
});

const NAME = 'a.test';
const value = {
  ...{ id: '5f1f3f0a-8c1e-4a52-9a58-0d6a2f6a4c12', name: NAME, description: 'A test.', endpoint: 'logs.all' },
  ...{ every: 60, when: 'rows', text: 'rows', to: ['ops', 'mail'] },
};
const alert = createAlert({ file: '', text: '', value, fault: () => ({ file: '', line: 1, message: '' }) });
const caller = { keyId: 'private', endpoints: undefined, pins: {} };
const { signal } = new AbortController();
let nowMs = Date.now();
let evaluations = 0;
beforeEach(() => {
  nowMs += 3_600_000;
});

/** @param receivers those that the service has */
function create(receivers: readonly string[], deliveryMsMax: number) {
  const registry = { ...shipped, alerts: [alert], getAlert: () => alert };
  const parts = { control, registry, parameterBytesMax: 1_000, now: () => nowMs, newId: () => 'id' };
  const command = {
    ...{ registry, store: control.alerts, receivers: () => new Set(receivers), now: () => nowMs },
    async evaluate() {
      evaluations++;
      return { outcome: { kind: 'failed', reason: 'the table is gone' }, notes: [] } as const;
    },
  };
  return createAlertTest({ command, parts, deliveryMsMax });
}

test('a response waits for a bounded time, and says what each receiver made of its message', async () => {
  const ops = 'not accepted so far; it is sent again for a day';
  const mail = 'TAILRACE_RECEIVERS_FILE has no receiver of this name';
  const answer = { result: { ops, mail }, firing: 0, last_error: 'the table is gone' };
  expect(await create(['ops'], 0)(caller, NAME, signal)).toEqual(answer);
  const left = await control.alerts.nextMessage('ops', nowMs);
  await control.alerts.removeMessage(left?.id ?? '');
});

test('one test at a time waits for its receivers, and a message that was given up is not called sent', async () => {
  const run = create(['ops', 'mail'], 600_000);
  const pending = run(caller, NAME, signal);
  await expect(run(caller, NAME, signal)).rejects.toMatchObject({ code: 'rate_limited' });
  const { alerts } = control;
  await expect.poll(() => alerts.nextMessage('mail', nowMs)).toBeDefined();
  const [ops, mail] = [await alerts.nextMessage('ops', nowMs), await alerts.nextMessage('mail', nowMs)];
  const entry = writeEntry({ change: 'not_delivered', receiver: 'ops', reason: 'the hook is gone' });
  await alerts.dropMessage(ops?.id ?? '', alert.id, { id: `${ops?.id}z`, atMs: nowMs, entry });
  await alerts.removeMessage(mail?.id ?? '');
  expect((await pending).result).toEqual({ ops: 'the hook is gone', mail: 'sent' });
});

test('a few tests are made each minute: others are rejected without an evaluation', async () => {
  const run = create([], 0);
  const limited = { ...caller, endpoints: ['usage.api-counts'] };
  await expect(run(limited, NAME, signal)).rejects.toMatchObject({ code: 'not_found' }); // takes no turn
  for (let i = 0; i < 5; i++) await run(caller, NAME, signal);
  const before = evaluations;
  const rejection = { code: 'rate_limited', retryAfterSeconds: 10 };
  await expect(run(caller, NAME, signal)).rejects.toMatchObject(rejection);
  expect(evaluations).toBe(before);
  nowMs += 10_000;
  await run(caller, NAME, signal);
});

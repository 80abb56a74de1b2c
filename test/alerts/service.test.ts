import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AlertTestResult } from '../../src/alerts/test-command.ts';
import { sendCommand } from '../../src/maintenance/socket/client.ts';
import { COMMANDS } from '../../src/maintenance/socket/protocol.ts';
import type { AlertEntryView, AlertView } from '../../src/management/alert-view.ts';
import { type ReceiverServer, startReceiver } from '../support/receiver-server.ts';
import { PRIVATE_KEY, startTestService, storeEvents, temporaryFolder } from '../support/service.ts';

const NAME = 'failing.paths';
const folder = await temporaryFolder();
let running: Awaited<ReturnType<typeof startTestService>>;
let receiver: ReceiverServer;
let firstMs = 0;

beforeAll(async () => {
  const shipped = await readFile('template/alerts/failing.paths.yaml', 'utf8');
  const eager = shipped.replace(/^(every|delay|for): .*\n/gm, '').replace('above: 10', 'above: 1');
  await writeFile(join(folder.path, 'failing.paths.yaml'), `${eager}every: 1\n`);
  receiver = await startReceiver();
  const receiversFile = join(folder.path, 'receivers');
  await writeFile(
    receiversFile,
    `ops: { kind: webhook, url: "${receiver.url}/hook", secret: whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3, private: true }\n`,
    { mode: 0o600 },
  );
  running = await startTestService({
    env: {
      TAILRACE_ENDPOINTS_DIR: 'template/endpoints',
      TAILRACE_ALERTS_DIR: folder.path,
      TAILRACE_RECEIVERS_FILE: receiversFile,
    },
  });
  const { clock, core } = running;
  firstMs = clock.now;
  const event = {
    ...{ timestamp: firstMs * 1000, project: 'aurora', event_message: 'GET /cart 500' },
    metadata: { request: { path: '/cart' }, response: { status_code: 500 } },
  };
  await storeEvents(core, 'cloudflare.logs.prod', [event, event], firstMs);
  clock.now += 5_000;
});
afterAll(async () => {
  await running.close();
  receiver.close();
  await folder.remove();
});

async function call(path: string, { key = PRIVATE_KEY, body }: { key?: string; body?: unknown } = {}) {
  const response = await fetch(`${running.url}/api/alerts${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

const listAlerts = async (key?: string) =>
  (await call('', key === undefined ? {} : { key })).json['result'] as AlertView[];

describe('a service', () => {
  test('evaluates its alerts as of the present, and lists them with their states', async () => {
    await expect.poll(async () => (await listAlerts())[0]?.state).toBe('firing');
    const [alert] = await listAlerts();
    expect(alert).toMatchObject({
      ...{ name: NAME, endpoint: NAME, every_seconds: 1, to: ['ops'], last_error: null, silences: [] },
      instances: [{ kind: 'condition', state: 'firing', labels: { path: '/cart' }, values: { failures: 2 } }],
    });
    await expect.poll(() => receiver.received.length).toBe(1);
    const [sent] = receiver.received;
    expect(JSON.parse(sent?.body ?? '')).toMatchObject({ alert: NAME, status: 'firing' });
    const { json } = await call(`/${NAME}/history`);
    expect(json['result'] as AlertEntryView[]).toMatchObject([
      { change: 'firing', labels: { path: '/cart' }, quiet: false },
    ]);
  });

  test('shows a key the alerts whose rows it may read', async () => {
    const create = async (grant: object) => {
      const { keyring } = running.service;
      const { key } = await keyring.create({
        ...{
          name: 'a',
          description: '',
          scopes: ['query'],
          pins: {},
          endpoints: undefined,
          sources: undefined,
        },
        ...{ rate: undefined, expiresMs: undefined, ...grant },
      });
      return (await listAlerts(key)).length;
    };
    expect(await create({})).toBe(1);
    expect(await create({ endpoints: ['logs.all'] })).toBe(0);
    expect(await create({ pins: { project: 'aurora' } })).toBe(1);
    expect(await create({ pins: { project: 'beacon' } })).toBe(0);
  });

  test('takes silences that end, with a comment, and keeps them in the audit trail', async () => {
    const at = (ms: number) => new Date(running.clock.now + ms).toISOString();
    const right = { until: at(3_600_000), comment: 'deploy', labels: { path: '/cart' } };
    const path = `/${NAME}/silences`;
    for (const [body, message] of [
      [{ ...right, until: at(-1) }, 'until is in the past'],
      [{ ...right, until: at(1_000 * 365 * 86_400_000) }, 'until is more than 90 days ahead'],
      [{ ...right, until: 'tomorrow' }, 'until must be an ISO 8601 timestamp'],
      [{ ...right, comment: ' ' }, 'comment must have 1 to 500 characters'],
      [{ ...right, labels: { route: '/' } }, 'which failing.paths has no label for; it has path'],
      [{ comment: 'for ever' }, 'until'],
    ] as const) {
      const { status, json } = await call(path, { body });
      expect([status, JSON.stringify(json)]).toEqual([400, expect.stringContaining(message)]);
    }
    expect((await call('/nothing/silences', { body: right })).status).toBe(404);
    const { status, json } = await call(path, { body: right });
    expect([status, json['by']]).toEqual([201, 'private']);
    expect((await listAlerts())[0]?.silences).toEqual([json]);
    const [entry] = await running.service.keyring.log({ limit: 1 });
    expect(entry).toMatchObject({
      action: 'silenced',
      actor: 'private',
      detail: expect.stringContaining(NAME),
    });
  });

  test('tries an alert over the past', async () => {
    const ask = async (body: object) => {
      const command = await sendCommand(running.config.dataDir, COMMANDS.testAlert, { name: NAME, ...body });
      return (await command?.finish(() => {})) as AlertTestResult;
    };
    const hourMs = 3_600_000;
    const range = { fromMs: firstMs + hourMs - 5_000, untilMs: firstMs + hourMs + 5_000 };
    const { ticks, failures, messages } = await ask({ range });
    expect({ ticks, failures }).toEqual({ ticks: 10, failures: 0 });
    const text = '/cart failed 2 times in the last hour';
    expect(messages).toMatchObject([
      { status: 'firing', text },
      { status: 'resolved', text: `Resolved: ${text}` },
    ]);
    const afterMs = (messages[1]?.at ?? 0) / 1000 - firstMs - hourMs;
    expect(afterMs).toBeGreaterThanOrEqual(0);
    expect(afterMs).toBeLessThanOrEqual(1_001);
    const now = await ask({});
    expect([now.firing, now.sentTo]).toMatchObject([[{ labels: { path: '/cart' } }], ['ops']]);
    const isTest = (body: string) => (JSON.parse(body) as { test?: boolean }).test;
    await expect
      .poll(() => receiver.received.map(({ body }) => isTest(body) ?? false))
      .toEqual([false, true]);
    await expect(ask({ name: 'nothing' })).rejects.toThrow('no alert has the UUID or name "nothing"');
    const long = { fromMs: firstMs - 86_400_000, untilMs: firstMs };
    await expect(ask({ range: long })).rejects.toThrow('the most is 10080');
  });
});

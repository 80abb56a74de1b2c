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
let receiverStatus = 204;

beforeAll(async () => {
  const shipped = await readFile('template/alerts/failing.paths.yaml', 'utf8');
  const eager = shipped.replace(/^(every|delay|for): .*\n/gm, '');
  await writeFile(join(folder.path, 'failing.paths.yaml'), `${eager}every: 1\n`);
  receiver = await startReceiver((_, response) => response.writeHead(receiverStatus).end());
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

interface Call {
  readonly key?: string;
  readonly body?: unknown;
  readonly method?: string;
}

const call = (path: string, options: Call = {}) => callApi(`/api/alerts${path}`, options);

async function callApi(path: string, { key = PRIVATE_KEY, body, ...rest }: Call = {}) {
  const { method = body === undefined ? 'GET' : 'POST' } = rest;
  const response = await fetch(`${running.url}${path}`, {
    method,
    headers: { 'x-api-key': key, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, json: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> };
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
    const remove = (id: unknown) => call(`${path}/${id}`, { method: 'DELETE' });
    expect(await remove(json['id'])).toEqual({ status: 204, json: {} });
    expect((await listAlerts())[0]?.silences).toEqual([]);
    expect((await running.service.keyring.log({ limit: 1 }))[0]).toMatchObject({
      ...{ action: 'unsilenced', actor: 'private', detail: `${NAME}: deploy` },
    });
    for (const id of [json['id'], 'nothing']) expect((await remove(id)).status).toBe(404);
  });

  test('takes silences of every alert by labels, from keys without limits', async () => {
    const until = new Date(running.clock.now + 3_600_000).toISOString();
    const right = { until, comment: 'the path is moved', labels: { path: '/cart' } };
    for (const [labels, message] of [
      [undefined, 'labels must have at least one of those of the alerts, which are path'],
      [{}, 'labels must have at least one of those of the alerts, which are path'],
      [{ route: '/' }, 'which no alert has a label for; they have path'],
    ] as const) {
      const { status, json } = await callApi('/api/silences', { body: { ...right, labels } });
      expect([status, JSON.stringify(json)]).toEqual([400, expect.stringContaining(message)]);
    }
    const limited = await running.service.keyring.create({
      ...{ name: 'aurora', scopes: ['query', 'manage'], pins: { project: 'aurora' } },
    });
    const asLimited = { key: limited.key };
    expect((await callApi('/api/silences', { body: right, ...asLimited })).status).toBe(403);
    const { status, json } = await callApi('/api/silences', { body: right });
    expect([status, json['is_of_every_alert']]).toEqual([201, true]);
    expect((await listAlerts())[0]?.silences).toEqual([json]);
    expect((await callApi('/api/silences')).json['result']).toEqual([json]);
    expect((await callApi('/api/silences', asLimited)).status).toBe(403);
    const shown = await callApi('/api/alerts', asLimited);
    expect((shown.json['result'] as { silences: unknown }[]).map(({ silences }) => silences)).toEqual([[]]);
    const path = `/api/silences/${json['id']}`;
    expect((await callApi(path, { method: 'DELETE', ...asLimited })).status).toBe(403);
    expect((await call(`/${NAME}/silences/${json['id']}`, { method: 'DELETE' })).status).toBe(404);
    expect((await callApi(path, { method: 'DELETE' })).status).toBe(204);
    expect((await listAlerts())[0]?.silences).toEqual([]);
    expect((await running.service.keyring.log({ limit: 1 }))[0]).toMatchObject({
      ...{ action: 'unsilenced', detail: 'every alert with path=/cart: the path is moved' },
    });
    expect((await callApi(path, { method: 'DELETE' })).status).toBe(404);
  });

  test('shows what its evaluations saw, with the threshold', async () => {
    const { status, json } = await call(`/${NAME}`);
    expect([status, json]).toMatchObject([
      200,
      {
        ...{ name: NAME, per: ['path'], parameters: { project: 'aurora' } },
        when: { column: 'failures', is: 'above', value: 1 },
        chart: { column: 'failures', threshold: 1, points: [{ low: 2, high: 2 }] },
      },
    ]);
    expect((await call('/nothing')).status).toBe(404);
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
    const turned = { fromMs: firstMs, untilMs: firstMs - 1 };
    await expect(ask({ range: turned })).rejects.toThrow('the range ends before it begins');
  });

  test('sends a test message for a key that may manage, and says what its receivers made of it', async () => {
    const send = (key = PRIVATE_KEY, name = NAME) => call(`/${name}/test`, { key, method: 'POST' });
    const before = receiver.received.length;
    const [first, second] = await Promise.all([send(), send()]);
    const { status, json } = first.status === 200 ? first : second;
    expect([status, json]).toEqual([200, { result: { ops: 'sent' }, firing: 1, last_error: null }]);
    expect([first.status, second.status].toSorted()).toEqual([200, 429]);
    const sent = receiver.received.slice(before).map(({ body }) => JSON.parse(body) as { test?: boolean });
    expect(sent.filter(({ test: isTest }) => isTest === true)).toHaveLength(1);
    const { key } = await running.service.keyring.create({
      ...{ name: 'a', description: '', scopes: ['query'], pins: {}, endpoints: undefined },
      ...{ sources: undefined, rate: undefined, expiresMs: undefined },
    });
    expect((await send(key)).status).toBe(403);
    expect((await send(PRIVATE_KEY, 'nothing')).status).toBe(404);
  });

  test('says why a receiver has not accepted a test message', async () => {
    receiverStatus = 500;
    const { json } = await call(`/${NAME}/test`, { method: 'POST' });
    expect(json['result']).toEqual({ ops: expect.stringMatching(/500.*; it is sent again later$/) });
  });
});

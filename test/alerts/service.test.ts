import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pino } from 'pino';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { AlertMessage } from '../../src/alerts/message.ts';
import type { AlertEntryView, AlertView } from '../../src/management/alert-view.ts';
import { readEagerAlert, storeFailures } from '../support/alerting.ts';
import { get, post, read, request } from '../support/http.ts';
import { startReceiver } from '../support/receiver-server.ts';
import { ownFolder, ownService, PRIVATE_KEY } from '../support/service.ts';

// One service, in this order: what it shows and sends, then what a reload changes.

const NAME = 'failing.paths';
const folder = await ownFolder();
const alertFile = join(folder.path, 'failing.paths.yaml');
const receiversFile = join(folder.path, 'receivers');
/** Paths of the receiver that respond 503. */
const down = new Set<string>();
const logger = pino({ level: 'silent' });
const eager = await readEagerAlert();
const receiver = await startReceiver(({ url = '' }, response) =>
  response.writeHead(down.has(url) ? 503 : 204).end(),
);
afterAll(receiver.close);
await writeAlert('[ops]');
await writeReceivers({ ops: '/one' });
const running = await ownService({
  logger,
  env: {
    TAILRACE_ENDPOINTS_DIR: 'template/endpoints',
    TAILRACE_ALERTS_DIR: folder.path,
    TAILRACE_RECEIVERS_FILE: receiversFile,
    TAILRACE_PUBLIC_URL: 'https://logs.example.com/console/',
  },
});
await storeFailures(running);

async function writeAlert(to: string): Promise<void> {
  await writeFile(alertFile, eager.replace(/^to: .*$/m, `to: ${to}`));
}

async function writeReceivers(paths: Readonly<Record<string, string>>): Promise<void> {
  const entries = Object.entries(paths).map(([name, path]) => {
    const secret = `whsec_${Buffer.alloc(24, path).toString('base64')}`;
    return `${name}: { kind: webhook, url: "${receiver.url}${path}", secret: ${secret}, private: true }\n`;
  });
  await writeFile(receiversFile, entries.join(''), { mode: 0o600 });
}

const ALERTS = '/api/alerts';
const call = (path: string, key = PRIVATE_KEY) =>
  get(running.url, `${ALERTS}/${NAME}${path}`, { 'x-api-key': key });
const send = (path: string, body: object = {}, key = PRIVATE_KEY) =>
  post<Readonly<Record<string, unknown>>>(running.url, `${ALERTS}/${path}`, body, { 'x-api-key': key });
const listAlerts = async (key?: string) =>
  (await read<{ result: AlertView[] }>(running.url, ALERTS, key)).result;
const readHistory = async () =>
  (await read<{ result: AlertEntryView[] }>(running.url, `${ALERTS}/${NAME}/history`)).result;
const lastAudit = async (action: string) =>
  (await running.service.keyring.log({ limit: 1000 })).find((entry) => entry.action === action);

const sentTo = (path: string) => receiver.received.filter((one) => one.path === path);
const messagesTo = (path: string) => sentTo(path).map(({ body }) => JSON.parse(body) as AlertMessage);

describe('a service', () => {
  test('evaluates its alerts as of the present, lists them with their states, and sends messages', async () => {
    await expect.poll(async () => (await listAlerts())[0]?.state).toBe('firing');
    expect((await listAlerts())[0]).toMatchObject({
      ...{ name: NAME, endpoint: NAME, every_seconds: 1, to: ['ops'], last_error: null, silences: [] },
      instances: [{ kind: 'condition', state: 'firing', labels: { path: '/cart' }, values: { failures: 2 } }],
    });
    const link = `https://logs.example.com/console/alerts/${NAME}`;
    await expect.poll(() => messagesTo('/one')).toMatchObject([{ alert: NAME, status: 'firing', link }]);
    await expect.poll(readHistory).toMatchObject([
      { change: 'delivered', receiver: 'ops', status: 'firing' },
      { change: 'firing', labels: { path: '/cart' }, quiet: false },
    ]);
  });

  test('says that it has stopped, once in the log, while states cannot be stored', async () => {
    const logged: string[] = [];
    for (const level of ['error', 'info'] as const)
      vi.spyOn(logger, level).mockImplementation(
        (...said: unknown[]) => void logged.push(String(said.at(-1))),
      );
    const exec = vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation((text) => {
      if (text === 'BEGIN IMMEDIATE')
        throw Object.assign(new Error('full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 });
    });
    onTestFinished(() => void vi.restoreAllMocks());
    running.clock.now += 1_000; // the next tick
    const ready = async () => (await get(running.url, '/ready')).body;
    const alerts = expect.stringMatching(
      /^alerts are not evaluated: their states cannot be stored; if the disk/,
    );
    await expect.poll(ready).toMatchObject({ alerts });
    await expect.poll(() => exec.mock.calls.length).toBeGreaterThan(6); // three evaluations
    exec.mockRestore();
    await expect.poll(ready).not.toHaveProperty('alerts');
    const said = logged.filter((text) => text.startsWith('alerts are'));
    expect(said).toEqual([expect.stringMatching('not evaluated'), 'alerts are evaluated again']);
  });

  test('shows a key the alerts whose rows it may read', async () => {
    const count = async (grant: object) => (await listAlerts(await running.newKey(grant))).length;
    expect(await count({})).toBe(1);
    expect(await count({ endpoints: ['logs.all'] })).toBe(0);
    expect(await count({ pins: { project: 'aurora' } })).toBe(1);
    expect(await count({ pins: { project: 'beacon' } })).toBe(0);
  });

  test('accepts silences that end, with a comment, and keeps them in the audit trail', async () => {
    const at = (ms: number) => new Date(running.clock.now + ms).toISOString();
    const right = { until: at(3_600_000), comment: 'deploy', labels: { path: '/cart' } };
    const path = `${NAME}/silences`;
    for (const [body, message] of [
      [{ ...right, until: at(-1) }, 'until is in the past'],
      [{ ...right, until: at(1_000 * 365 * 86_400_000) }, 'until is more than 90 days ahead'],
      [{ ...right, comment: '' }, 'comment must be a string of 1 to 500 characters'],
      [{ ...right, labels: { route: '/' } }, 'which failing.paths has no label for; it has path'],
    ] as const) {
      const { status, text } = await send(path, body);
      expect([status, text]).toEqual([400, expect.stringContaining(message)]);
    }
    expect((await send('nothing/silences', right)).status).toBe(404);
    const { status, body: json } = await send(path, right);
    expect([status, json['by']]).toEqual([201, 'private']);
    expect((await listAlerts())[0]?.silences).toEqual([json]);
    const detail = expect.stringContaining(NAME);
    expect(await lastAudit('silenced')).toMatchObject({ actor: 'private', detail });
    const remove = (id: unknown) => request(running.url, `${ALERTS}/${path}/${id}`, { method: 'DELETE' });
    expect((await remove(json['id'])).status).toBe(204);
    expect((await listAlerts())[0]?.silences).toEqual([]);
    expect(await lastAudit('unsilenced')).toMatchObject({ detail: `${NAME}: deploy` });
    expect((await remove(json['id'])).status).toBe(404);
  });

  test('sends a test message for a key that may manage, and says what its receivers made of it', async () => {
    const sendTest = (key?: string) => send(`${NAME}/test`, {}, key);
    const answer = { result: { ops: 'sent' }, firing: 1, last_error: null };
    expect(await sendTest()).toMatchObject({ status: 200, body: answer });
    expect(messagesTo('/one')).toMatchObject([{ status: 'firing' }, { test: true }]);
    expect((await sendTest(await running.newKey({}))).status).toBe(403);
    const limited = await running.newKey({ scopes: ['query', 'manage'], endpoints: ['logs.all'] });
    expect((await sendTest(limited)).status).toBe(404);
    down.add('/one');
    const failed = await sendTest();
    expect(failed.body.result).toEqual({ ops: expect.stringMatching(/503.*; it is sent again later$/) });
    running.clock.now += 600_000;
    const alerts = 'messages of alerts have failed for ten minutes, to ops; see the log';
    expect((await get(running.url, '/ready')).body).toMatchObject({ alerts });
  });
});

test('a key that may manage evaluates an alert over the time before now, which sends nothing', async () => {
  // A message that waits may be sent again meanwhile, with the id that it had.
  const idsReceived = () => new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
  const before = idsReceived();
  const replay = (body: object, key?: string) => send(`${NAME}/replay`, body, key);
  const minute = await replay({ since_seconds: 60 });
  expect(minute.body).toMatchObject({ ticks: 61, every_seconds: 1, fired: 1, failures: 0, to: ['ops'] });
  expect(minute.body['messages']).toMatchObject([{ status: 'firing', instances: [{ path: '/cart' }] }]);
  const year = await replay({ since_seconds: 365 * 86_400 });
  expect([year.status, year.text]).toEqual([400, expect.stringContaining('the most is 10080, in 10080 s')]);
  expect((await replay({ since_seconds: 60 }, await running.newKey({}))).status).toBe(403);
  expect(idsReceived()).toEqual(before);
});

describe('a reload', () => {
  test('sends the messages that wait to a changed receiver, with the same id', async () => {
    await writeReceivers({ ops: '/two' });
    await running.core.reload();
    running.clock.now += 10_000;
    await expect.poll(() => sentTo('/two').length).toBe(1);
    const [before, after] = [sentTo('/one').at(-1)?.headers, sentTo('/two')[0]?.headers];
    expect(after?.['webhook-id']).toBe(before?.['webhook-id']);
    expect(after?.['webhook-signature']).not.toBe(before?.['webhook-signature']);
  });

  test('of a faulty file of receivers, or an alert that names an unknown one, changes nothing', async () => {
    await writeFile(receiversFile, '\nops: { kind: pigeon }\n');
    await expect(running.core.reload()).rejects.toThrow(`${receiversFile}:2: unknown kind of receiver`);
    await writeReceivers({ ops: '/three' });
    await writeAlert('[ops, nobody]');
    const line = eager.split('\n').findIndex((text) => text.startsWith('to:')) + 1;
    await expect(running.core.reload()).rejects.toThrow(
      `${alertFile}:${line}: TAILRACE_RECEIVERS_FILE has no receiver "nobody"; it has ops`,
    );
    const before = sentTo('/two').length;
    expect((await send(`${NAME}/test`)).status).toBe(200);
    await expect.poll(() => sentTo('/two').length).toBe(before + 1);
    expect(sentTo('/three')).toEqual([]);
  });

  test('resolves a firing alert whose file is removed, and its message and history say why', async () => {
    const reason = 'the alert was removed from the definitions';
    await writeReceivers({ ops: '/two' });
    await rm(alertFile);
    await running.core.reload();
    await expect
      .poll(() => messagesTo('/two').at(-1))
      .toMatchObject({
        ...{ alert: NAME, status: 'resolved', text: `Resolved: ${NAME}: ${reason}` },
        instances: [{ labels: { path: '/cart' } }],
      });
    expect(messagesTo('/two').at(-1)).not.toHaveProperty('link'); // its page is gone
    await writeAlert('[ops]');
    await running.core.reload();
    const history = await readHistory();
    expect(history.filter((one) => one.reason === reason)).toMatchObject([{ change: 'note' }]);
    expect(history).toContainEqual(expect.objectContaining({ change: 'resolved', quiet: false }));
  });

  test('shows a key that may read the present rows of an alert nothing of what it was about before', async () => {
    const key = await running.newKey({ pins: { project: 'beacon' } });
    expect((await call('/history', key)).status).toBe(404);
    await writeFile(alertFile, eager.replace('aurora', 'beacon'));
    await running.core.reload();
    const [state, history] = [await call('', key), await call('/history', key)];
    expect([state.status, history.status]).toEqual([200, 200]);
    expect(history.text).toContain('"change":"firing"');
    expect(`${state.text}${history.text}`).not.toContain('/cart');
    const countResolved = async () =>
      (await readHistory()).filter(({ change }) => change === 'resolved').length;
    const before = await countResolved();
    running.clock.now += 1_000;
    await expect.poll(countResolved).toBe(before + 1);
    expect((await call('/history', key)).text).not.toContain('/cart');
    expect((await readHistory()).some((one) => one.labels?.['path'] === '/cart')).toBe(true);
  });
});

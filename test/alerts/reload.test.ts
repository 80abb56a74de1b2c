import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AlertMessage } from '../../src/alerts/outbox.ts';
import { sendCommand } from '../../src/maintenance/socket/client.ts';
import { COMMANDS } from '../../src/maintenance/socket/protocol.ts';
import type { AlertEntryView } from '../../src/management/alert-view.ts';
import { readEagerAlert, storeFailures } from '../support/failing-paths.ts';
import { type ReceiverServer, startReceiver } from '../support/receiver-server.ts';
import { PRIVATE_KEY, startTestService, temporaryFolder } from '../support/service.ts';

const NAME = 'failing.paths';
const folder = await temporaryFolder();
const alertFile = join(folder.path, 'failing.paths.yaml');
const receiversFile = join(folder.path, 'receivers');
/** Paths of the receiver that respond 503. */
const down = new Set<string>();
let eager = '';
let receiver: ReceiverServer;
let running: Awaited<ReturnType<typeof startTestService>>;

beforeAll(async () => {
  eager = await readEagerAlert();
  receiver = await startReceiver(({ url = '' }, response) =>
    response.writeHead(down.has(url) ? 503 : 204).end(),
  );
  await writeAlert('[ops]');
  await writeReceivers({ ops: '/one' });
  running = await startTestService({
    env: {
      TAILRACE_ENDPOINTS_DIR: 'template/endpoints',
      TAILRACE_ALERTS_DIR: folder.path,
      TAILRACE_RECEIVERS_FILE: receiversFile,
      TAILRACE_PUBLIC_URL: 'https://logs.example.com/console/',
    },
  });
  await storeFailures(running);
});
afterAll(async () => {
  await running.close();
  receiver.close();
  await folder.remove();
});

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

/** Stores a message that is marked as a test. */
async function sendTest(): Promise<void> {
  const command = await sendCommand(running.config.dataDir, COMMANDS.testAlert, { name: NAME });
  await command?.finish(() => {});
}

const sentTo = (path: string) => receiver.received.filter((one) => one.path === path);
const messagesTo = (path: string) => sentTo(path).map(({ body }) => JSON.parse(body) as AlertMessage);
const idsTo = (path: string) => sentTo(path).map(({ headers }) => headers['webhook-id']);

async function readHistory(): Promise<AlertEntryView[]> {
  const url = `${running.url}/api/alerts/${NAME}/history`;
  const response = await fetch(url, { headers: { 'x-api-key': PRIVATE_KEY } });
  return ((await response.json()) as { result: AlertEntryView[] }).result;
}

test('a message links to its alert in the console', async () => {
  await expect.poll(() => messagesTo('/one')).toMatchObject([{ alert: NAME, status: 'firing' }]);
  expect(messagesTo('/one')[0]?.link).toBe(`https://logs.example.com/console/alerts/${NAME}`);
});

test('a changed receiver gets the messages that wait, with the same id', async () => {
  down.add('/one');
  await sendTest();
  await expect.poll(() => sentTo('/one').length).toBe(2);
  await writeReceivers({ ops: '/two' });
  await running.core.reload();
  running.clock.now += 10_000;
  await expect.poll(() => sentTo('/two').length).toBe(1);
  expect(idsTo('/two')).toEqual(idsTo('/one').slice(1));
  const signatures = [sentTo('/one')[1], sentTo('/two')[0]].map((one) => one?.headers['webhook-signature']);
  expect(signatures[0]).not.toBe(signatures[1]);
});

test('a faulty file of receivers changes nothing, and neither does an alert that names an unknown one', async () => {
  await writeFile(receiversFile, '\nops: { kind: pigeon }\n');
  await expect(running.core.reload()).rejects.toThrow(
    `${receiversFile}:2: unknown kind of receiver; known are webhook`,
  );
  await writeReceivers({ ops: '/three' });
  await writeAlert('[ops, nobody]');
  const line = eager.split('\n').findIndex((text) => text.startsWith('to:')) + 1;
  await expect(running.core.reload()).rejects.toThrow(
    `${alertFile}:${line}: TAILRACE_RECEIVERS_FILE has no receiver "nobody"; it has ops`,
  );
  expect(running.core.registry.getAlert(NAME).to).toEqual(['ops']);
  const before = sentTo('/two').length;
  await sendTest();
  await expect.poll(() => sentTo('/two').length).toBe(before + 1);
  expect(sentTo('/three')).toEqual([]);
});

test('messages to a receiver that is gone are given up, and the history says so', async () => {
  down.add('/gone');
  await writeReceivers({ ops: '/two', old: '/gone' });
  await writeAlert('[ops, old]');
  await running.core.reload();
  await sendTest();
  await expect.poll(() => sentTo('/gone').length).toBe(1);
  await writeReceivers({ ops: '/two' });
  await writeAlert('[ops]');
  await running.core.reload();
  await expect
    .poll(async () => (await readHistory())[0])
    .toMatchObject({
      ...{ change: 'not_delivered', receiver: 'old' },
      reason: 'TAILRACE_RECEIVERS_FILE has no receiver of this name',
    });
  running.clock.now += 60_000;
  await sendTest();
  await expect.poll(() => messagesTo('/two').at(-1)).toMatchObject({ test: true });
  expect(sentTo('/gone').length).toBe(1);
});

test('a firing alert that is removed is resolved, and its message and history say why', async () => {
  const reason = 'the alert was removed from the definitions';
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

test('a key that may read the present rows of an alert does not read what it was about before', async () => {
  const grant = { endpoints: undefined, sources: undefined, rate: undefined, expiresMs: undefined };
  const { key } = await running.service.keyring.create({
    ...{ ...grant, name: 'beacon', description: '', scopes: ['query'], pins: { project: 'beacon' } },
  });
  const ask = async (path: string) => {
    const response = await fetch(`${running.url}/api/alerts/${NAME}${path}`, {
      headers: { 'x-api-key': key },
    });
    return { status: response.status, text: await response.text() };
  };
  expect((await ask('/history')).status).toBe(404);
  await writeFile(alertFile, eager.replace('aurora', 'beacon'));
  await running.core.reload();
  const [state, history] = [await ask(''), await ask('/history')];
  expect([state.status, history.status]).toEqual([200, 200]);
  expect(history.text).toContain('"change":"firing"');
  expect(`${state.text}${history.text}`).not.toContain('/cart');
  running.clock.now += 1_000;
  await expect.poll(async () => (await readHistory())[0]?.change).toBe('resolved');
  expect((await ask('/history')).text).not.toContain('/cart');
  expect((await readHistory()).some((one) => one.labels?.['path'] === '/cart')).toBe(true);
});

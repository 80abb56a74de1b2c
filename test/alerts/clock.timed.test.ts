import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AlertMessage } from '../../src/alerts/outbox.ts';
import type { AlertView } from '../../src/management/alert-view.ts';
import { writeAlerts } from '../support/alert-files.ts';
import { type ReceiverServer, startReceiver } from '../support/receiver-server.ts';
import { PRIVATE_KEY, startTestService, storeEvents, temporaryFolder } from '../support/service.ts';

const DAY_MS = 86_400_000;
const JUMP_MS = 100 * DAY_MS;
// Enough ticks for a storm.
const WATCHED_MS = 2_000;
const FAILING = { endpoint: 'failing.paths', parameters: { project: 'aurora' }, per: ['path'] };

const closing: (() => unknown)[] = [];
let running: Awaited<ReturnType<typeof startTestService>>;
let receiver: ReceiverServer;
let firstMessages: string[];

beforeAll(async () => {
  const folder = await temporaryFolder();
  closing.push(folder.remove);
  receiver = await startReceiver();
  closing.push(receiver.close);
  const env = await writeAlerts(
    folder.path,
    { ops: receiver.url },
    { ...FAILING, name: 'fires', when: 'rows', repeat: 3_600 },
    { ...FAILING, name: 'waits', when: 'rows', for: 7_200 },
    { ...FAILING, name: 'kept', when: { column: 'failures', above: 0 }, no_data: 'keep' },
    { ...FAILING, name: 'missed', when: { column: 'failures', above: 100 }, no_data: 'alert' },
  );
  running = await startTestService({ env: { ...env, TAILRACE_ENDPOINTS_DIR: 'template/endpoints' } });
  closing.push(running.close);
  await fail('/cart');
  running.clock.now += 2_000;
});
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

async function fail(path: string): Promise<void> {
  const { clock, core } = running;
  const event = {
    ...{ timestamp: clock.now * 1000, project: 'aurora', event_message: `GET ${path} 500` },
    metadata: { request: { path }, response: { status_code: 500 } },
  };
  await storeEvents(core, 'cloudflare.logs.prod', [event], clock.now);
}

async function listStates(): Promise<Record<string, string>> {
  const response = await fetch(`${running.url}/api/alerts`, { headers: { 'x-api-key': PRIVATE_KEY } });
  const { result } = (await response.json()) as { readonly result: readonly AlertView[] };
  return Object.fromEntries(result.map(({ name, state }) => [name, state]));
}

const listMessages = () =>
  receiver.received.map(({ body }) => {
    const { alert, status, instances } = JSON.parse(body) as AlertMessage;
    return [alert, status, ...instances.map(({ labels }) => labels['path'])].join(' ');
  });

/** Lets a few ticks pass by the clock of the test. */
async function watch(): Promise<void> {
  for (let ms = 0; ms < WATCHED_MS; ms += 500) {
    running.clock.now += 500;
    await new Promise((resolve) => void setTimeout(resolve, 500));
  }
}

const STATES = { fires: 'firing', waits: 'pending', kept: 'firing', missed: 'inactive' };

test('alerts fire, and wait for `for`', async () => {
  await expect.poll(listStates).toEqual(STATES);
  await watch();
  firstMessages = listMessages();
  expect(firstMessages).toEqual(expect.arrayContaining(['fires firing /cart', 'kept firing /cart']));
});

test.each([
  ['ahead', JUMP_MS],
  ['back', -JUMP_MS],
])('a clock that jumps 100 days %s changes no alert, and nothing is sent', async (_, jumpMs) => {
  for (const ms of [jumpMs, -jumpMs]) {
    running.clock.now += ms;
    await watch();
    expect(await listStates()).toEqual(STATES);
    expect(listMessages()).toEqual(firstMessages);
  }
});

test('afterwards alerts fire as before', async () => {
  await fail('/pay');
  running.clock.now += 1_000;
  const listNew = () => listMessages().slice(firstMessages.length).toSorted();
  await expect.poll(listNew).toEqual(['fires firing /pay', 'kept firing /pay']);
});

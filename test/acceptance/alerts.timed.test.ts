import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { AlertMessage } from '../../src/alerts/message.ts';
import type { AlertEntryView } from '../../src/management/alert-view.ts';
import { hasPostgres, startPostgres } from '../../trial/postgres.ts';
import { KEY, type Server, startServer } from '../../trial/server.ts';
import { scale } from '../support/property.ts';
import { type Received, startReceiver } from '../support/receiver-server.ts';
import { temporaryFolder, writeFiles } from '../support/service.ts';

const KILLS = scale(50);
const CUTS = scale(20);
const TICKS_MAX = 3;
const MINUTES_MAX = 20;
const SECRET = `whsec_${Buffer.alloc(32, 'k').toString('base64')}`;

/** An alert that is evaluated each second, and changes each second or two. */
const FILES: Readonly<Record<string, string>> = {
  'endpoints/odd.seconds/endpoint.yaml': `id: 3f0a8c1e-5f1f-4a52-9a58-0d6a2f6a4c12
name: odd.seconds
description: Whether the second is odd.
max_rows: 1
caching: disabled
columns:
  odd: { type: integer, description: 1 if it is. }
`,
  'endpoints/odd.seconds/query.sql':
    "SELECT toUInt8(toUnixTimestamp(toDateTime64(@now, 6, 'UTC')) % 2) AS odd\n",
  'alerts/odd.yaml': `id: 5f1f3f0a-8c1e-4a52-9a58-0d6a2f6a4c13
name: odd
description: The second is odd.
endpoint: odd.seconds
every: 1
when: { column: odd, above: 0 }
text: odd
to: [ops]
`,
};

/** A receiver, and what starts services with this alert. */
async function setUp() {
  const folder = await temporaryFolder();
  const receiver = await startReceiver();
  await writeFiles(folder.path, FILES);
  const entry = `ops: { kind: webhook, url: "${receiver.url}", secret: ${SECRET}, private: true }\n`;
  await writeFile(join(folder.path, 'receivers'), entry, { mode: 0o600 });
  const running = new Set<Server>();
  return {
    received: receiver.received,
    async start(env: Readonly<Record<string, string>> = {}, dataDir = join(folder.path, 'data')) {
      await mkdir(dataDir, { recursive: true });
      const server = await startServer({
        dataDir,
        env: {
          TAILRACE_ENDPOINTS_DIR: join(folder.path, 'endpoints'),
          TAILRACE_ALERTS_DIR: join(folder.path, 'alerts'),
          TAILRACE_RECEIVERS_FILE: join(folder.path, 'receivers'),
          ...env,
        },
      });
      running.add(server);
      return server;
    },
    /** After a change and some time, with a message that was sent since the last time. */
    async untilSent(): Promise<void> {
      const before = receiver.received.length;
      await expect.poll(() => receiver.received.length, { interval: 20 }).toBeGreaterThan(before);
      await wait(Math.random() * 1_500);
    },
    async close() {
      for (const server of running) await server.end('SIGTERM');
      receiver.close();
      await folder.remove();
    },
  };
}

/** Reads the changes of the alert, newest first, once all but the last of them are delivered. */
async function readChanges({ url }: Server): Promise<readonly AlertEntryView[]> {
  let entries: readonly AlertEntryView[] = [];
  const changes = () => entries.filter(({ change }) => change === 'firing' || change === 'resolved');
  const isDelivered = async () => {
    const response = await fetch(`${url}/api/alerts/odd/history?limit=1000`, {
      headers: { 'x-api-key': KEY },
    });
    entries = ((await response.json()) as { result: AlertEntryView[] }).result;
    return entries.filter(({ change }) => change === 'delivered').length >= changes().length - 1;
  };
  await expect.poll(isDelivered).toBe(true);
  return changes();
}

function checkMessages(received: readonly Received[], entries: readonly AlertEntryView[]): void {
  const changes = entries.map(({ change, at }) => `${change} ${at}`);
  const messages = new Map(
    received.map(({ headers, body }) => [String(headers['webhook-id']), JSON.parse(body) as AlertMessage]),
  );
  const sent = [...messages.values()].map(({ status, at }) => `${status} ${at}`);
  expect(new Set(sent).size).toBe(sent.length);
  // The last change may still wait.
  expect(changes.slice(1).filter((change) => !sent.includes(change))).toEqual([]);
  const inOrder = [...messages].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, { status }]) => status);
  expect(inOrder.filter((status, i) => status === inOrder[i - 1])).toEqual([]);
}

test(
  'of a service that is killed all the time, no change is lost, and none is sent by two ids',
  async () => {
    const { received, start, untilSent, close } = await setUp();
    for (let kill = 0; kill < KILLS; kill++) {
      const server = await start();
      await untilSent();
      await server.end('SIGKILL');
    }
    const changes = await readChanges(await start());
    await close();
    expect(changes.length).toBeGreaterThan(KILLS);
    checkMessages(received, changes);
  },
  MINUTES_MAX * 60_000,
);

test.skipIf(!hasPostgres)(
  'of replicas whose connections to the database are closed all the time, no change is lost, none is sent by two ids, and the next evaluation is at most two intervals late',
  async () => {
    const { received, start, untilSent, close } = await setUp();
    const postgres = await startPostgres();
    const database = await postgres.createDatabase();
    const folder = await temporaryFolder();
    const env = { TAILRACE_CONTROL_URL: database, TAILRACE_TOKEN_SECRET: SECRET };
    const replicas = await Promise.all(['one', 'two'].map((name) => start(env, join(folder.path, name))));
    for (let cut = 0; cut < CUTS; cut++) {
      await untilSent();
      await postgres.run(
        database,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid()`,
      );
    }
    await untilSent();
    const [server] = replicas;
    const changes = server === undefined ? [] : await readChanges(server);
    await close();
    await postgres.close();
    await folder.remove();
    expect(changes.length).toBeGreaterThan(CUTS);
    checkMessages(received, changes);
    // It changes at each tick: after two missed ones the third is the next that can.
    const ticks = changes.map(({ at }) => Date.parse(at) / 1_000);
    const late = ticks.filter((tick, i) => (ticks[i - 1] ?? tick) - tick > TICKS_MAX);
    expect(late).toEqual([]);
  },
  MINUTES_MAX * 60_000,
);

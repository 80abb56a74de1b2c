import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { AlertMessage } from '../../src/alerts/message.ts';
import type { AlertEntryView } from '../../src/management/alert-view.ts';
import { KEY, startServer } from '../../trial/server.ts';
import { scale } from '../support/property.ts';
import { startReceiver } from '../support/receiver-server.ts';
import { temporaryFolder } from '../support/service.ts';

const KILLS = scale(50);
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

test(
  'of a service that is killed all the time, no change is lost, and none is sent by two ids',
  async () => {
    const folder = await temporaryFolder();
    const dataDir = join(folder.path, 'data');
    const receiver = await startReceiver();
    for (const [name, text] of Object.entries(FILES)) {
      await mkdir(join(folder.path, name, '..'), { recursive: true });
      await writeFile(join(folder.path, name), text);
    }
    await mkdir(dataDir);
    const entry = `ops: { kind: webhook, url: "${receiver.url}", secret: ${SECRET}, private: true }\n`;
    await writeFile(join(folder.path, 'receivers'), entry, { mode: 0o600 });
    const start = () =>
      startServer({
        dataDir,
        env: {
          TAILRACE_ENDPOINTS_DIR: join(folder.path, 'endpoints'),
          TAILRACE_ALERTS_DIR: join(folder.path, 'alerts'),
          TAILRACE_RECEIVERS_FILE: join(folder.path, 'receivers'),
        },
      });
    for (let kill = 0; kill < KILLS; kill++) {
      const server = await start();
      const before = receiver.received.length;
      // It evaluates again within two intervals.
      await expect.poll(() => receiver.received.length, { interval: 20 }).toBeGreaterThan(before);
      await wait(Math.random() * 1_500);
      await server.end('SIGKILL');
    }
    const server = await start();
    const read = async () => {
      const headers = { 'x-api-key': KEY };
      const response = await fetch(`${server.url}/api/alerts/odd/history?limit=1000`, { headers });
      return ((await response.json()) as { result: AlertEntryView[] }).result;
    };
    const changesIn = (entries: readonly AlertEntryView[]) =>
      entries.filter(({ change }) => change === 'firing' || change === 'resolved');
    let entries: readonly AlertEntryView[] = [];
    const isDelivered = async () => {
      entries = await read();
      return entries.filter(({ change }) => change === 'delivered').length >= changesIn(entries).length - 1;
    };
    await expect.poll(isDelivered).toBe(true);
    await server.end('SIGTERM');
    receiver.close();
    await folder.remove();

    const changes = changesIn(entries).map(({ change, at }) => `${change} ${at}`);
    expect(changes.length).toBeGreaterThan(KILLS);
    const messages = new Map(
      receiver.received.map(({ headers, body }) => [
        String(headers['webhook-id']),
        JSON.parse(body) as AlertMessage,
      ]),
    );
    const sent = [...messages.values()].map(({ status, at }) => `${status} ${at}`);
    expect(new Set(sent).size).toBe(sent.length);
    // The last change may still wait.
    expect(changes.slice(1).filter((change) => !sent.includes(change))).toEqual([]);
    const inOrder = [...messages].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, { status }]) => status);
    expect(inOrder.filter((status, i) => status === inOrder[i - 1])).toEqual([]);
  },
  MINUTES_MAX * 60_000,
);

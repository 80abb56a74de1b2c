import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { TRY_MS_MAX } from '../../../src/alerts/receivers/post.ts';
import { writeAlerts } from '../../support/alert-files.ts';
import { FAILING, startFailingServer } from '../../support/failing-server.ts';
import { startReceiver } from '../../support/receiver-server.ts';
import { startTestService, temporaryFolder } from '../../support/service.ts';

const ROUNDS = 5;
// What the two sockets of a connection hold; an answer that is read has no such bound.
const WRITTEN_MAX = 16 * 1024 ** 2;

const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

test('whatever other receivers do, a message leaves long before their tries end', async () => {
  const folder = await temporaryFolder();
  closing.push(folder.remove);
  const servers = new Map<string, Awaited<ReturnType<typeof startFailingServer>>>();
  for (const way of [...FAILING, 'answers 200 with 10 GB'] as const) {
    const server = await startFailingServer(way);
    closing.push(server.close);
    servers.set(way.replaceAll(' ', '-'), server);
  }
  const good = await startReceiver();
  closing.push(good.close);
  const urls = {
    ...Object.fromEntries([...servers].map(([name, { url }]) => [name, url])),
    ...{ refuses: 'http://127.0.0.1:1/', good: good.url },
  };
  const env = await writeAlerts(folder.path, urls, {
    ...{ endpoint: 'trial.seconds', parameters: { seconds: 1 }, when: 'rows', per: ['interval'] },
  });
  const endpoints = join(import.meta.dirname, '../../../trial/alerts/endpoints');
  const { clock, close } = await startTestService({ env: { ...env, TAILRACE_ENDPOINTS_DIR: endpoints } });
  closing.push(close);
  for (let round = 0; round < ROUNDS; round++) {
    const before = good.received.length;
    clock.now += 1_000;
    const startMs = performance.now();
    await expect.poll(() => good.received.length, { interval: 5 }).toBeGreaterThan(before);
    // A quarter of a second until the tick, and the evaluation, which takes longer on a busy machine. The try of a receiver that hangs takes twice this time.
    expect(performance.now() - startMs).toBeLessThan(TRY_MS_MAX / 2);
  }
  await expect
    .poll(() => [...servers.values()].map(({ connections }) => connections() > 0))
    .not.toContain(false);
  await expect.poll(() => servers.get('answers-200-with-10-GB')?.connections()).toBeGreaterThan(1);
  for (const { writtenMax } of servers.values()) expect(writtenMax()).toBeLessThan(WRITTEN_MAX);
});

import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@redis/client';
import { findProgram } from '../scripts/programs.js';
import { findFreePort } from './free-port.ts';
import { until } from './until.ts';

type TestClient = ReturnType<typeof createTestClient>;

export interface TestRedis {
  readonly url: string;
  readonly port: number;
  /** A plain client of the test's own, to look and to spoil. */
  client(): Promise<TestClient>;
  /** Ends it at once, as a machine that fails does. */
  kill(): Promise<void>;
  /** Starts it again, empty, on the same port. */
  start(): Promise<void>;
  remove(): Promise<void>;
}

/** A real Redis of its own on a free port of 127.0.0.1, which keeps nothing. */
export async function startRedis(): Promise<TestRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'tailrace-redis-'));
  const port = await findFreePort();
  const url = `redis://127.0.0.1:${port}`;
  const clients: TestClient[] = [];
  let child: ReturnType<typeof spawnRedis> | undefined;

  async function client() {
    const made = createTestClient(url);
    made.on('error', () => {}); // the test that ends the server knows
    await made.connect();
    clients.push(made);
    return made;
  }

  async function start(): Promise<void> {
    child = spawnRedis(port, folder);
    await until(async () => (await client()).ping(), 10_000);
  }

  async function kill(): Promise<void> {
    const ending = child;
    child = undefined;
    if (ending === undefined) return;
    const ended = new Promise<void>((resolve) => void ending.once('close', () => resolve()));
    ending.kill('SIGKILL');
    await ended;
  }

  await start();
  return {
    url,
    port,
    client,
    kill,
    start,
    async remove() {
      for (const made of clients) if (made.isOpen) made.destroy();
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function spawnRedis(port: number, dir: string) {
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir];
  const keepNothing = ['--save', '', '--appendonly', 'no'];
  return spawn(findProgram('redis-server') ?? 'redis-server', [...settings, ...keepNothing], {
    stdio: 'ignore',
  });
}

function createTestClient(url: string) {
  return createClient({ url, socket: { reconnectStrategy: false } });
}

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createChannel, EngineLostError } from '../../src/engine/process/channel.ts';
import {
  createSupervisor,
  type EngineProcess,
  type EngineRestart,
} from '../../src/engine/process/engine-process.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const never = new AbortController().signal;

/** A process that ends when it is killed, or when the test says so. */
function createProcess() {
  const { promise: ended, resolve: end } = Promise.withResolvers<string>();
  const process: EngineProcess = {
    ended,
    ask: () => Promise.reject(new Error('unused')),
    kill: () => end('SIGKILL'),
  };
  return { process, end };
}

function create(start: (attempt: number) => Promise<EngineProcess>) {
  const first = createProcess();
  const restarts: EngineRestart[] = [];
  let attempts = 0;
  const supervisor = createSupervisor(first.process, {
    start: () => start(++attempts),
    waitMs: 5_000,
    onRestart: (restart) => restarts.push(restart),
  });
  return { first, supervisor, restarts, attempts: () => attempts };
}

test('a caller is rejected at once while the engine is lost, and served when it is back', async () => {
  const back = createProcess();
  const { first, supervisor, restarts } = create(async (n) => {
    if (n <= 6) throw new Error('no disk');
    return back.process;
  });
  await vi.advanceTimersByTimeAsync(60_000);
  first.end('SIGKILL');
  await vi.advanceTimersByTimeAsync(4_000);
  expect(supervisor.state).toBe('lost');
  await expect(supervisor.use(never)).rejects.toMatchObject({ code: 'engine_unavailable' });
  await vi.advanceTimersByTimeAsync(30_000);
  expect(supervisor.state).toBe('up');
  expect(await supervisor.use(never)).toBe(back.process);
  expect(restarts.map(({ failures }) => failures)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(restarts[3]?.error).toEqual(new Error('no disk'));
});

test('closing starts no other process', async () => {
  const { first, supervisor, attempts, restarts } = create(async () => createProcess().process);
  expect(await supervisor.close()).toBe(first.process);
  first.end('SIGKILL');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(attempts()).toBe(0);
  expect(restarts).toEqual([]);
  await expect(supervisor.use(never)).rejects.toMatchObject({ code: 'engine_unavailable' });
});

/** A socket on whose other side `reply` has come. */
function createSocket(reply: Buffer): Duplex {
  const socket = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  socket.push(reply);
  return socket;
}

const lengths = (head: number, payload: number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32LE(head, 0);
  bytes.writeUInt32LE(payload, 4);
  return bytes;
};

test.each([
  ['lengths that nothing has', lengths(0xffff_ffff, 0xffff_ffff)],
  ['a payload beyond every limit', lengths(2, 0xffff_ffff)],
  ['a head that is not JSON', Buffer.concat([lengths(5, 0), Buffer.from('Code:')])],
  ['a head that is no reply', Buffer.concat([lengths(4, 0), Buffer.from('null')])],
])('%s close the channel and fail what waits, and nothing else', async (_, reply) => {
  const socket = createSocket(reply);
  const channel = createChannel(socket, async () => new EngineLostError());
  await expect(channel.ask({ op: 'memory' })).rejects.toThrow(EngineLostError);
  expect(socket.destroyed).toBe(true);
  await expect(channel.ask({ op: 'memory' })).rejects.toThrow(EngineLostError);
});

test('the engine is loaded by the engine process alone', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const loading = files.filter((name) =>
    /from 'chdb|import\('chdb/.test(readFileSync(join('src', name), 'utf8')),
  );
  expect(loading.sort()).toEqual(['engine/process/main.ts']);
});

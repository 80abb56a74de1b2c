import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  createSupervisor,
  type EngineProcess,
  type EngineRestart,
} from '../../../src/engine/process/engine-process.ts';

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

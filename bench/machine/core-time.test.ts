import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { takeCores } from './core-time.ts';

const CHILD_MS = 200;

test('counts the core time of a child process, such as the engine', async () => {
  const child = fork(join(import.meta.dirname, '../../test/fixtures/busy-process.ts'));
  await once(child, 'message');
  const idle = await takeCores(async () => 'nothing');
  const busy = await takeCores(async () => {
    child.send(CHILD_MS);
    await once(child, 'message');
  });
  child.kill();
  expect(idle.result).toBe('nothing');
  expect(busy.coreMs - idle.coreMs).toBeGreaterThan(CHILD_MS / 2);
});

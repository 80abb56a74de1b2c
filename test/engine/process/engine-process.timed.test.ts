import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openProcess, openWithin } from '../../../src/engine/embedded/open-process.ts';
import { describeSessions } from '../../../src/engine/embedded/sessions.ts';
import { startEngineProcess } from '../../../src/engine/process/engine-process.ts';
import { runShell } from '../../support/cli.ts';
import { findEngineProcesses } from '../../support/engine-process.ts';
import { temporaryFolder } from '../../support/service.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder.remove());

const never = new AbortController().signal;

function describe() {
  const limits = { timeoutMs: 1_000, memoryBytesMax: 1024 ** 3, resultBytesMax: 1024 ** 2 };
  return describeSessions(folder.path, { memoryBytesMax: 1024 ** 3, limits });
}

test('a process that does not open the store in time is ended, and says so', async () => {
  const open = (signal: AbortSignal) => openProcess(describe(), [], signal);
  await expect(openWithin(1, open, never)).rejects.toThrow('did not open the store within 1 ms');
  expect(findEngineProcesses()).toEqual([]);
});

test('a process that cannot be started rejects requests with the reason', async () => {
  const process = startEngineProcess(2, undefined, join(folder.path, 'no-such-program'));
  await expect(process.ask(0, { op: 'memory' })).rejects.toThrow(/could not be started: .*ENOENT/);
  process.kill();
  expect(await process.ended).toContain('ENOENT');
});

// With no descriptor left, Node starts nothing, gives no streams and throws nothing: it only emits an error.
test('the same when the service has no file descriptor left, which it survives', async () => {
  const source = JSON.stringify(
    new URL('../../../src/engine/process/engine-process.ts', import.meta.url).href,
  );
  const script = `
    const { openSync } = await import('node:fs');
    const { startEngineProcess } = await import(${source});
    try { for (;;) openSync('/dev/null'); } catch {}
    const process = startEngineProcess(5);
    console.log(await process.ask(0, { op: 'memory' }).catch((error) => error.message));
    process.kill();
    console.log(await process.ended);`;
  const { code, stdout } = await runShell('ulimit -n 128; exec "$0" --input-type=module -e "$1"', [script]);
  expect(stdout).toMatch(/could not be started: .*EMFILE[\s\S]*could not be started: .*EMFILE/);
  expect(code).toBe(0);
});

import { expect, test } from 'vitest';
import { run, runQuietly } from '../../scripts/prepare.js';

const FOREVER = 'setInterval(() => {}, 1_000)';

test('a command that does not end in time is ended, which is a failure', async () => {
  expect(await run(process.execPath, ['-e', FOREVER], { timeoutMs: 100 })).toBe(3);
});

test('a command that ends in time keeps its exit code and its environment', async () => {
  const script = 'process.exitCode = Number(process.env.CODE)';
  expect(await run(process.execPath, ['-e', script], { env: { CODE: '7' }, timeoutMs: 60_000 })).toBe(7);
});

test('what a quiet command writes is returned with its exit code', async () => {
  const script = "console.log('out'); console.error('err'); process.exitCode = 7";
  const { code, output } = await runQuietly(process.execPath, ['-e', script]);
  expect([code, output.split('\n').toSorted()]).toEqual([7, ['', 'err', 'out']]);
  expect(await runQuietly('/no/such/command', [])).toEqual({
    code: 3,
    output: expect.stringContaining('ENOENT'),
  });
});

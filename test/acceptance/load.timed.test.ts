import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { endLeftProcesses, runCli, startCli } from '../support/cli.ts';
import { ON_SERVER } from '../support/cli-engine.ts';
import { edgeEvents, toNdjson, writeManyEvents } from '../support/events.ts';
import { temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
const file = (name: string) => join(folder.path, name);
afterEach(endLeftProcesses);
afterAll(folder.remove);

// More than a second's work.
const MANY = 600_000;

beforeAll(() => writeManyEvents(file('many.ndjson'), MANY));

let stores = 0;
const newStore = () => ({ TAILRACE_DATA_DIR: file(`data-${++stores}`) });
const load = (env: Record<string, string>, files: string[], stdin = '') =>
  runCli(['load', 'cloudflare.logs.prod', ...files], { env, stdin });

/** Every event of a project, beyond the 100 that logs.all returns. */
async function countRest(env: Record<string, string>, project: string): Promise<number> {
  const { stdout } = await runCli(
    ['query', 'usage.api-counts', '-p', `project=^${project}`, '-p', 'interval=daily'],
    {
      env,
    },
  );
  const { result } = JSON.parse(stdout) as { result: { total_rest_requests: number }[] };
  return result.reduce((sum, row) => sum + row.total_rest_requests, 0);
}

/** Starts a load that takes seconds; resolves when a first batch is in the store. */
async function startLongLoad(env: Record<string, string>) {
  const process = startCli(['load', 'cloudflare.logs.prod', file('many.ndjson')], { env });
  await vi.waitFor(async () => expect(await hasBatch(env)).toBe(true), { timeout: 60_000, interval: 20 });
  return process;
}

/** Whether a batch was acknowledged: a part of the embedded table is on the disk, or a server has rows. */
async function hasBatch(env: Record<string, string>): Promise<boolean> {
  if (ON_SERVER) return (await countRest(env, 'many')) > 0;
  const names = await readdir(join(env['TAILRACE_DATA_DIR'] ?? '', 'store'), { recursive: true });
  return names.some((name) => /\/\d{8}_\d+_\d+_\d+\/count\.txt$/.test(name));
}

test('SIGTERM stops a load: what was read is stored, the message says how far it came, exit 3', async () => {
  const env = newStore();
  const process = await startLongLoad(env);
  process.child.kill('SIGTERM');
  const { code, stderr } = await process.ended;
  const [, line = ''] =
    /stopped by SIGTERM after line (\d+) of \S+; what was read is stored/.exec(stderr) ?? [];
  expect([code, stderr]).toEqual([3, expect.not.stringContaining('    at ')]);
  expect(Number(line)).toBeLessThan(MANY);
  expect(await countRest(env, 'many')).toBe(Number(line));
});

test('kill -9 during a load costs no batch that was stored, and the store opens again', async () => {
  const env = newStore();
  const process = await startLongLoad(env);
  process.child.kill('SIGKILL');
  expect((await process.ended).code).toBe('SIGKILL');
  const stored = await countRest(env, 'many');
  expect(stored).toBeGreaterThan(0);
  expect(stored).toBeLessThan(MANY);
  expect((await load(env, ['-'], toNdjson(edgeEvents(1)))).code).toBe(0);
  expect(await countRest(env, 'many')).toBe(stored);
});

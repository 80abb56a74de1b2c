import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openSqliteStore } from '../../../src/keys/sqlite-store.ts';
import { copyFewDefinitions } from '../../support/definitions.ts';
import { edgeEvents } from '../../support/events.ts';
import { runProgram } from '../../support/program.ts';
import { storeFor, temporaryFolder } from '../../support/service.ts';

const EDGE = 'cloudflare.logs.prod';
const folder = await temporaryFolder();
afterAll(folder.remove);
const env = { ...(await copyFewDefinitions(folder.path)), TAILRACE_DATA_DIR: join(folder.path, 'data') };
const run = (...args: string[]) => runProgram(args, env);

async function countOf(project: string): Promise<number> {
  const { stdout } = await run(
    'query',
    'usage.api-counts',
    '-p',
    `project=^https://${project}\\.`,
    '-p',
    'interval=daily',
  );
  const { result } = JSON.parse(stdout) as { result: { total_rest_requests: number }[] };
  return result.reduce((sum, row) => sum + row.total_rest_requests, 0);
}

test('tailrace delete without a service asks, then deletes only what was named, and writes it into the audit trail', async () => {
  await storeFor(env, EDGE, [...edgeEvents(30, 'gone'), ...edgeEvents(20, 'kept')]);
  const dry = await run('delete', '--project', 'gone', '--dry-run');
  expect([dry.code, dry.stdout]).toEqual([0, expect.stringContaining('30 events; nothing was deleted')]);
  const asked = await run('delete', '--project', 'gone');
  expect([asked.code, asked.stderr]).toEqual([1, expect.stringContaining('add --yes')]);
  const done = await run('delete', '--project', 'gone', '--source', EDGE, '--yes');
  expect([done.code, done.stdout]).toEqual([0, expect.stringContaining('30 events deleted')]);
  expect([await countOf('gone'), await countOf('kept')]).toEqual([0, 20]);
  const again = await run('delete', '--project', 'gone', '--yes');
  expect([again.code, again.stdout]).toEqual([0, 'No events match; nothing was deleted.\n']);
  const control = openSqliteStore(env.TAILRACE_DATA_DIR);
  const entries = await control.listEntries({ limit: 10 }).finally(control.close);
  expect(entries.map(({ action, detail }) => [action, detail])).toEqual([
    ['deleted', `30 events of project "gone" in ${EDGE}`],
  ]);
});

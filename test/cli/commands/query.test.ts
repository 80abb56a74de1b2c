import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { writeDefinitions } from '../../query/sandbox/support.ts';
import { endLeftProcesses, runCli } from '../../support/cli.ts';
import { temporaryFolder } from '../../support/service.ts';

const folder = await temporaryFolder();
const definitions = await writeDefinitions();
afterAll(async () => {
  await definitions.remove();
  await folder.remove();
});
afterEach(endLeftProcesses);
const env = { ...definitions.env, TAILRACE_DATA_DIR: join(folder.path, 'data') };
const query = (...args: string[]) => runCli(['query', ...args], { env });

describe('tailrace query with a SELECT of its own', () => {
  test.each([
    ['--sql', 'SELECT @project AS p'],
    ['-p', 'sql=SELECT @project AS p'],
  ])('runs it, given by %s', async (option, sql) => {
    const { code, stdout } = await query('sandbox.on', '-p', 'project=a', option, sql);
    expect([code, stdout]).toEqual([0, '{"result":[{"p":"a"}]}\n']);
  });

  test('is refused where the endpoint has sandboxing off', async () => {
    const { code, stderr } = await query('sandbox.off', '-p', 'project=a', '--sql', 'SELECT 1');
    expect([code, stderr]).toEqual([
      1,
      'tailrace: --sql needs an endpoint with query_sandboxing: true, which sandbox.off does not have\n',
    ]);
  });
});

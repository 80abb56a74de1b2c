import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { runProgram } from '../../support/program.ts';
import { temporaryFolder } from '../../support/service.ts';

const NAME = 'failing.paths';
const folder = await temporaryFolder();
afterAll(folder.remove);
const HOUR_MS = 3_600_000;

describe('tailrace alerts on a data directory', () => {
  const env = {
    TAILRACE_DATA_DIR: join(folder.path, 'data'),
    TAILRACE_ENDPOINTS_DIR: 'template/endpoints',
    TAILRACE_ALERTS_DIR: 'template/alerts',
  };
  const silence = (...words: string[]) => runProgram(['alerts', 'silence', ...words], env);
  const list = async () => (await runProgram(['alerts', 'list'], env)).stdout;

  test('begins a silence, and ends it early by its id or with all others', async () => {
    const begin = (until: string) => silence(NAME, '--until', until, '--comment', 'upgrade');
    const begun = await begin('1h');
    expect(begun.stderr).toMatch(/^tailrace: no service runs on data directory .*TAILRACE_DATA_DIR/);
    const [, id = ''] = /--end (\S+) ends it early/.exec(begun.stdout) ?? [];
    await begin(new Date(Date.now() + HOUR_MS).toISOString());
    expect(await list()).toContain('silenced');
    expect((await silence(NAME, '--end', id)).stdout).toBe(`1 silence of ${NAME} ended.\n`);
    expect((await silence(NAME, '--end', id)).code).toBe(1);
    expect((await silence(NAME, '--end', 'all')).stdout).toBe(`1 silence of ${NAME} ended.\n`);
    expect(await list()).not.toContain('silenced');
  });
});

import { afterAll, expect, test } from 'vitest';
import { runProgram } from '../../support/program.ts';
import { temporaryFolder } from '../../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);
const NAME = 'failing.paths';
const env = {
  TAILRACE_DATA_DIR: folder.path,
  TAILRACE_ENDPOINTS_DIR: 'template/endpoints',
  TAILRACE_ALERTS_DIR: 'template/alerts',
};
const silence = (...words: string[]) => runProgram(['alerts', 'silence', NAME, ...words], env);
const begin = (until = '1h') => silence('--until', until, '--comment', 'upgrade');
const list = async () => (await runProgram(['alerts', 'list'], env)).stdout;

test('a silence is begun, and ended early by its id or with all others', async () => {
  const begun = await begin();
  expect(begun.stderr).toMatch(/^tailrace: no service runs on data directory .*TAILRACE_DATA_DIR/);
  const untilMs = Date.parse(/until (\S+);/.exec(begun.stdout)?.[1] ?? '');
  expect(Math.abs(untilMs - Date.now() - 3_600_000)).toBeLessThan(60_000);
  const [, id = ''] = /--end (\S+) ends it early/.exec(begun.stdout) ?? [];
  await begin(new Date(Date.now() + 3_600_000).toISOString());
  expect(await list()).toContain('silenced');
  expect((await silence('--end', id)).stdout).toBe(`1 silence of ${NAME} ended.\n`);
  const again = await silence('--end', id);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('it may have ended')]);
  expect(await list()).toContain('silenced');
  expect((await silence('--end', 'all')).stdout).toBe(`1 silence of ${NAME} ended.\n`);
  expect(await list()).not.toContain('silenced');
});

test('a silence of every alert has a label', async () => {
  const ofAll = (...words: string[]) => runProgram(['alerts', 'silence', ...words], env);
  const without = await ofAll('--until', '1h', '--comment', 'moved');
  expect([without.code, without.stderr]).toEqual([
    1,
    expect.stringContaining('labels must have at least one'),
  ]);
  const begun = await ofAll('--label', 'path=/cart', '--until', '1h', '--comment', 'moved');
  expect(begun.stdout).toMatch(/^Every alert with path=\/cart sends no messages until /);
  expect(await list()).toContain('silenced');
  expect((await silence('--end', 'all')).stdout).toBe(`0 silences of ${NAME} ended.\n`);
  expect((await ofAll('--end', 'all')).stdout).toBe('1 silence of every alert ended.\n');
  expect(await list()).not.toContain('silenced');
});

test('a silence ends in the future, within 90 days', async () => {
  const refused = async (until: string) => {
    const { code, stderr } = await begin(until);
    return [code, stderr.split('\n').find((line) => line.includes('until'))];
  };
  expect(await refused('2020-01-01T00:00:00Z')).toEqual([1, expect.stringContaining('is in the past')]);
  expect(await refused('3026-01-01T00:00:00Z')).toEqual([1, expect.stringContaining('more than 90 days')]);
  expect(await refused('soon')).toEqual([1, expect.stringContaining('must be an ISO 8601 timestamp')]);
  expect(await list()).not.toContain('silenced');
});

test('a silence needs its end and a comment, or the one that is ended', async () => {
  const short = await silence('--comment', 'upgrade');
  expect([short.code, short.stderr]).toEqual([1, expect.stringContaining('needs --until and --comment')]);
});

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readEagerAlert, storeFailures } from '../../support/alerting.ts';
import { runProgram } from '../../support/program.ts';
import { startReceiver } from '../../support/receiver-server.ts';
import { PRIVATE_KEY, startTestService, temporaryFolder } from '../../support/service.ts';

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

  test('silences every alert only by a label', async () => {
    const words = ['--until', '1h', '--comment', 'moved'];
    expect((await silence(...words)).stderr).toContain('labels must have at least one');
    const begun = await silence('--label', 'path=/cart', ...words);
    expect(begun.stdout).toMatch(/^Every alert with path=\/cart sends no messages until /);
    expect((await silence('--end', 'all')).stdout).toBe('1 silence of every alert ended.\n');
  });

  test.each([
    [['--until', '2020-01-01T00:00:00Z', '--comment', 'x'], 'is in the past'],
    [['--until', '3026-01-01T00:00:00Z', '--comment', 'x'], 'more than 90 days'],
    [['--until', 'soon', '--comment', 'x'], 'must be an ISO 8601 timestamp'],
    [['--comment', 'x'], 'needs --until and --comment'],
  ])('rejects a silence by %j', async (words, message) => {
    const { code, stderr } = await silence(NAME, ...words);
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
  });
});

describe('tailrace alerts --url', () => {
  let service: Awaited<ReturnType<typeof startTestService>>;
  beforeAll(async () => {
    await writeFile(join(folder.path, 'failing.paths.yaml'), await readEagerAlert());
    const env = { TAILRACE_ENDPOINTS_DIR: 'template/endpoints', TAILRACE_ALERTS_DIR: folder.path };
    service = await startTestService({ env });
    await storeFailures(service);
  });
  afterAll(() => service.close());
  const alerts = (
    args: string[],
    env: Record<string, string> = { TAILRACE_KEY: PRIVATE_KEY },
    url = service.url,
  ) => runProgram(['alerts', ...args, '--url', url], env);

  test('lists, shows the history and silences through the routes of a running service', async () => {
    await expect
      .poll(async () => (await alerts(['list'])).stdout)
      .toMatch(/failing\.paths *│ firing *│.*│ path=\/cart firing/);
    const history = await alerts(['history', NAME, '--json', '--limit', '100']);
    const { result } = JSON.parse(history.stdout) as { result: { change: string }[] };
    expect(result.map(({ change }) => change)).toContain('firing');
    const until = new Date(service.clock.now + HOUR_MS).toISOString();
    const silenced = await alerts([
      'silence',
      NAME,
      '--comment',
      'a "deploy"',
      '--label',
      'path=/cart',
      '--until',
      until,
    ]);
    expect(silenced.stdout).toContain(`${NAME} sends no messages until ${until}; `);
    expect((await alerts(['list'])).stdout).toContain('firing, silenced');
    const [, id = ''] = /--end (\S+) ends it early/.exec(silenced.stdout) ?? [];
    expect((await alerts(['silence', NAME, '--end', id])).stdout).toBe(`1 silence of ${NAME} ended.\n`);
    expect((await alerts(['list'])).stdout).not.toContain('silenced');
  });

  test('says what is missing or wrong', async () => {
    expect((await alerts(['list'], {})).stderr).toContain('--url needs a key');
    expect((await alerts(['history', 'nothing'])).stderr).toContain(
      'no alert has the UUID or name "nothing"',
    );
    const range = await alerts(['test', NAME, '--from', '2026-11-20T00:00:00Z']);
    expect([range.code, range.stderr]).toEqual([1, expect.stringContaining('leave --url out')]);
  });

  test('prints the outcome of a test for each receiver', async () => {
    const answer = { result: { ops: 'sent', duty: 'returned 500' }, firing: 2, last_error: null };
    const stub = await startReceiver((_, response) =>
      response
        .writeHead(200, { 'content-type': 'application/json; charset=utf-8' })
        .end(JSON.stringify(answer)),
    );
    const { code, stdout } = await alerts(['test', NAME], { TAILRACE_KEY: PRIVATE_KEY }, stub.url);
    stub.close();
    expect([code, stdout]).toEqual([
      0,
      '2 instances of it fires at present\nops: sent\nduty: returned 500\n',
    ]);
  });

  test('test --from replays a range on the data directory', async () => {
    const at = (ms: number) => new Date(service.clock.now + ms).toISOString();
    const env = { TAILRACE_ENDPOINTS_DIR: 'template/endpoints', TAILRACE_ALERTS_DIR: folder.path };
    const args = ['alerts', 'test', NAME, '--from', at(-5_000), '--until', at(0)];
    const { code, stdout } = await runProgram(args, { ...env, TAILRACE_DATA_DIR: service.config.dataDir });
    expect([code, stdout]).toEqual([0, expect.stringContaining('5 evaluations, 1 message')]);
  });
});

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { endLeftProcesses, runCli, startCli } from '../support/cli.ts';
import { readEagerAlert, storeFailures } from '../support/failing-paths.ts';
import { type ReceiverServer, startReceiver } from '../support/receiver-server.ts';
import { PRIVATE_KEY, startTestService, temporaryFolder } from '../support/service.ts';

const NAME = 'failing.paths';
const folder = await temporaryFolder();
const definitions = { TAILRACE_ENDPOINTS_DIR: 'template/endpoints', TAILRACE_ALERTS_DIR: folder.path };
const KEY = { TAILRACE_KEY: PRIVATE_KEY };
let service: Awaited<ReturnType<typeof startTestService>>;

beforeAll(async () => {
  await writeFile(join(folder.path, 'failing.paths.yaml'), await readEagerAlert());
  service = await startTestService({ env: definitions });
  await storeFailures(service);
});
afterAll(async () => {
  await service.close();
  await folder.remove();
});
afterEach(endLeftProcesses);

describe('tailrace alerts --url', () => {
  const alerts = (args: string[], env: Record<string, string> = KEY, url = service.url) =>
    runCli(['alerts', ...args, '--url', url], { env });

  test('lists, shows the history and silences through the routes of a running service', async () => {
    await expect
      .poll(async () => (await alerts(['list'])).stdout, { timeout: 60_000 })
      .toMatch(/failing\.paths *│ firing *│.*│ path=\/cart firing/);
    const history = await alerts(['history', NAME, '--json']);
    expect([history.code, history.stderr]).toEqual([0, '']);
    const { result } = JSON.parse(history.stdout) as { result: { change: string }[] };
    expect(result.map(({ change }) => change)).toContain('firing');
    const limited = await alerts(['history', NAME, '--json', '--limit', '1']);
    expect(JSON.parse(limited.stdout)).toEqual({ result: result.slice(0, 1) });
    const until = new Date(service.clock.now + 3_600_000).toISOString();
    const args = ['silence', NAME, '--comment', 'a "deploy"', '--label', 'path=/cart', '--until'];
    const silenced = await alerts([...args, until]);
    expect([silenced.code, silenced.stdout]).toEqual([
      0,
      expect.stringContaining(`${NAME} sends no messages until ${until}; `),
    ]);
    expect((await alerts(['list'])).stdout).toContain('firing, silenced');
    const [, id = ''] = /--end (\S+) ends it early/.exec(silenced.stdout) ?? [];
    const ended = await alerts(['silence', NAME, '--end', id]);
    expect([ended.code, ended.stdout]).toEqual([0, `1 silence of ${NAME} ended.\n`]);
    expect((await alerts(['list'])).stdout).not.toContain('silenced');
    expect((await alerts(['silence', NAME, '--end', id])).code).toBe(1);
    await alerts([...args, until]);
    expect((await alerts(['silence', NAME, '--end', 'all'])).stdout).toBe(`1 silence of ${NAME} ended.\n`);
    const past = await alerts([...args, '2020-01-01T00:00:00Z']);
    expect([past.code, past.stdout]).toEqual([1, '']);
    expect(past.stderr).toMatch(/^tailrace: http:\S+: until is in the past/);
  });

  test('says what is missing or wrong', async () => {
    expect((await alerts(['list'], {})).stderr).toContain('--url needs a key');
    expect((await alerts(['history', 'nothing'])).stderr).toContain(
      'no alert has the UUID or name "nothing"',
    );
    expect((await alerts(['list'], { TAILRACE_KEY: 'wrong-0123456789' })).code).toBe(1);
    const range = await alerts(['test', NAME, '--from', '2026-11-20T00:00:00Z']);
    expect([range.code, range.stderr]).toEqual([1, expect.stringContaining('leave --url out')]);
    const half = await runCli(['alerts', 'test', NAME, '--until', '2026-11-20T00:00:00Z']);
    expect([half.code, half.stderr]).toEqual([1, 'tailrace: --until needs --from\n']);
  });

  test('prints the outcome of a test for each receiver', async () => {
    const answer = { result: { ops: 'sent', duty: 'returned 500' }, firing: 2, last_error: null };
    const stub: ReceiverServer = await startReceiver((_, response) =>
      response
        .writeHead(200, { 'content-type': 'application/json; charset=utf-8' })
        .end(JSON.stringify(answer)),
    );
    const { code, stdout } = await alerts(['test', NAME], KEY, stub.url);
    stub.close();
    expect([code, stdout]).toEqual([
      0,
      '2 instances of it fires at present\nops: sent\nduty: returned 500\n',
    ]);
    expect(stub.received).toMatchObject([{ path: `/api/alerts/${NAME}/test`, body: '{}' }]);
  });
});

test('tailrace alerts test --from shows how far it is, and ends when it is interrupted', async () => {
  const env = { ...definitions, TAILRACE_DATA_DIR: service.config.dataDir };
  const at = (ms: number) => new Date(service.clock.now + ms).toISOString();
  const args = ['alerts', 'test', NAME, '--from', at(-10_000_000), '--until', at(0)];
  const running = startCli(args, { env });
  await running.waitFor(/^evaluate \d+% of failing\.paths$/m);
  running.child.kill('SIGINT');
  const { code, stdout, stderr } = await running.ended;
  expect([code, stdout]).toEqual([3, '']);
  expect(stderr).toMatch(/^tailrace: stopped by SIGINT$/m);
  const short = await runCli(['alerts', 'test', NAME, '--from', at(-5_000), '--until', at(0)], { env });
  expect([short.code, short.stdout]).toEqual([0, expect.stringContaining('5 evaluations, 1 message')]);
});

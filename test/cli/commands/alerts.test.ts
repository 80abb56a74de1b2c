import { afterAll, expect, test, vi } from 'vitest';
import { announceService } from '../../../src/cli/local-service.ts';
import { startAlertingService } from '../../support/alerting.ts';
import { expectExit } from '../../support/cli.ts';
import { runProgram } from '../../support/program.ts';
import { PRIVATE_KEY } from '../../support/service.ts';

const service = await startAlertingService();
const { config, url } = service;
const end = announceService(config.dataDir, { url, key: PRIVATE_KEY });
afterAll(end);

const alerts = (args: string) =>
  runProgram(['alerts', ...args.split(' ')], { TAILRACE_DATA_DIR: config.dataDir });
const silence = (args: string) => alerts(`silence failing.paths ${args}`);

test('tailrace alerts lists, silences, ends and tests the alerts of the service', async () => {
  await vi.waitFor(async () => {
    expect((await alerts('list')).stdout).toMatch(/failing\.paths +firing +\S+ \S+ +path=\/cart/);
  }, 60_000);
  const silenced = await silence('--until 2h --comment deploy --label path=/cart');
  expectExit(silenced, 0, /is silent until .* for path=\/cart\n$/);
  expect((await alerts('list')).stdout).toMatch(/until .* for path=\/cart/);
  expect((await silence('--end')).stdout).toBe('1 silence of failing.paths ended\n');
  expectExit(await alerts('test failing.paths'), 3, /ops: sent\nbroken: .*500/, 'stdout');
});

test.each([
  ['silence failing.paths --until 2h', 1, '--until and --comment'],
  ['silence failing.paths --end', 1, 'has no silence'],
  ['silence failing.paths --until soon --comment x', 1, 'until'],
  ['silence unknown --until 2h --comment x', 1, 'unknown'],
  ['silence failing.paths --label path', 2, 'It must be name=value'],
])('%s says what would be right', async (args, code, message) => {
  expectExit(await alerts(args), code, message);
});

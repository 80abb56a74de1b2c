import { afterAll, expect, test, vi } from 'vitest';
import { announceService } from '../../../src/cli/local-service.ts';
import { startAlertingService } from '../../support/alerting.ts';
import { runProgram } from '../../support/program.ts';
import { PRIVATE_KEY } from '../../support/service.ts';

const service = await startAlertingService();
const { config, url } = service;
const end = announceService(config.dataDir, { url, key: PRIVATE_KEY });
afterAll(end);

const alerts = (...args: string[]) => runProgram(['alerts', ...args], { TAILRACE_DATA_DIR: config.dataDir });

test('tailrace alerts lists, silences, ends and tests the alerts of the service', async () => {
  await vi.waitFor(async () => {
    expect((await alerts('list')).stdout).toMatch(/failing\.paths +firing +\S+ \S+ +path=\/cart/);
  }, 60_000);
  const silenced = await alerts(
    'silence',
    'failing.paths',
    '--until',
    '2h',
    '--comment',
    'a deploy',
    '--label',
    'path=/cart',
  );
  expect([silenced.code, silenced.stdout]).toEqual([
    0,
    expect.stringMatching(/is silent until .* for path=\/cart\n$/),
  ]);
  expect((await alerts('list')).stdout).toMatch(/until .* for path=\/cart/);
  expect((await alerts('silence', 'failing.paths', '--end')).stdout).toBe(
    '1 silence of failing.paths ended\n',
  );
  const tested = await alerts('test', 'failing.paths');
  expect([tested.code, tested.stdout]).toEqual([3, expect.stringMatching(/ops: sent\nbroken: .*500/)]);
});

test.each([
  [['silence', 'failing.paths', '--until', '2h'], 1, '--until and --comment'],
  [['silence', 'failing.paths', '--end'], 1, 'has no silence'],
  [['silence', 'failing.paths', '--until', 'soon', '--comment', 'x'], 1, 'until'],
  [['silence', 'unknown', '--until', '2h', '--comment', 'x'], 1, 'unknown'],
  [['silence', 'failing.paths', '--label', 'path'], 2, 'It must be name=value'],
])('%j says what would be right', async (args, code, message) => {
  const done = await alerts(...args);
  expect([done.code, done.stderr]).toEqual([code, expect.stringContaining(message)]);
});

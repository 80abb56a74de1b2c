import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { clockFile } from '../../../src/retention/file.ts';
import { endLeftProcesses, runCli, startServe } from '../../support/cli.ts';
import { temporaryFolder } from '../../support/service.ts';

const DAY_MS = 86_400_000;
const folder = await temporaryFolder();
afterAll(folder.remove);
afterEach(endLeftProcesses);
const dataDir = join(folder.path, 'data');
const env = { TAILRACE_DATA_DIR: dataDir, TAILRACE_PRIVATE_KEY: 'test-private-key-0123456789' };
const retention = (...args: string[]) => runCli(['retention', ...args], { env });

/** To the next process the clock is now so many days ahead. */
const leaveDaysAgo = (days: number) => clockFile(dataDir).write({ seen_ms: Date.now() - days * DAY_MS });

const PATIENCE_MS = 60_000; // several processes, one after another

test(
  'beside a running service: shows why retention has stopped, and confirms it',
  async () => {
    const first = await startServe(env);
    expect(await retention()).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^clock: \S+, plausible\nnothing is due\n$/),
    });
    await first.stop();
    leaveDaysAgo(40);
    const { url } = await startServe(env);
    const ready = async () => (await fetch(`${url}/ready`)).json();
    expect(await ready()).toHaveProperty('retention');
    const confirmed = await retention('--confirm');
    expect(confirmed).toMatchObject({ code: 0, stderr: '' });
    expect(confirmed.stdout).toMatch(/^clock: \S+, ahead\n[\s\S]*is 40 days ahead of /);
    expect(confirmed.stdout).toMatch(/\nconfirmed: retention continues/);
    expect(await ready()).toEqual({ status: 'ready' });
  },
  PATIENCE_MS,
);

test(
  'without a service: what the next one would find',
  async () => {
    leaveDaysAgo(40);
    expect((await retention('--confirm')).stdout).toMatch(
      /is 40 days ahead of [\s\S]*confirmed: retention continues/,
    );
    expect((await retention()).stdout).toMatch(/^clock: \S+, plausible\n/);
  },
  PATIENCE_MS,
);

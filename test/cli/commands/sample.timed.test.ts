import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { fillWithSample, sampleCommand } from '../../../src/cli/commands/sample.ts';
import { openCore } from '../../../src/service/open-core.ts';
import { openTestStore, storeEvents, temporaryFolder, testConfig } from '../../support/service.ts';

const never = new AbortController().signal;
afterEach(() => void vi.restoreAllMocks());

/** `tailrace sample` in a process of its own. */
function startSample(dataDir: string, ...args: string[]) {
  const child = spawn(process.execPath, ['bin/tailrace.js', 'sample', ...args], {
    env: { PATH: '', TAILRACE_DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exit = once(child, 'exit').then(([code]) => code as number);
  return { child, exit, stdout: collect(child.stdout), stderr: collect(child.stderr) };
}

function collect(stream: Readable) {
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return {
    text: () => text,
    until: async (wanted: string) => {
      while (!text.includes(wanted)) await once(stream, 'data');
    },
  };
}

describe('the options of tailrace sample', () => {
  test.each([
    ['--rows', '0'],
    ['--rows', '1000000001'],
    ['--rows', '1e6'],
    ['--rows', '-5'],
    ['--rows', '1.5'],
    ['--rows', ''],
    ['--seed', '4294967297'],
    ['--seed', 'x'],
    ['--days', '0'],
    ['--days', '91'],
    ['--projects', '0'],
    ['--projects', '1001'],
  ])('refuse %s %j, naming the bounds', async (option, value) => {
    const command = sampleCommand()
      .exitOverride()
      .configureOutput({ writeErr: () => {} });
    await expect(command.parseAsync([option, value], { from: 'user' })).rejects.toThrow(
      /It must be a whole number from \d+ to \d+\./,
    );
  });

  test.each([
    ['--rows', '1', 'rows', 1],
    ['--rows', '1000000000', 'rows', 1e9],
    ['--seed', '0', 'seed', 0],
    ['--seed', '4294967296', 'seed', 2 ** 32],
    ['--days', '90', 'days', 90],
    ['--projects', '1000', 'projects', 1_000],
  ])('take %s %s', async (option, value, name, number) => {
    const command = sampleCommand().action(() => {});
    await command.parseAsync([option, value], { from: 'user' });
    expect(command.opts()).toEqual({ rows: 300_000, seed: 1, days: 7, projects: 5, [name]: number });
  });
});

describe('tailrace sample', () => {
  test('stores the rows asked for and says so', async () => {
    const folder = await temporaryFolder();
    try {
      const { exit, stdout } = startSample(folder.path, '--rows', '900', '--days', '2', '--projects', '2');
      expect(await exit).toBe(0);
      expect(stdout.text()).toMatch(/^sample: 900 events, [\d,]+\/s, are stored\n$/);
      const core = await openCore(testConfig(folder.path), 'a test');
      const [row] = await core.engine.inspect(
        'SELECT count() AS events, uniqExact(project) AS projects, min(timestamp) > now() - 172900 AS young FROM edge_logs',
      );
      await core.close();
      expect(row).toEqual({ events: 540, projects: 2, young: 1 });
    } finally {
      await folder.remove();
    }
  });

  test('stores what was made when it is stopped, says how much, and exits with 3', async () => {
    const folder = await temporaryFolder();
    const { child, exit, stdout, stderr } = startSample(folder.path, '--rows', '1000000000');
    try {
      await stderr.until('sample: storing 1,000,000,000 generated events of the last 7 days');
      child.kill('SIGTERM');
      expect(await exit).toBe(3);
      expect(stdout.text()).toBe('');
      expect(stderr.text()).not.toContain('\n    at ');
      const said = /stopped by SIGTERM; ([\d,]+) events, [\d,]+\/s, are stored/.exec(stderr.text());
      const core = await openCore(testConfig(folder.path), 'a test');
      const [row] = await core.engine.inspect('SELECT count() AS events FROM edge_logs');
      await core.close();
      expect(Number(said?.[1]?.replaceAll(',', ''))).toBe(row?.['events']);
    } finally {
      child.kill('SIGKILL');
      await folder.remove();
    }
  });

  test('says who owns the store, and exits with 1', async () => {
    const { config, close } = await openTestStore();
    try {
      const { exit, stderr } = startSample(config.dataDir);
      expect(await exit).toBe(1);
      expect(stderr.text()).toContain('a test');
      expect(stderr.text().trim().split('\n')).toHaveLength(1);
    } finally {
      await close();
    }
  });
});

describe('fillWithSample', () => {
  test('fills an empty store and says in one line how much', async () => {
    const { core, close } = await openTestStore();
    const lines = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    try {
      await fillWithSample(core, never, 1_000);
      expect(lines.mock.calls.map(([line]) => line)).toEqual([
        'sample: storing 1,000 generated events of the last 7 days\n',
        expect.stringMatching(/^sample: 1,000 events, [\d,]+\/s, are stored\n$/),
      ]);
      const rows = await core.engine.inspect('SELECT DISTINCT project FROM edge_logs ORDER BY project');
      expect(rows.map((row) => row['project'])).toEqual(['aurora', 'basalt', 'cobalt', 'dahlia', 'ember']);
    } finally {
      await close();
    }
  });

  test('leaves a store alone that has one event of any source', async () => {
    const { core, close } = await openTestStore();
    try {
      await storeEvents(core, 'pgbouncer.logs.prod', [{ project: 'mine' }], Date.now());
      await fillWithSample(core, never, 1_000);
      const [row] = await core.engine.inspect('SELECT count() AS events FROM edge_logs');
      expect(row).toEqual({ events: 0 });
    } finally {
      await close();
    }
  });

  test('stops at the signal, says so, and leaves the store empty for the next start to fill', async () => {
    const { core, close } = await openTestStore();
    const stop = new AbortController();
    // The signal comes when a part is stored.
    const insert = vi.spyOn(core.engine, 'insert').mockImplementationOnce(async (batch) => {
      stop.abort('SIGINT');
      await core.engine.insert(batch);
    });
    const lines = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    try {
      await fillWithSample(core, stop.signal, 1_000);
      expect(insert).toHaveBeenCalledTimes(2); // the first by way of the second
      expect(lines.mock.calls.at(-1)?.[0]).toMatch(/^sample: stopped by SIGINT; no event is kept/);
      await fillWithSample(core, never, 1_000);
      expect(lines.mock.calls.at(-1)?.[0]).toMatch(/^sample: 1,000 events/);
    } finally {
      await close();
    }
  });
});

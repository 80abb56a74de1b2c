import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { findProgram } from '../../scripts/programs.js';
import { findFreePort } from '../../trial/free-port.ts';
import { until } from '../../trial/until.ts';
import { startAlertingService } from '../support/alerting.ts';
import { get } from '../support/http.ts';
import { storeEvents, temporaryFolder } from '../support/service.ts';

const exec = promisify(execFile);
const FOLDER = 'deploy/prometheus';
const promtool = findProgram('promtool') ?? '';
const prometheus = findProgram('prometheus') ?? '';
const hasPrograms = promtool !== '' && prometheus !== '';

const folder = await temporaryFolder();
const copy = join(folder.path, 'prometheus');
await cp(FOLDER, copy, { recursive: true });
const service = await startAlertingService();
afterAll(async () => {
  await service.close();
  await folder.remove();
});
const { keyring } = service.service;

/** Creates a key in a file, as the config's head comment says. */
async function writeKey(name: string, grant: Parameters<typeof keyring.create>[0]): Promise<void> {
  const { key } = await keyring.create(grant);
  await writeFile(join(copy, name), key, { mode: 0o600 });
}
await writeKey('tailrace-metrics.key', { name: 'prometheus', scopes: ['metrics'] });
await writeKey('tailrace-aurora.key', { name: 'aurora', scopes: ['query'], pins: { project: 'aurora' } });

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
}

const rules = (parse(await readFile(join(FOLDER, 'rules.yaml'), 'utf8')) as Rules).groups.flatMap(
  (group) => group.rules,
);
const dashboard = JSON.parse(await readFile(join(FOLDER, 'dashboard.json'), 'utf8')) as {
  readonly panels: readonly {
    readonly title: string;
    readonly targets?: readonly { readonly expr: string }[];
  }[];
};
const queries = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

/** Runs promtool in the copied folder; fails with what it says. */
async function check(...args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await exec(promtool, args, { cwd: copy }).catch(
    (error: { stdout: string; stderr: string }) => {
      throw new Error(`${error.stdout}${error.stderr}`);
    },
  );
  return stdout + stderr;
}

describe.skipIf(!hasPrograms)('deploy/prometheus, checked by promtool', () => {
  test('is a config with keys in files, and rules', async () => {
    expect(await check('check', 'config', 'prometheus.yaml')).toContain('is valid prometheus config file');
    expect(await check('check', 'rules', 'rules.yaml')).toContain(`${rules.length} rules found`);
  });

  test('has a test of each rule that fires, and one that does not', async () => {
    expect(await check('test', 'rules', 'rules.test.yaml')).toContain('SUCCESS');
    const { tests } = parse(await readFile(join(FOLDER, 'rules.test.yaml'), 'utf8')) as {
      tests: { name: string }[];
    };
    const names = new Set(tests.map(({ name }) => name));
    for (const { alert } of rules)
      expect([...names]).toEqual(expect.arrayContaining([`${alert} fires`, `${alert} does not fire`]));
  });

  test('has a dashboard of valid queries', async () => {
    const recorded = queries.map((expr, i) => ({
      record: `panel:${i}`,
      expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'),
    }));
    await writeFile(
      join(copy, 'panels.yaml'),
      JSON.stringify({ groups: [{ name: 'panels', rules: recorded }] }),
    );
    expect(await check('check', 'rules', 'panels.yaml')).toContain(`${recorded.length} rules found`);
  });
});

test('names only metrics and labels that a service has', async () => {
  const { text } = await get(service.url, '/metrics');
  const known = new Set([...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name = '']) => name));
  const texts = [...rules.map(({ expr }) => expr), ...queries];
  const named = texts.flatMap((expr) => expr.match(/\b(?:tailrace|process|nodejs)_\w+/g) ?? []);
  expect(new Set(named).size).toBeGreaterThan(25);
  const missing = named.filter((name) => !known.has(name.replace(/_(?:bucket|sum|count)$/, '')));
  expect(missing.filter((name) => !known.has(name))).toEqual([]);
});

/** What Prometheus answers to a query of its API. */
type Answer = <T>(path: string) => Promise<T>;

/** Debian's Prometheus on a free port of 127.0.0.1, with the shipped config, faster and with the port of the service. */
async function withPrometheus(work: (ask: Answer) => Promise<void>): Promise<void> {
  const shipped = await readFile(join(FOLDER, 'prometheus.yaml'), 'utf8');
  const config = shipped
    .replaceAll(/_interval: \d+s/g, '_interval: 1s')
    .replaceAll('127.0.0.1:4000', new URL(service.url).host);
  await writeFile(join(copy, 'prometheus.yaml'), config);
  const port = await findFreePort();
  const args = [
    ...[`--config.file=${join(copy, 'prometheus.yaml')}`, `--storage.tsdb.path=${join(folder.path, 'data')}`],
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const child = spawn(prometheus, args, { stdio: 'ignore' });
  const ended = once(child, 'close');
  try {
    await work(async (path) => {
      const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`);
      if (!response.ok) throw new Error(`${path}: ${response.status}`);
      return ((await response.json()) as { data: never }).data; // of Prometheus' own API
    });
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}

interface Found {
  readonly result: readonly {
    readonly metric: Record<string, string>;
    readonly value: readonly [number, string];
  }[];
}

test.skipIf(!hasPrograms)('scrapes a service and an endpoint, and the rules have their metrics', async () => {
  const { clock, core } = service;
  const timestamp = (clock.now - 120_000) * 1000;
  const call = (ms: number) => ({
    ...{ timestamp, event_message: 'POST' },
    metadata: {
      project_ref: 'aurora',
      function_id: 'f',
      execution_time_ms: ms,
      response: { status_code: 200 },
    },
  });
  await storeEvents(core, 'deno-relay-logs', [call(10), call(30)], clock.now);
  await withPrometheus(async (ask) => {
    await until(async () => {
      const { result } = await ask<Found>('query?query=up');
      expect(result.map(({ metric, value }) => [metric['job'], value[1]]).toSorted()).toEqual([
        ['tailrace', '1'],
        ['tailrace-functions', '1'],
      ]);
    }, 60_000);
    await until(async () => {
      const { result } = await ask<Found>('query?query=functions_invocation_stats_max_execution_time');
      expect(result.map(({ metric, value }) => [metric['project'], value[1]])).toEqual([['aurora', '30']]);
    }, 60_000);
    await until(async () => {
      const { groups } = await ask<{
        groups: { rules: { name: string; health: string; lastError?: string }[] }[];
      }>('rules');
      const states = groups.flatMap((group) =>
        group.rules.map(({ health, lastError }) => lastError ?? health),
      );
      expect(states).toEqual(rules.map(() => 'ok'));
    }, 60_000);
    await until(async () => {
      const { alerts } = await ask<{ alerts: { labels: Record<string, string> }[] }>('alerts');
      const failing = alerts.filter(({ labels }) => labels['alertname'] === 'TailraceReceiverFails');
      expect(failing.map(({ labels }) => labels['receiver'])).toEqual(['broken']);
    }, 60_000);
  });
});

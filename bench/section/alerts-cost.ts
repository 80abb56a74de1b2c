import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type BenchData, openBenchData } from '../data.ts';
import { inTemporaryFolder } from '../folder.ts';
import { askCold, openAgent } from '../http.ts';
import { treeMs } from '../machine/core-time.ts';
import { quantile } from '../measure.ts';
import { type PastServer, withPastServer } from '../past-server.ts';
import { QUESTION_KINDS } from '../questions.ts';
import { type Row, say, timesRow } from '../report.ts';
import type { BenchOptions } from '../section.ts';

const ALERTS = 200;
const EVERY_SECONDS = 60;
const CORE_SHARE_GOAL = 0.05;
const P99_GOAL = 1.2;
// The engine merges after a start.
const SETTLE_MS = 15_000;
const PAUSE_MS = 25;

/** What 200 alerts each minute cost, beside the same service without them at the same time. */
export async function measureAlertCost({ rows, seconds }: BenchOptions): Promise<Row[]> {
  const data = await openBenchData(rows);
  return await inTemporaryFolder((folder) =>
    withPastServer(withDefinitions(folder, data), 'runs', async (bare) => {
      const alertsDir = writeAlerts(folder, bare.projects);
      return await withPastServer(withDefinitions(folder, { ...data, alertsDir }), 'runs', (alerting) =>
        compare(alerting, bare, Math.max(seconds, EVERY_SECONDS)),
      );
    }),
  );
}

async function compare(alerting: PastServer, bare: PastServer, seconds: number): Promise<Row[]> {
  await wait(SETTLE_MS);
  say(`alerts: ${ALERTS} alerts each minute, ${seconds} s without callers`);
  const before = [treeMs(alerting.pid), treeMs(bare.pid)] as const;
  await wait(seconds * 1_000);
  const spent = [treeMs(alerting.pid) - before[0], treeMs(bare.pid) - before[1]] as const;
  say(`alerts: ${spent.map(Math.round).join(' and ')} ms of a core with and without; now with callers`);
  const times = await askInTurns([alerting, bare], seconds);
  const [withAlerts = [], without = []] = times;
  return [
    {
      name: `${ALERTS} alerts each minute: share of a core`,
      unit: 'cores',
      values: [(spent[0] - spent[1]) / (seconds * 1_000)],
      goal: { below: CORE_SHARE_GOAL },
    },
    {
      name: 'an evaluation',
      unit: 'core ms',
      values: [(spent[0] - spent[1]) / ((ALERTS * seconds) / EVERY_SECONDS)],
    },
    timesRow(`a new answer beside ${ALERTS} alerts each minute`, withAlerts),
    timesRow('a new answer without alerts', without),
    {
      name: 'p99 of new answers with / without alerts',
      unit: 'ratio',
      values: [quantile(withAlerts, 0.99) / quantile(without, 0.99)],
      goal: { below: P99_GOAL },
    },
  ];
}

/** Asks both by turns, so that other work on the machine delays both alike. */
async function askInTurns(servers: readonly PastServer[], seconds: number): Promise<number[][]> {
  const agents = servers.map(openAgent);
  const times = servers.map((): number[] => []);
  const endMs = performance.now() + seconds * 1_000;
  for (let i = 0; performance.now() < endMs; i++) {
    const kind = QUESTION_KINDS[i % QUESTION_KINDS.length];
    const order = servers.map((server, at) => ({ server, at }));
    for (const { server, at } of i % 2 === 0 ? order : order.reverse()) {
      const question = kind?.question(server.projects[i % server.projects.length] ?? '');
      const agent = agents[at];
      if (question === undefined || agent === undefined) continue;
      times[at]?.push(await askCold(server.url, agent, question));
      await wait(PAUSE_MS);
    }
  }
  for (const agent of agents) agent.destroy();
  return times;
}

/** Endpoints of Tailrace, of `tailrace init` and of the benchmark. */
function withDefinitions(folder: string, data: BenchData): BenchData {
  const endpointsDir = join(folder, 'endpoints');
  for (const from of ['../../endpoints', '../../template/endpoints', '../endpoints'])
    cpSync(join(import.meta.dirname, from), endpointsDir, { recursive: true });
  return { ...data, endpointsDir };
}

/** The usual questions of alerts, for one project after another. */
const KINDS: readonly ((project: string) => Readonly<Record<string, unknown>>)[] = [
  (project) => ({
    ...{ endpoint: 'failing.paths', parameters: { project }, per: ['path'] },
    ...{ when: { column: 'failures', above: 10 }, for: 120, text: '{{ path }} failed {{ failures }} times' },
  }),
  (project) => ({
    ...{ endpoint: 'bench.count', parameters: { project } },
    ...{ when: { column: 'n', below: 1 }, no_data: 'alert', text: 'no requests for an hour' },
  }),
  (project) => ({
    ...{ endpoint: 'functions.invocation-stats', parameters: { project, interval: '1hr' } },
    ...{ when: { column: 'p95_execution_time', above: 5_000 }, text: 'p95 is {{ p95_execution_time }} ms' },
  }),
  (project) => ({
    ...{ endpoint: 'usage.api-counts', parameters: { project, interval: 'hourly' } },
    ...{ when: { column: 'total_auth_requests', above: 1_000 }, text: '{{ total_auth_requests }} requests' },
  }),
];

function writeAlerts(folder: string, projects: readonly string[]): string {
  const alertsDir = join(folder, 'alerts');
  mkdirSync(alertsDir);
  for (let i = 0; i < ALERTS; i++) {
    const project = projects[Math.floor(i / KINDS.length) % projects.length] ?? '';
    const alert = {
      id: `2f1f3f0a-8c1e-4a52-9a58-${String(i).padStart(12, '0')}`,
      ...{ name: `bench.alert.${i}`, description: 'Of the benchmark.', every: EVERY_SECONDS, to: ['ops'] },
      ...KINDS[i % KINDS.length]?.(project),
    };
    writeFileSync(join(alertsDir, `${alert.name}.yaml`), JSON.stringify(alert));
  }
  return alertsDir;
}

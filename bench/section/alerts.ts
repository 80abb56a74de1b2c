import { cp, mkdir, writeFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { settle, takeService } from '../core-time.ts';
import { type BenchData, inTemporaryFolder, openBenchData } from '../data.ts';
import { type PastServer, withPastServer } from '../past-server.ts';
import { askNew, pathOf, QUESTION_KINDS } from '../questions.ts';
import { type BenchOptions, median, quantile, type Row, say, timesRow } from '../report.ts';

const ALERTS = 200;
const ROUNDS = 2;
const MINUTE_MS = 60_000;
/** Between two questions of the caller. */
const PAUSE_MS = 200;

const ABOUT = [
  { endpoint: 'failing.paths', when: 'failures', per: 'path' },
  { endpoint: 'recent.events', when: 'events' },
  { endpoint: 'slow.functions', when: 'p95_ms', per: 'function_id' },
];

/** What 200 alerts that are evaluated each minute cost, and what they add to callers' new answers; with and without, by turns. */
export async function alertsSection({ rows, minutes }: BenchOptions): Promise<Row[]> {
  const data = await openBenchData(rows);
  return await inTemporaryFolder(async (folder) => {
    const endpointsDir = join(folder, 'endpoints');
    for (const from of ['endpoints', 'template/endpoints']) await cp(from, endpointsDir, { recursive: true });
    const projects = await withPastServer(
      { ...data, endpointsDir },
      'runs',
      async (server) => server.projects,
    );
    const alertsDir = await writeAlerts(folder, projects);
    const sides = [
      { name: 'without', data: { ...data, endpointsDir }, shares: [] as number[], times: [] as number[] },
      {
        name: 'with',
        data: { ...data, endpointsDir, alertsDir },
        shares: [] as number[],
        times: [] as number[],
      },
    ] as const;
    for (let round = 0; round < ROUNDS; round++)
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
        const { share, times } = await measure(side.data, minutes * MINUTE_MS);
        side.shares.push(share);
        side.times.push(...times);
        say(
          `alerts: ${side.name}: ${(share * 100).toFixed(1)} % of a core, p99 ${quantile(times, 0.99).toFixed(1)} ms`,
        );
      }
    const [without, own] = sides;
    const percent = (median(own.shares) - median(without.shares)) * 100;
    const ratio = quantile(own.times, 0.99) / quantile(without.times, 0.99);
    return [
      { name: `${ALERTS} alerts each minute`, unit: '% of a core', values: [percent], goal: { below: 5 } },
      timesRow('new answers without alerts', without.times),
      timesRow(`new answers beside ${ALERTS} alerts`, own.times),
      { name: 'p99 of new answers, with / without', unit: 'ratio', values: [ratio], goal: { below: 1.2 } },
    ];
  });
}

async function writeAlerts(folder: string, projects: readonly string[]): Promise<string> {
  const alertsDir = join(folder, 'alerts');
  await mkdir(alertsDir);
  for (let i = 0; i < ALERTS; i++) {
    const { endpoint = '', when = '', per } = ABOUT[i % ABOUT.length] ?? {};
    const id = `c2f8a5d1-6f0e-4c1b-9a52-${String(i).padStart(12, '0')}`;
    const lines = [
      ...[`id: ${id}`, `name: bench.alert${i}`, 'description: Of the benchmark.', `endpoint: ${endpoint}`],
      `parameters: { project: ${projects[i % projects.length]} }`,
      ...[
        'every: 60',
        `when: { column: ${when}, above: 1 }`,
        ...(per === undefined ? [] : [`per: [${per}]`]),
      ],
      ...['text: fails', 'to: [ops]\n'],
    ];
    await writeFile(join(alertsDir, `bench.alert${i}.yaml`), lines.join('\n'));
  }
  return alertsDir;
}

/** @returns the share of a core that the service takes without callers, and the times of new answers, ms */
async function measure(
  data: BenchData,
  spanMs: number,
): Promise<{ share: number; times: readonly number[] }> {
  return await withPastServer(data, 'runs', async (server) => {
    await settle(server.pid);
    const startMs = performance.now();
    const { serviceMs, engineMs } = await takeService(server.pid, () => wait(spanMs));
    const share = (serviceMs + engineMs) / (performance.now() - startMs);
    return { share, times: await askFor(server, spanMs) };
  });
}

async function askFor({ url, projects }: PastServer, spanMs: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true });
  const times: number[] = [];
  for (const endMs = performance.now() + spanMs; performance.now() < endMs; await wait(PAUSE_MS)) {
    const kind = QUESTION_KINDS[times.length % QUESTION_KINDS.length];
    const project = projects[Math.floor(times.length / QUESTION_KINDS.length) % projects.length] ?? '';
    if (kind !== undefined) times.push((await askNew(url, agent, pathOf(kind.question(project)))).ms);
  }
  agent.destroy();
  return times;
}

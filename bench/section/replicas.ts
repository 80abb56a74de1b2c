import { askAtOnce, keepWarm, killOne, loseEngine } from '../../trial/replica-trials.ts';
import { type Replicas, withReplicas } from '../../trial/replicas.ts';
import { inTemporaryFolder } from '../folder.ts';
import { type Row, say } from '../report.ts';
import type { BenchOptions } from '../section.ts';

const REQUESTS = 1_000;
const INTERVALS = 10;
const AWAY_MS = 30_000;
const RECOVERED_MS_MAX = 2_000;
const NONE = { below: 1 };

/** Two replicas over one ClickHouse, one PostgreSQL and one Redis: what they share, and the failure of each part. */
export async function replicasSection({ times }: BenchOptions): Promise<Row[]> {
  return await inTemporaryFolder((folder) =>
    withReplicas(folder, async (replicas) => [
      ...(await shareQueries(replicas)),
      ...(await killOften(replicas, times)),
      ...(await goWithoutEngine(replicas, 'refuse')),
      ...(await goWithoutEngine(replicas, 'silent')),
    ]),
  );
}

async function shareQueries(replicas: Replicas): Promise<Row[]> {
  say(`replicas: ${REQUESTS} identical requests over both; then ${INTERVALS} intervals of warming`);
  const cold = await askAtOnce(replicas, REQUESTS);
  const warm = await keepWarm(replicas, INTERVALS);
  return [
    { name: 'identical cold requests answered, over both', unit: 'requests', values: [cold.answered] },
    { name: 'queries for them', unit: 'queries', values: [cold.queries], goal: { below: 2 } },
    {
      name: 'refreshes of an answer that both keep warm / intervals',
      unit: 'ratio',
      values: [warm.refreshes / warm.intervals],
      goal: { below: 1.15 }, // each refresh may start a tenth of the interval early
    },
  ];
}

async function killOften(replicas: Replicas, times: number): Promise<Row[]> {
  const sum = { acknowledgedEvents: 0, lostEvents: 0, rowsTwice: 0, answered: 0, foreignRows: 0, failed: 0 };
  for (let round = 0; round < times; round++) {
    const counts = await killOne(replicas, round);
    for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += counts[name];
    say(`replicas: kill ${round + 1}/${times}: ${JSON.stringify(sum)}`);
  }
  return [
    { name: 'kills of one of two under load', unit: 'kills', values: [times] },
    { name: 'events acknowledged by both', unit: 'events', values: [sum.acknowledgedEvents] },
    { name: 'acknowledged events lost', unit: 'events', values: [sum.lostEvents], goal: NONE },
    { name: 'rows stored twice', unit: 'rows', values: [sum.rowsTwice], goal: NONE },
    { name: 'questions answered', unit: 'answers', values: [sum.answered] },
    { name: 'rows of other projects in them', unit: 'rows', values: [sum.foreignRows], goal: NONE },
    { name: 'failed by a replica that was not killed', unit: 'answers', values: [sum.failed], goal: NONE },
  ];
}

async function goWithoutEngine(replicas: Replicas, kind: 'refuse' | 'silent'): Promise<Row[]> {
  const how = kind === 'refuse' ? 'ClickHouse refuses for 30 s' : 'the network swallows all for 30 s';
  say(`replicas: ${how}`);
  const counts = await loseEngine(replicas, kind, AWAY_MS);
  return [
    { name: `${how}: answers from the cache`, unit: 'answers', values: [counts.kept] },
    { name: `${how}: of these past their time`, unit: 'answers', values: [counts.stale] },
    { name: `${how}: not answered from the cache`, unit: 'answers', values: [counts.keptFailed], goal: NONE },
    { name: `${how}: 503 with Retry-After`, unit: 'answers', values: [counts.refused] },
    { name: `${how}: other answers`, unit: 'answers', values: [counts.refusedWrongly], goal: NONE },
    { name: `${how}: slowest refusal`, unit: 'ms', values: [counts.slowestRefusalMs] },
    {
      name: `${how}: in use again after`,
      unit: 'ms',
      values: [counts.recoveredMs],
      goal: { below: RECOVERED_MS_MAX },
    },
  ];
}

import { createRefresh } from '../src/cache/incremental.ts';
import { parseConfig } from '../src/config/config.ts';
import { parseParameters } from '../src/query/parameters.ts';
import { createQuestion } from '../src/query/question.ts';
import { type Answer, createRunner } from '../src/query/run.ts';
import { type Core, openCore } from '../src/service/open-core.ts';
import { trusted } from '../src/sql/sql.ts';

export interface RefreshJob {
  readonly dataDir: string;
  /** Invocations of the week. */
  readonly rows: number;
}

/** The time in the engine for one refresh of a project's weekly statistics, ms. */
interface RefreshTimes {
  readonly full: number;
  readonly incremental: number;
}

export interface RefreshResult {
  /** Refreshes of each project. */
  readonly rounds: readonly (readonly RefreshTimes[])[];
  readonly projects: number;
}

const PROJECTS = 10;
const ROUNDS = 3;
const DAYS = 7;
const DAY_MS = 86_400_000;
// The interval of the shipped endpoints' cache warming.
const WARMING_MS = 300_000;
// At noon half of the current day has rows.
const END_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS - DAY_MS / 2;

process.once('message', async ({ dataDir, rows }: RefreshJob) => {
  const config = parseConfig({ TAILRACE_DATA_DIR: dataDir, TAILRACE_READERS: '1' });
  const core = await openCore(config, 'the benchmark');
  await fill(core, rows);
  const rounds = await measure(core);
  await core.close();
  process.send?.({ rounds, projects: PROJECTS } satisfies RefreshResult, () => process.disconnect());
});

/** Invocations spread evenly over a week, one insert per day, with only the columns that the statistics read. */
async function fill({ engine }: Core, rows: number): Promise<void> {
  const perDay = Math.ceil(rows / DAYS);
  for (let day = 0; day < DAYS; day++) {
    const from = (END_MS - (day + 1) * DAY_MS) * 1000;
    await engine.command(
      trusted(`INSERT INTO tailrace.function_edge_logs
      (id, timestamp, project, event_message, metadata, attributes, function_id, execution_time_ms, status_code)
      SELECT toString(number), fromUnixTimestamp64Micro(${from} + intDiv(number * ${DAY_MS * 1000}, ${perDay})),
        concat('project-', toString(number % ${PROJECTS})), '', '', '', concat('f', toString(number % 7)),
        exp(randNormal(4, 1)), if(rand(1) % 50 = 0, 500, 200)
      FROM numbers(${perDay})`),
    );
  }
}

/** Refreshes each project's statistics in turn: all of them, and what can have changed in the last five minutes. */
async function measure({ engine, registry, writes }: Core): Promise<RefreshTimes[][]> {
  let nowMs = END_MS;
  const now = () => nowMs;
  const run = createRunner(engine, now);
  const refresh = createRefresh({
    ...{ run, writes, seesEveryWrite: engine.seesEveryWrite, now, engineNow: now },
    onExtent(_, extent) {
      if (extent === 'full') throw new Error('a refresh was not incremental');
    },
  });
  const endpoint = registry.getEndpoint('functions.invocation-stats');
  const rounds: RefreshTimes[][] = Array.from({ length: ROUNDS }, () => []);
  for (let i = 0; i < PROJECTS * ROUNDS; i++) {
    const values = parseParameters(endpoint, { project: `project-${i % PROJECTS}`, interval: '7day' }, 1_000);
    const take = (kept?: Answer) => refresh(createQuestion(endpoint, values), kept, {});
    nowMs = END_MS - WARMING_MS;
    const kept = await take(); // warms the file cache for both
    nowMs = END_MS;
    const full = await take();
    const incremental = await take(kept);
    if (!full.body.equals(incremental.body)) throw new Error('the two answers differ');
    rounds[Math.floor(i / PROJECTS)]?.push({ full: full.engineMs, incremental: incremental.engineMs });
  }
  return rounds;
}

import { parseConfig } from '../src/config/config.ts';
import type { Engine } from '../src/engine/engine.ts';
import { serviceValues } from '../src/query/bucket-range.ts';
import { parseParameters } from '../src/query/parameters.ts';
import { createStatement } from '../src/query/statement.ts';
import { type Core, openCore } from '../src/service/open-core.ts';
import { trusted } from '../src/sql/sql.ts';
import { takeCores } from './machine/core-time.ts';
import { median } from './measure.ts';
import { QUESTION_KINDS, type QuestionKind } from './questions.ts';

export interface CostJob {
  readonly dataDir: string;
  /** Rows a week of each project, in each of the two queried tables. */
  readonly sizes: readonly number[];
}

/** The core time of all threads, the engine's included (mean), and the elapsed time (median) of one question, ms. */
export interface Cost {
  readonly coreMs: number;
  readonly ms: number;
}

export interface CostResult {
  /** By the question's name, then by the size of the project. */
  readonly costs: Readonly<Record<string, readonly Cost[]>>;
  /** The engine's index memory per gateway event. */
  readonly indexBytesPerEvent: number;
}

const ASKED = 20;
const WARM_UP = 2;
const MICROS_PER_MS = 1_000;
const DAYS = 7;
const DAY_MS = 86_400_000;
// At noon half of the current day has rows.
const END_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS - DAY_MS / 2;

process.once('message', async ({ dataDir, sizes }: CostJob) => {
  const core = await openCore(
    parseConfig({ TAILRACE_DATA_DIR: dataDir, TAILRACE_READERS: '1' }),
    'the benchmark',
  );
  const projects = sizes.map((rows, i) => ({ rows, project: NAMES[i] ?? '' }));
  for (const one of projects) await fill(core.engine, one);
  for (const table of ['edge_logs', 'function_edge_logs']) {
    await core.engine.inspect(trusted(`OPTIMIZE TABLE tailrace.${table} FINAL`));
  }
  const costs: Record<string, Cost[]> = {};
  for (const kind of QUESTION_KINDS) {
    for (const pin of kind.name.startsWith('usage') ? ['', PINNED] : ['']) {
      const asked: Cost[] = [];
      for (const { project } of projects) asked.push(await ask(core, kind, { project, pin }));
      costs[`${kind.name}${pin && ', '}${pin}`] = asked;
    }
  }
  const indexBytesPerEvent = await readIndex(core.engine);
  await core.close(); // before the folder is removed
  process.send?.({ costs, indexBytesPerEvent } satisfies CostResult, () => process.disconnect());
});

// Without common trigrams: usage.api-counts searches addresses by an index of trigrams.
const NAMES = ['quokka', 'zephyr', 'bismuth', 'fjord'];

/** For a key that pins one project the service sets the parameter itself. */
const PINNED = 'pinned';

/** A project's events, spread evenly over the week before the end. */
async function fill(engine: Engine, { rows, project }: { rows: number; project: string }): Promise<void> {
  for (let day = 0; day < DAYS; day++) {
    const from = (END_MS - (day + 1) * DAY_MS) * MICROS_PER_MS;
    const perDay = Math.ceil(rows / DAYS);
    const common = `toString(generateUUIDv4(number)) AS id,
      fromUnixTimestamp64Micro(${from} + intDiv(number * ${DAY_MS * MICROS_PER_MS}, ${perDay})) AS timestamp,
      '${project}' AS project, 'GET /rest/v1/users 200' AS event_message,
      concat('{"request":{"method":"GET","id":"', hex(sipHash128(number)), '"}}') AS metadata, '' AS attributes`;
    const columns = 'id, timestamp, project, event_message, metadata, attributes';
    await engine.command(
      trusted(`INSERT INTO tailrace.function_edge_logs (${columns}, function_id, execution_time_ms, status_code)
      SELECT ${common}, concat('f', toString(number % 7)), exp(randNormal(4, 1)), if(rand(1) % 50 = 0, 500, 200)
      FROM numbers(${perDay})`),
    );
    await engine.command(
      trusted(`INSERT INTO tailrace.edge_logs (${columns}, method, path, address, status_code)
      SELECT ${common}, 'GET', concat('/rest/v1/', toString(number % 1000)) AS path,
        concat('https://', project, '.example.com', path), 200
      FROM numbers(${perDay})`),
    );
  }
}

async function ask(
  { engine, registry }: Core,
  { question }: QuestionKind,
  { project, pin }: { project: string; pin: string },
): Promise<Cost> {
  const { endpoint: name, parameters } = question(project);
  const endpoint = registry.getEndpoint(name);
  const { sql, format } = createStatement(endpoint);
  const times: number[] = [];
  let next = 0;
  const askOnce = async () => {
    const values = parseParameters(endpoint, parameters, 1_000);
    // A distinct instant for each, so that the engine's caches have nothing for it.
    const bound = {
      ...values,
      ...(pin === PINNED && { pinned_project: project }),
      ...serviceValues(endpoint, values, { instantMs: END_MS + next++ }),
    };
    const startMs = performance.now();
    await engine.query(sql, bound, { format });
    times.push(performance.now() - startMs);
  };
  for (let i = 0; i < WARM_UP; i++) await askOnce();
  const { coreMs } = await takeCores(async () => {
    for (let i = 0; i < ASKED; i++) await askOnce();
  });
  return { coreMs: coreMs / ASKED, ms: median(times.slice(WARM_UP)) };
}

async function readIndex(engine: Engine): Promise<number> {
  const [size] = await engine.inspect(`
    SELECT sum(primary_key_bytes_in_memory_allocated) / sum(rows) AS bytes
    FROM system.parts WHERE active AND database = 'tailrace' AND table = 'edge_logs'`);
  return Number(size?.['bytes']);
}

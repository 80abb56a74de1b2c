import { parseConfig } from '../../src/config/config.ts';
import type { Endpoint } from '../../src/definitions/endpoint.ts';
import type { Source } from '../../src/definitions/source.ts';
import { createRollupBuilder } from '../../src/engine/build-rollups.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { applySchema } from '../../src/engine/schema.ts';
import { serviceValues } from '../../src/query/bucket-range.ts';
import { JSON_FORMAT } from '../../src/query/format.ts';
import { createStatement } from '../../src/query/statement.ts';
import { openCore } from '../../src/service/open-core.ts';
import { trusted } from '../../src/sql/sql.ts';
import { inTemporaryFolder } from '../folder.ts';
import { type Row, say } from '../report.ts';
import type { BenchOptions } from '../section.ts';

const INVOCATIONS = 10_000_000;
const WEEK_SECONDS = 604_800;
const PROJECT = 'heavy';
const TIMES = 20;
const MEMORY_BYTES = String(4 * 1024 ** 3);

/** Statistics of one project with 10 M invocations in a week: from rows, and from the source's rollup. */
export async function rollupSection(_: BenchOptions): Promise<Row[]> {
  return await inTemporaryFolder(async (dataDir) => {
    const config = parseConfig({
      TAILRACE_DATA_DIR: dataDir,
      TAILRACE_ENGINE_MEMORY_BYTES_MAX: MEMORY_BYTES,
    });
    const { engine, registry, close } = await openCore(config, 'the benchmark');
    try {
      const source = registry.getSource('deno-relay-logs');
      const plain = { ...source, rollup: undefined };
      await applySchema(engine, [plain]);
      await createBuilder(engine, plain).tick(); // drops the rollup
      await fill(engine, source.table);
      const endpoint = registry.getEndpoint('functions.invocation-stats');
      const rows = await measure(engine, endpoint);
      await applySchema(engine, [source]);
      const begunMs = performance.now();
      const builder = createBuilder(engine, source);
      do await builder.tick();
      while ((builder.left.get(source.name) ?? 0) > 0);
      say(`rollup: built in ${((performance.now() - begunMs) / 1000).toFixed(1)} s`);
      const rollup = await measure(engine, endpoint);
      return INTERVALS.map((interval, i) => ({
        name: `statistics of ${interval}, 10 M invocations in the week, rollup / rows`,
        unit: 'ratio',
        values: [(rollup[i] ?? Number.NaN) / (rows[i] ?? Number.NaN)],
      }));
    } finally {
      await close();
    }
  });
}

function createBuilder(engine: Engine, source: Source) {
  const onNotDropped = (error: unknown) => {
    throw error;
  };
  return createRollupBuilder({ engine, sources: () => [source], onProgress() {}, onNotDropped });
}

async function fill(engine: Engine, table: string): Promise<void> {
  say(`rollup: making ${INVOCATIONS.toLocaleString('en')} invocations`);
  await engine.command(
    trusted(`INSERT INTO ${table} (id, timestamp, project, metadata, function_id, execution_time_ms, status_code)
    SELECT toString(number), now64(6) - toIntervalMicrosecond(intDiv(number * ${WEEK_SECONDS} * 1000000, ${INVOCATIONS})),
      '${PROJECT}', '{}', concat('f', toString(number % 8)), exp(4 + randNormal(0, 1)), if(number % 20 = 0, 500, 200)
    FROM numbers(${INVOCATIONS}) SETTINGS max_partitions_per_insert_block = 0, max_insert_threads = 1`),
  );
  await engine.command(trusted(`OPTIMIZE TABLE ${table} FINAL`));
}

const INTERVALS = ['1day', '7day'] as const;

/** The shortest time of each interval, ms. */
async function measure(engine: Engine, endpoint: Endpoint): Promise<number[]> {
  const shortest: number[] = [];
  for (const interval of INTERVALS) {
    const times: number[] = [];
    for (let time = 0; time < TIMES; time++) {
      const values = { project: PROJECT, function_id: '', interval };
      // Each question is another one: nothing is found in a cache of the engine.
      const bound = { ...values, ...serviceValues(endpoint, values, { instantMs: Date.now() }) };
      const { sql, format } = createStatement(endpoint, JSON_FORMAT, bound);
      const { elapsedMs } = await engine.query(sql, bound, { format, skipsReadFilters: true });
      times.push(elapsedMs);
    }
    shortest.push(Math.min(...times));
    say(`rollup: statistics of ${interval}, ${shortest.at(-1)?.toFixed(1)} ms`);
  }
  return shortest;
}

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseConfig } from '../src/config/config.ts';
import { readDefinitions } from '../src/definitions/read.ts';
import type { Source } from '../src/definitions/source.ts';
import { DATABASE } from '../src/engine/embedded/config.ts';
import type { Engine } from '../src/engine/engine.ts';
import { columnNames, createTable } from '../src/engine/table.ts';
import { formatInstant, MICROS_PER_MS, MICROS_PER_SECOND } from '../src/lib/instant.ts';
import { openEngine } from '../src/service/open-engine.ts';
import { sql, trusted } from '../src/sql/sql.ts';
import { fillSample } from '../trial/server.ts';
import { linkTree } from './linked-copy.ts';
import { findShortage } from './machine/disk-space.ts';
import { say, Unmeasured } from './report.ts';

/** A store filled with realistic logs. */
export interface BenchData {
  readonly dataDir: string;
  /** The end of the logs, ms since the epoch; queries at that instant find them recent. */
  readonly endMs: number;
  /** Endpoints to serve in the place of the shipped ones. */
  readonly endpointsDir?: string;
  /** Alerts to evaluate; by default none. */
  readonly alertsDir?: string;
}

const PROJECTS = 50;
const MADE_FILE = 'made.json';
// Retention deletes events after 90 days, by the real clock.
const AGE_MS_MAX = 60 * 86_400_000;
// Further rows are copies with their own ids and times, which the engine creates many times faster.
const SAMPLED_ROWS_MAX = 10_000_000;
const MOVED_SECONDS_MAX = 600;
const BYTES_PER_EVENT = 105;
// While a day is merged, its parts are there twice; the next day is copied meanwhile.
const UNMERGED_SHARE = 2 / 7;
// Progress of large data only.
const SAID_SECONDS_MIN = 10;
// The engine's memory while it copies.
const MEMORY_BYTES_MAX = String(8 * 1024 ** 3);

/**
 * Creates the data for a number of rows once. It is kept in the system's temporary folder for the next run, and recreated if
 * the schema has changed. Each day is one part, as in a store some minutes after its last event.
 *
 * @throws Unmeasured if it is not there and the disk has no room for it
 */
export async function openBenchData(rows: number): Promise<BenchData> {
  const dataDir = join(tmpdir(), 'tailrace-bench-data', `${rows}-rows`);
  const times = countCopies(rows);
  const sources = (await readDefinitions(parseConfig({}))).definitions.sources;
  const tables = createHash('sha256')
    .update(sources.flatMap((source) => createTable(source, '')).join())
    .digest('hex');
  const known = readMade(dataDir);
  if (known?.tables === tables && Date.now() - known.endMs < AGE_MS_MAX)
    return { dataDir, endMs: known.endMs };
  const unfinished = `${dataDir}.unfinished`;
  for (const folder of [dataDir, unfinished]) rmSync(folder, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  const shortage = findShortage(dirname(dataDir), rows * BYTES_PER_EVENT * (1 + UNMERGED_SHARE));
  if (shortage !== undefined) throw new Unmeasured(shortage);
  say(`making ${rows.toLocaleString('en')} rows, kept in ${dataDir}`);
  let endMs = Date.now();
  if (times === 1) await fillSample(unfinished, rows, ['--projects', String(PROJECTS)]);
  else {
    const sampled = await openBenchData(rows / times);
    endMs = sampled.endMs;
    linkTree(sampled.dataDir, unfinished);
  }
  await settle(unfinished, sources, { times, endMs });
  writeFileSync(join(unfinished, MADE_FILE), JSON.stringify({ endMs, tables }));
  renameSync(unfinished, dataDir);
  return { dataDir, endMs };
}

/** How often the sampled rows are in the data. @throws Unmeasured if these are not as many equal parts */
export function countCopies(rows: number): number {
  const times = Math.ceil(rows / SAMPLED_ROWS_MAX);
  if (rows % times === 0) return times;
  const near = Math.round(rows / SAMPLED_ROWS_MAX) * SAMPLED_ROWS_MAX;
  throw new Unmeasured(
    `${rows.toLocaleString('en')} rows cannot be ${times} equal parts; ${near.toLocaleString('en')} can`,
  );
}

function readMade(dataDir: string): { endMs: number; tables?: string } | undefined {
  const file = join(dataDir, MADE_FILE);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

/** Copies each day several times, and merges it. */
async function settle(
  dataDir: string,
  sources: readonly Source[],
  { times, endMs }: { times: number; endMs: number },
): Promise<void> {
  const engine = await openEngine(
    parseConfig({ TAILRACE_DATA_DIR: dataDir, TAILRACE_ENGINE_MEMORY_BYTES_MAX: MEMORY_BYTES_MAX }),
  );
  try {
    for (const source of sources) {
      for (const day of await findDays(engine, source)) {
        const startMs = performance.now();
        if (times > 1) await copyDay(engine, source, { day, times, endMs });
        // A command may take ten minutes; an inspection of a minute would count as stuck, and end the engine process.
        await engine.command(trusted(`OPTIMIZE TABLE ${nameOf(source)} PARTITION '${day}' FINAL`));
        const seconds = (performance.now() - startMs) / 1000;
        if (seconds > SAID_SECONDS_MIN)
          say(`${source.name}: ${day} is copied after ${Math.round(seconds)} s`);
      }
      say(`${source.name} is there`);
    }
  } finally {
    await engine.close();
  }
}

function nameOf({ table }: Source): string {
  return `${DATABASE}.${table}`;
}

async function findDays(engine: Engine, { table }: Source): Promise<string[]> {
  const rows = await engine.inspect(
    sql`SELECT DISTINCT partition AS day FROM system.parts WHERE active AND table = ${table} ORDER BY day`,
  );
  return rows.map((row) => String(row['day']));
}

async function copyDay(
  engine: Engine,
  source: Source,
  { day, times, endMs }: { day: string; times: number; endMs: number },
): Promise<void> {
  const instant = (text: string) => `toDateTime64('${text}', 6, 'UTC')`;
  const end = instant(formatInstant(endMs * MICROS_PER_MS));
  const range = 2 * MOVED_SECONDS_MAX * MICROS_PER_SECOND;
  const moved = `timestamp + toIntervalMicrosecond(rand64(copy) % ${range} - ${range / 2})`;
  const within = `greatest(${instant(`${day} 00:00:00`)}, least(${moved}, ${end}, ${instant(`${day} 23:59:59.999999`)}))`;
  const made = new Map([
    ['id', 'toString(generateUUIDv4(copy))'],
    ['timestamp', within],
  ]);
  const names = columnNames(source);
  await engine.command(
    trusted(`INSERT INTO ${nameOf(source)} (${names.join(', ')})
     SELECT ${names.map((name) => made.get(name) ?? name).join(', ')}
     FROM ${nameOf(source)} ARRAY JOIN range(1, ${times}) AS copy WHERE toDate(timestamp) = '${day}'
     SETTINGS max_block_size = 4096`),
  );
}

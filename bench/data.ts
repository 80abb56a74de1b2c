import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseConfig } from '../src/config/config.ts';
import { readDefinitions } from '../src/definitions/read.ts';
import type { Source } from '../src/definitions/source.ts';
import { DATABASE } from '../src/engine/embedded/sessions.ts';
import { columnNames, createTable } from '../src/engine/table.ts';
import { openEngine } from '../src/service/open-core.ts';
import { type Sql, sql, trusted } from '../src/sql/sql.ts';
import { send } from '../trial/http.ts';
import { fillSample } from '../trial/server.ts';
import { say, Unmeasured } from './report.ts';

/** A store filled with realistic logs. */
export interface BenchData {
  readonly dataDir: string;
  /** The end of the logs, ms since the epoch; queries at that instant find them recent. */
  readonly endMs: number;
  /** Endpoints to serve instead of the shipped ones. */
  readonly endpointsDir?: string;
  /** Alerts to evaluate; by default none. */
  readonly alertsDir?: string;
  /** The checkout that serves them, if not this one. */
  readonly root?: string;
}

const PROJECTS = 50;
const MADE_FILE = 'made.json';
// Retention deletes events after 90 days, by the real clock.
const AGE_MS_MAX = 60 * 86_400_000;
const ROWS_MAX = 100_000_000;
/** Events that are generated; the engine multiplies them for more. */
const GENERATED_MAX = 1_000_000;
const COPIES = 10;
/** A copy's id is longer. */
const UUID_CHARS = 36;

/**
 * Creates the data for a number of rows once. It is kept in the system's temporary folder for the next run, and recreated if
 * the schema has changed. Each day is one part, as in a store some minutes after its last event.
 *
 * @throws Unmeasured of more than 100 million; a million take 0.1 GB
 */
export async function openBenchData(rows: number): Promise<BenchData> {
  if (rows > ROWS_MAX) throw new Unmeasured(`the data have at most ${ROWS_MAX.toLocaleString('en')} rows`);
  const dataDir = join(tmpdir(), 'tailrace-bench-data', `${rows}-rows`);
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
  say(`making ${rows.toLocaleString('en')} rows, kept in ${dataDir}`);
  const endMs = Date.now();
  await fillSample(unfinished, Math.min(rows, GENERATED_MAX), ['--projects', String(PROJECTS)]);
  await growDays(unfinished, sources, Math.ceil(rows / GENERATED_MAX));
  writeFileSync(join(unfinished, MADE_FILE), JSON.stringify({ endMs, tables }));
  renameSync(unfinished, dataDir);
  return { dataDir, endMs };
}

function readMade(dataDir: string): { endMs: number; tables?: string } | undefined {
  const file = join(dataDir, MADE_FILE);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

/**
 * Multiplies the events of each day, and merges its parts into one. Copies have other ids, and other times within the hour before: questions
 * about a range of time find `times` as many events.
 */
async function growDays(dataDir: string, sources: readonly Source[], times: number): Promise<void> {
  const engine = await openEngine(parseConfig({ TAILRACE_DATA_DIR: dataDir }));
  try {
    for (const source of sources) {
      const { table } = source;
      const days = await engine.inspect(
        sql`SELECT DISTINCT partition AS day FROM system.parts WHERE active AND table = ${table}`,
      );
      for (const { day } of days) {
        // Several commands: one may take ten minutes.
        for (let first = 1; first < times; first += COPIES)
          await engine.command(copyEvents(source, String(day), [first, Math.min(COPIES, times - first)]));
        if (times > 1) say(`${table}: ${day}`);
        // As a command: an inspection of a minute would count as stuck, and end the engine process.
        await engine.command(trusted(`OPTIMIZE TABLE ${DATABASE}.${table} PARTITION '${day}' FINAL`));
      }
    }
  } finally {
    await engine.close();
  }
}

/** @param copies the first one's number, and how many */
function copyEvents(source: Source, day: string, [first, count]: readonly [number, number]): Sql {
  const columns = columnNames(source);
  const copied = columns.map((name) => {
    if (name === 'id') return "concat(id, '-', toString(copies.number))";
    if (name !== 'timestamp') return `\`${name}\``;
    return 'greatest(toStartOfDay(timestamp), timestamp - toIntervalMicrosecond(cityHash64(id, copies.number) % 3600000000))';
  });
  return trusted(`
    INSERT INTO ${DATABASE}.${source.table} (${columns.map((name) => `\`${name}\``).join(', ')})
    SELECT ${copied.join(', ')}
    FROM ${DATABASE}.${source.table} AS events CROSS JOIN numbers(${first}, ${count}) AS copies
    WHERE events._partition_id = '${day.replaceAll('-', '')}' AND length(id) = ${UUID_CHARS}`);
}

/** Runs `work` with a new temporary folder and removes it, also if the benchmark is interrupted. */
export async function inTemporaryFolder<T>(
  work: (folder: string) => Promise<T>,
  prefix = join(tmpdir(), 'tailrace-bench-'),
): Promise<T> {
  const folder = mkdtempSync(prefix);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  try {
    return await work(folder);
  } finally {
    process.off('exit', remove);
    remove();
  }
}

/** Column files never change; all others are small, and some are appended to. */
const WRITTEN_ONCE = '.bin';
/** A lock belongs to the inode, so a hard link would be locked in every copy. */
const NOT_COPIED = new Set(['lock.sqlite', 'owner.txt']);

/**
 * Runs `work` on a copy of the data and removes it afterwards: a store belongs to one process, events may be
 * added to it, and the data for the next run must not change. The copy shares the files of the columns
 * (hard links on the same file system), so it takes no time and no space, however many rows there are.
 */
export async function withLinkedCopy<T>(
  { dataDir, ...rest }: BenchData,
  work: (copy: BenchData) => Promise<T>,
): Promise<T> {
  return await inTemporaryFolder(async (folder) => {
    linkTree(dataDir, folder);
    return await work({ ...rest, dataDir: folder });
  }, `${dataDir}.copy-`);
}

/** Creates the same tree below `to`. */
function linkTree(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) linkTree(source, target);
    // The engine recreates its symbolic links.
    else if (!entry.isFile() || NOT_COPIED.has(entry.name)) continue;
    else if (entry.name.endsWith(WRITTEN_ONCE)) linkSync(source, target);
    else copyFileSync(source, target);
  }
}

/** Bytes on disk of active parts: the engine removes merged ones minutes later. */
export async function readStoredBytes(url: string): Promise<number> {
  const agent = new Agent();
  const { text } = await send(url, agent, { path: '/metrics' });
  agent.destroy();
  const bySource = [...text.matchAll(/^tailrace_stored_bytes{.*} (.*)$/gm)].map(([, bytes]) => Number(bytes));
  return bySource.reduce((sum, bytes) => sum + bytes, 0);
}

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Command } from 'commander';
import { findServerAddress } from '../../config/clickhouse.ts';
import type { Config } from '../../config/config.ts';
import { isManaged, type Source } from '../../definitions/source.ts';
import { hasEmbeddedStore } from '../../engine/embedded/sessions.ts';
import type { Engine } from '../../engine/engine.ts';
import { toTailraceError } from '../../engine/failure.ts';
import { untilDeleted } from '../../engine/mutations.ts';
import { parseRows } from '../../engine/read-settings.ts';
import { readDays } from '../../engine/store-state.ts';
import { columnNames, dropDay, tableColumns } from '../../engine/table.ts';
import { InputError, StoppedError, TailraceError } from '../../errors.ts';
import { copyControlStore } from '../../keys/copy-store.ts';
import { openControlStore } from '../../keys/open-control-store.ts';
import { openSqliteStore, SQLITE_FILE } from '../../keys/sqlite-store.ts';
import { openCore } from '../../service/open-core.ts';
import { identifier, type Sql, sql, trusted } from '../../sql/sql.ts';
import { ownerName, readConfig, stopSignal } from '../environment.ts';
import { formatCount, formatCounted } from '../format.ts';
import { readStoreConfig } from '../local-service.ts';

export function copyCommand(): Command {
  return new Command('copy')
    .description(
      'Copy the events of the data directory to a ClickHouse server, and its keys to ' +
        'TAILRACE_CONTROL_URL if that is set. Stop the service first. The same command resumes.',
    )
    .option(
      '--to <url>',
      'the server, in the form of CLICKHOUSE_URL; other CLICKHOUSE_… settings apply; without it only keys are copied',
    )
    .action(copy);
}

async function copy({ to = '' }: { readonly to?: string }): Promise<void> {
  // The bound of bytes is only for the embedded store.
  const given = readConfig({ CLICKHOUSE_URL: to, TAILRACE_STORE_BYTES_MAX: undefined });
  if (to === '' && given.controlUrl === '')
    throw new InputError([
      'nothing to copy to: name a server by --to, or set TAILRACE_CONTROL_URL for the keys',
    ]);
  // What is copied is on this machine, wherever the settings send it.
  const { dataDir } = readStoreConfig({ ...given, clickhouseUrl: '', controlUrl: '' });
  const config = { ...given, dataDir };
  const hasKeys = config.controlUrl !== '' && existsSync(join(dataDir, SQLITE_FILE));
  const hasEvents = to !== '' && hasEmbeddedStore(dataDir);
  // A mistyped folder would be created and copied as empty.
  if (!hasEvents && !hasKeys)
    throw new InputError([
      `data directory ${dataDir} has no ${to === '' ? 'keys' : 'events'}; set TAILRACE_DATA_DIR to the folder that ` +
        'the service has stored them in',
    ]);
  if (hasEvents) await copyEvents(config, stopSignal());
  if (hasKeys) await copyKeys(config);
}

// The largest part, and the time to read a day from a busy disk.
const LIMITS = { queryTimeoutMs: 600_000, resultBytesMax: 512 * 1024 * 1024 };

async function copyEvents(given: Config, signal: AbortSignal): Promise<void> {
  const config = { ...given, ...LIMITS, queryMemoryBytesMax: given.engineMemoryBytesMax };
  const { url, database } = findServerAddress(config) ?? { url: '', database: '' };
  await using cleanup = new AsyncDisposableStack();
  try {
    const ofFolder = { ...config, clickhouseUrl: '', readers: 1 };
    // Sources over existing tables are not copied; their tables may exist only on the server.
    const from = await openCore(ofFolder, ownerName('copy'), { hasExternal: false });
    cleanup.defer(from.close);
    const to = await openCore(config, ownerName('copy'));
    cleanup.defer(to.close);
    const sources = new Map(from.registry.sources.filter(isManaged).map((one) => [one.table, one]));
    await untilDeleted(from.engine, signal).catch((error: unknown) => {
      throw signal.aborted ? stopped(signal) : error;
    });
    const faults: string[] = [];
    for (const { table, day } of await readDays(from.engine)) {
      const source = sources.get(table);
      const fault =
        source === undefined
          ? `${table} ${day} is not copied: no source has this table`
          : await copyDay({ here: from.engine, there: to.engine, source, day }, signal);
      if (fault !== undefined) faults.push(fault);
    }
    if (faults.length > 0) throw new InputError(faults);
    process.stdout.write(
      `All events are at ${url}/${database}, counted and compared. Start the service with --to as ` +
        `CLICKHOUSE_URL, and the same data directory, which keeps the keys.\n`,
    );
  } catch (error) {
    if (error instanceof InputError || error instanceof StoppedError) throw error;
    const { code, message, cause } = toTailraceError(error);
    const text = `copying to ${url}/${database}: ${message}; what was copied stays; run the same command again to continue`;
    throw new TailraceError(code, text, { cause });
  }
}

function stopped({ reason }: AbortSignal, at = ''): StoppedError {
  return new StoppedError(`stopped by ${reason}${at}; run the same command again to continue`);
}

interface Day {
  readonly here: Engine;
  readonly there: Engine;
  readonly source: Source;
  /** `2026-11-20` */
  readonly day: string;
}

// On a cluster the responding replica may not have the last rows yet.
const REPLICA_WAITS_MAX = 60;

/**
 * Copies the parts of a day that the server lacks, and compares all. A part is stored whole or not at all: one that was
 * under way when a command was killed is equal, or recognised by its deduplication token.
 *
 * @returns why the day differs in the end; `undefined` if it does not
 */
async function copyDay(on: Day, signal: AbortSignal): Promise<string | undefined> {
  const { here, there, source, day } = on;
  const parts = toParts(await readSeconds(here, source, day));
  const compare = async () => {
    const seconds = await readSeconds(there, source, day);
    const counts = parts.map((part) => ({ part, ...countPart(seconds, part.from, part.until) }));
    return counts.filter(({ part, rows, sum }) => rows !== part.rows || sum !== part.sum);
  };
  let differing = await compare();
  // Other events are there already: with the rest of the day they would be mixed.
  if (differing.length > 0 && differing.every(({ rows }) => rows === 0)) {
    for (const { part } of differing) {
      if (signal.aborted) throw stopped(signal, ` at ${source.name} ${day}`);
      await send(on, part);
      process.stderr.write(`${source.name} ${day}: ${formatCounted(part.rows, 'event')}\n`);
    }
    differing = await compare();
    for (let i = 0; there.cluster !== '' && differing.length > 0 && i < REPLICA_WAITS_MAX; i++) {
      await wait(1_000);
      differing = await compare();
    }
  }
  const [first] = differing;
  if (first === undefined) return undefined;
  return (
    `${source.name} ${day}: the server has other events: ${formatCount(first.rows)} where ` +
    `${formatCount(first.part.rows)} are here; to copy the day again, delete it there: ` +
    dropDay(source, day, there.cluster).text
  );
}

async function send({ here, there, source, day }: Day, { from, until, rows, sum }: Part): Promise<void> {
  const columns = columnNames(source);
  const at = (second: number) => sql`fromUnixTimestamp64Micro(${BigInt(second) * 1_000_000n}, 'UTC')`;
  const { text } = sql`SELECT ${columns.map(identifier)} FROM ${identifier(source.table)}
      WHERE toDate(timestamp) = ${day} AND timestamp >= ${at(from)} AND timestamp < ${at(until)}`;
  const { bytes } = await here.query(text, {}, { format: 'TabSeparated' });
  const token = `copy ${source.table} ${day} ${from} ${rows} ${sum}`;
  await there.insert({ table: source.table, columns, format: 'TabSeparated', bytes, token });
}

/** Seconds that follow each other, without `until`. */
type Part = ReturnType<typeof countPart>;

// In memory on both sides. The server stores an insert of at most a million rows and 256 MiB in one step.
const PART_ROWS_MAX = 500_000;
const PART_BYTES_MAX = 64 * 1024 * 1024;
// The years 1900 and 2299, between which the engine's times lie: the server may have events of times that this store
// has not.
const [SECOND_MIN, SECOND_MAX] = [-2_208_988_800, 10_413_792_000];

/** The events of a second since the epoch. `sum`: of a hash of each, modulo 2^64. */
type Second = Awaited<ReturnType<typeof readSeconds>>[number];

/** Divides a day into as few parts as the bounds allow. */
export function toParts(seconds: readonly Second[]): Part[] {
  const starts = [SECOND_MIN];
  let [rows, bytes] = [0, 0];
  for (const one of seconds) {
    const isFull = rows > 0 && (rows + one.rows > PART_ROWS_MAX || bytes + one.bytes > PART_BYTES_MAX);
    if (isFull) {
      starts.push(one.second);
      [rows, bytes] = [0, 0];
    }
    rows += one.rows;
    bytes += one.bytes;
  }
  return starts.map((from, i) => countPart(seconds, from, starts[i + 1] ?? SECOND_MAX));
}

function countPart(seconds: readonly Second[], from: number, until: number) {
  const within = seconds.filter(({ second }) => second >= from && second < until);
  const sum = within.reduce((total, one) => BigInt.asUintN(64, total + one.sum), 0n);
  return { from, until, rows: within.reduce((total, one) => total + one.rows, 0), sum };
}

async function readSeconds(engine: Engine, source: Source, day: string) {
  const { text } =
    sql`SELECT toInt64(floor(toUnixTimestamp64Micro(timestamp) / 1000000)) AS second, count() AS rows,
      sum(byteSize(event_message, metadata, attributes)) AS bytes, toString(sumWithOverflow(${rowHash(source)})) AS sum
      FROM ${identifier(source.table)} WHERE toDate(timestamp) = ${day} GROUP BY second ORDER BY second`;
  const { bytes: answer } = await engine.query(text, {}, { format: 'JSONEachRow' });
  return parseRows(answer).map(({ second, rows, bytes, sum }) => {
    return { second: Number(second), rows: Number(rows), bytes: Number(bytes), sum: BigInt(String(sum)) };
  });
}

/** Writes each column in a form that both engines hash alike. A hash of a NULL would be NULL, and its row not counted. */
function rowHash(source: Source): Sql {
  const columns = tableColumns(source).flatMap(({ name, type }) => {
    if (type.includes('Nullable')) return [`isNull(\`${name}\`)`, `ifNull(toString(\`${name}\`), '')`];
    return [type.startsWith('DateTime64') ? `toUnixTimestamp64Micro(\`${name}\`)` : `toString(\`${name}\`)`];
  });
  return trusted(`cityHash64(${columns.join(', ')})`);
}

/** Copies keys, audit trail and alerts into the control store of all replicas. Idempotent: what is there stays. */
async function copyKeys(config: Config): Promise<void> {
  await using cleanup = new AsyncDisposableStack();
  const from = openSqliteStore(config.dataDir);
  cleanup.defer(from.close);
  const to = await openControlStore(config);
  cleanup.defer(to.close);
  const { keysAdded, keysDiffering, entriesAdded, alertRowsAdded } = await copyControlStore(from, to);
  process.stdout.write(
    `${formatCounted(keysAdded, 'key')}, ${formatCount(entriesAdded)} entries of the audit trail ` +
      `and ${formatCount(alertRowsAdded)} rows of alerts are copied; everyone signs in to the ` +
      `console again.\n`,
  );
  const faults = keysDiffering.map(
    (id) => `the key ${id} exists at TAILRACE_CONTROL_URL with another secret; it was not copied`,
  );
  if (faults.length > 0) throw new InputError(faults);
}

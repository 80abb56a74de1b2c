import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Session } from 'chdb';
import { quote } from '../sql/quote.ts';
import { DATABASE, writeEngineConfig } from './embedded-config.ts';
import type { QueryLimits, ReadFilters } from './engine.ts';

export interface EmbeddedSessions {
  /** The only one that may change data. */
  readonly writer: Session;
  /** Kills and inspects while the others are busy. */
  readonly control: Session;
  /** One statement at a time, with its limits, locked read-only; see `Engine.setReadFilters`. */
  openReader(filters: ReadFilters): Promise<Session>;
}

// The engine's own time limit is the second guard: it acts where the first, a kill, did not come through.
const ENGINE_GRACE_MS = 1_000;
// A stored query of some kilobytes with a parameter of the longest size in every place.
const SQL_BYTES_MAX = 128 * 1024 * 1024;

// Limits and kills act between blocks of rows: with the default of 65,409 a costly function outlives them by far.
const BLOCK_ROWS_MAX = 8_192;

// Numbers are never quoted, `/` is never escaped, a number that JSON has no word for is null.
const FORMAT_SETTINGS = {
  output_format_json_quote_64bit_integers: 0,
  output_format_json_quote_denormals: 0,
  output_format_json_escape_forward_slashes: 0,
  output_format_json_validate_utf8: 1,
} as const;

/** Opens the sessions of one data directory. A setting given with a query sticks to its session, so all are set here. */
export async function openSessions(
  dataDir: string,
  options: { memoryBytesMax: number; limits: QueryLimits },
): Promise<EmbeddedSessions> {
  const connectionArgs = writeEngineConfig(join(dataDir, 'engine'), options.memoryBytesMax);
  const storeDir = join(dataDir, 'store');
  mkdirSync(storeDir, { recursive: true, mode: 0o700 }); // the engine would let everyone read what is in it
  const open = () => new Session(storeDir, { connectionArgs });
  const openWith = async (settings: Settings) => {
    const session = open();
    await session.queryAsync(`USE ${DATABASE}`);
    await set(session, settings);
    return session;
  };
  const first = open();
  await first.queryAsync(`CREATE DATABASE IF NOT EXISTS ${DATABASE}`);
  const writer = await openWith({
    max_partitions_per_insert_block: 0, // an insert of rows from many days makes a part for each; the default is 100
    deduplicate_insert: quote('disable'), // only inserts that bring a token ask for it
    materialize_skip_indexes_on_insert: 0, // merges make them: new parts are small, and soon merged
    max_query_size: SQL_BYTES_MAX,
  });
  const control = await openWith({ ...FORMAT_SETTINGS, max_query_size: SQL_BYTES_MAX });
  first.close();
  return { writer, control, openReader: (filters) => openWith(readerSettings(options.limits, filters)) };
}

type Settings = Readonly<Record<string, number | string>>;

function readerSettings(limits: QueryLimits, filters: ReadFilters): Settings {
  const conditions = [...filters].map(
    ([table, condition]) => `${quote(`${DATABASE}.${table}`)}: ${quote(condition)}`,
  );
  return {
    ...FORMAT_SETTINGS,
    max_execution_time: (limits.timeoutMs + ENGINE_GRACE_MS) / 1000,
    max_memory_usage: limits.memoryBytesMax,
    max_result_bytes: limits.resultBytesMax,
    result_overflow_mode: quote('throw'),
    max_query_size: SQL_BYTES_MAX,
    max_block_size: BLOCK_ROWS_MAX,
    additional_table_filters: `{${conditions.join(', ')}}`,
    readonly: 1, // last: nothing can be set after it
  };
}

async function set(session: Session, settings: Settings): Promise<void> {
  const list = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  await session.queryAsync(`SET ${list.join(', ')}`);
}

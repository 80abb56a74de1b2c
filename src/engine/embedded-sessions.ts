import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Session } from 'chdb';
import { quote } from '../sql/quote.ts';
import { removeDeletingTtls } from './deleting-ttl.ts';
import { DATABASE, writeEngineConfig } from './embedded-config.ts';
import type { QueryLimits, ReadFilters } from './engine.ts';
import {
  type EngineSettings,
  FORMAT_SETTINGS,
  readSettings,
  SQL_BYTES_MAX,
  writeFilters,
} from './read-settings.ts';

export interface EmbeddedSessions {
  /** The only one that may change data. */
  readonly writer: Session;
  /** Kills and inspects while the others are busy. */
  readonly control: Session;
  /** One statement at a time, with its limits, locked read-only; see `Engine.setReadFilters`. */
  openReader(filters: ReadFilters): Promise<Session>;
}

const findStoreDir = (dataDir: string) => join(dataDir, 'store');

/** Whether a data directory has ever had a store of this engine. */
export function hasEmbeddedStore(dataDir: string): boolean {
  return existsSync(findStoreDir(dataDir));
}

/** Opens the sessions of one data directory. A setting given with a query sticks to its session, so all are set here. */
export async function openSessions(
  dataDir: string,
  options: { memoryBytesMax: number; limits: QueryLimits },
): Promise<EmbeddedSessions> {
  const storeDir = findStoreDir(dataDir);
  mkdirSync(storeDir, { recursive: true, mode: 0o700 }); // the engine would let everyone read what is in it
  const configDir = join(dataDir, 'engine');
  await removeDeletingTtls(storeDir, writeEngineConfig(configDir, options.memoryBytesMax, false));
  const connectionArgs = writeEngineConfig(configDir, options.memoryBytesMax);
  const open = () => new Session(storeDir, { connectionArgs });
  const openWith = async (settings: EngineSettings) => {
    const session = open();
    await session.queryAsync(`USE ${DATABASE}`);
    await set(session, settings);
    return session;
  };
  const first = open();
  await first.queryAsync(`CREATE DATABASE IF NOT EXISTS ${DATABASE}`);
  const writer = await openWith({
    max_partitions_per_insert_block: 0, // an insert of rows from many days makes a part for each; the default is 100
    deduplicate_insert: 'disable', // only inserts that bring a token ask for it
    materialize_skip_indexes_on_insert: 0, // merges make them: new parts are small, and soon merged
    max_query_size: SQL_BYTES_MAX,
  });
  const control = await openWith({ ...FORMAT_SETTINGS, max_query_size: SQL_BYTES_MAX });
  first.close();
  return { writer, control, openReader: (filters) => openWith(readerSettings(options.limits, filters)) };
}

function readerSettings(limits: QueryLimits, filters: ReadFilters): EngineSettings {
  return {
    ...readSettings(limits),
    additional_table_filters: writeFilters(DATABASE, filters),
    readonly: 1, // last: nothing can be set after it
  };
}

async function set(session: Session, settings: EngineSettings): Promise<void> {
  const list = Object.entries(settings).map(
    ([name, value]) => `${name} = ${typeof value === 'string' ? quote(value) : value}`,
  );
  await session.queryAsync(`SET ${list.join(', ')}`);
}

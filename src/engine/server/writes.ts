import { randomUUID } from 'node:crypto';
import type { InsertBatch } from '../engine.ts';
import { FORMAT_SETTINGS, SQL_BYTES_MAX } from '../read-settings.ts';
import { parseRows } from '../values.ts';
import type { ServerClient } from './client.ts';
import type { ServerWatch } from './watch.ts';

// A server on which an insert takes longer is unusable.
const INSERT_MS_MAX = 60_000;
/** Longer than the 180 s for which the server itself waits for all servers of a cluster. */
export const COMMAND_MS_MAX = 200_000;
const INSPECT_MS_MAX = 60_000;
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

// The server responds to an insert or a statement only when it is done, so that the status is its result.
const WRITE_SETTINGS = { wait_end_of_query: 1, max_query_size: SQL_BYTES_MAX } as const;
const INSERT_SETTINGS = {
  ...WRITE_SETTINGS,
  async_insert: 0, // inserts are grouped already, and a response has to mean that they are stored
  max_partitions_per_insert_block: 0, // an insert of rows from many days makes a part for each
  insert_deduplicate: 1,
} as const;
const INSPECT_SETTINGS = {
  ...FORMAT_SETTINGS,
  max_query_size: SQL_BYTES_MAX,
  default_format: 'JSONEachRow',
} as const;

/** Statements of the tables' owner; see `Engine`. Each failure is the server's own, or that of the connection. */
export function createServerWrites(owner: ServerClient, cluster: string, watch: Pick<ServerWatch, 'signal'>) {
  // On a cluster the insert returns when all shards have their rows, not when they are queued for them.
  const insertSettings =
    cluster === '' ? INSERT_SETTINGS : { ...INSERT_SETTINGS, distributed_foreground_insert: 1 };
  const writing = new Set<Promise<unknown>>();

  async function write(work: Promise<unknown>): Promise<void> {
    writing.add(work);
    await work.finally(() => writing.delete(work));
  }

  return {
    insert(batch: InsertBatch): Promise<void> {
      if (batch.format === 'blocks') throw new TypeError('a server takes no blocks of rows');
      const { table, columns, format, bytes, token } = batch;
      const names = columns.map((name) => `\`${name}\``).join(', ');
      const work = owner.send({
        sql: `INSERT INTO \`${table}\` (${names}) FORMAT ${format}`,
        body: bytes,
        // With a token the rows can be sent again if the response was lost.
        settings: { ...insertSettings, insert_deduplication_token: token ?? randomUUID() },
        bytesMax: ANSWER_BYTES_MAX,
        signal: AbortSignal.any([AbortSignal.timeout(INSERT_MS_MAX), watch.signal]),
        repeatable: true,
      });
      return write(work);
    },
    command(sql: string): Promise<void> {
      const signal = AbortSignal.timeout(COMMAND_MS_MAX);
      const options = { settings: WRITE_SETTINGS, bytesMax: ANSWER_BYTES_MAX, signal, repeatable: false };
      return write(owner.send({ sql, ...options }));
    },
    async inspect(sql: string) {
      const signal = AbortSignal.timeout(INSPECT_MS_MAX);
      const options = { settings: INSPECT_SETTINGS, bytesMax: ANSWER_BYTES_MAX, signal, repeatable: true };
      return parseRows((await owner.send({ sql, ...options })).bytes);
    },
    /** Resolves when no insert and no command runs any more. */
    idle: async () => void (await Promise.allSettled([...writing])),
  };
}

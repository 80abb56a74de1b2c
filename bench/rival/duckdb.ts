import { Agent } from 'node:http';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance, version } from '@duckdb/node-api';
import type { BenchData } from '../data.ts';
import { startChild } from '../load.ts';
import { askNew, pathOf } from '../questions.ts';
import { exportDays, type Rival } from './rival.ts';

/** The same typed columns as ours, with the metadata as text. */
const COLUMNS = {
  edge_logs: 'id, project, event_message, metadata, method, path, address, status_code',
  function_edge_logs: 'id, project, event_message, metadata, function_id, execution_time_ms, status_code',
} as const;

/** The instant of a question, ms since the epoch. */
export const NOW_PARAMETER = 'now_ms';

/** Its default is most of the machine's memory; two rivals, ours and the page cache share it. */
const MEMORY_SHARE = 1 / 4;

/** What bench/duckdb-process.ts is told, and what it answers. */
export interface DuckDbJob {
  readonly file: string;
}

export interface DuckDbStarted {
  readonly url: string;
}

/** Opens a file. Several processes can read it while none writes. */
export async function connectDuckDb(file: string, mode: 'read_only' | 'read_write') {
  const instance = await DuckDBInstance.create(file, {
    access_mode: mode,
    memory_limit: `${Math.floor((totalmem() * MEMORY_SHARE) / 1e6)}MB`,
  });
  const connection = await instance.connect();
  const close = () => {
    connection.closeSync();
    instance.closeSync();
  };
  return { connection, close };
}

/** DuckDB in a separate process behind a bare Fastify route, on rows sorted as ours are: by day, project and time. */
export async function openDuckDb(data: BenchData, folder: string): Promise<Rival> {
  const file = join(folder, 'data.duckdb');
  await load(data, file);
  const { started, end } = await startChild<DuckDbJob, DuckDbStarted>('duckdb-process.ts', { file });
  const agent = new Agent({ keepAlive: true });
  return {
    name: `DuckDB ${version()} behind Fastify`,
    async ask({ endpoint, parameters }, nowMs) {
      const asked = { endpoint, parameters: { ...parameters, [NOW_PARAMETER]: String(nowMs) } };
      const { ms, text } = await askNew(started.url, agent, pathOf(asked));
      return { ms, rows: () => JSON.parse(text).result };
    },
    async close() {
      agent.destroy();
      end();
    },
  };
}

/** Fills a new file with our tables, day by day. */
async function load(data: BenchData, file: string): Promise<void> {
  const { connection, close } = await connectDuckDb(file, 'read_write');
  try {
    for (const [table, own] of Object.entries(COLUMNS)) {
      let begin = `CREATE TABLE ${table} AS`;
      const columns = `toUnixTimestamp64Micro(timestamp) AS micros, ${own}`;
      const job = { table, columns, orderBy: 'project, timestamp, id', format: 'Parquet' } as const;
      await exportDays(data, job, async (day) => {
        await connection.run(
          `${begin} SELECT make_timestamp(micros) AS timestamp, * EXCLUDE (micros) FROM read_parquet('${day}')`,
        );
        begin = `INSERT INTO ${table}`;
      });
    }
    await connection.run('CHECKPOINT');
  } finally {
    close();
  }
}

import { join } from 'node:path';
import { type DuckDBConnection, version } from '@duckdb/node-api';
import type { BenchData } from '../data.ts';
import type { DuckDbJob, DuckDbStarted } from '../duckdb-process.ts';
import { askText, openAgent } from '../http.ts';
import { startChild } from '../load.ts';
import { askDuckDb, connectDuckDb, NOW_PARAMETER, quote } from './duckdb-query.ts';
import { exportDays, openKept } from './kept.ts';
import { type Rival, type RivalEngine, timeRows } from './rival.ts';

/** The same typed columns as ours, with the metadata as text. */
const COLUMNS = {
  edge_logs: 'id, project, event_message, metadata, method, path, address, status_code',
  function_edge_logs: 'id, project, event_message, metadata, function_id, execution_time_ms, status_code',
} as const;

const FILE = 'data.duckdb';
/** In its file, and a day of the export. */
const BYTES_PER_EVENT = 550;

/** DuckDB on rows sorted as ours are: by day, project and time. */
export async function openDuckDb(data: BenchData, rows: number): Promise<RivalEngine> {
  const kept = { name: `duckdb-${version()}`, bytes: rows * BYTES_PER_EVENT };
  const folder = await openKept(data, kept, (made) => load(data, join(made, FILE)));
  const file = join(folder, FILE);
  const opened: { close(): void | Promise<void> }[] = [];
  return {
    async rival(variant) {
      const rival = await (variant === 'plain' ? openInside(file) : openBehindHttp(file));
      opened.push(rival);
      return rival;
    },
    async close() {
      for (const rival of opened) await rival.close();
    },
  };
}

type OpenedRival = Rival & { close(): void };

/** In this process: without socket, key and JSON. */
async function openInside(file: string): Promise<OpenedRival> {
  const { connection, close } = await connectDuckDb(file, 'read_only');
  return {
    name: `DuckDB ${version()}`,
    ask: (question, nowMs) => timeRows(() => askDuckDb(connection, question, nowMs)),
    close,
  };
}

/** A process of its own with a bare Fastify route, asked by the same client as ours. */
async function openBehindHttp(file: string): Promise<OpenedRival> {
  const { started, end } = await startChild<DuckDbJob, DuckDbStarted>('duckdb-process.ts', { file });
  const agent = openAgent();
  return {
    name: `DuckDB ${version()} behind Fastify`,
    async ask({ endpoint, parameters }, nowMs) {
      const asked = { endpoint, parameters: { ...parameters, [NOW_PARAMETER]: String(nowMs) } };
      const { ms, text } = await askText(started.url, agent, asked);
      return { ms, rows: () => JSON.parse(text).result };
    },
    close() {
      agent.destroy();
      end();
    },
  };
}

async function load(data: BenchData, file: string): Promise<void> {
  const { connection, close } = await connectDuckDb(file, 'read_write');
  try {
    for (const table of ['edge_logs', 'function_edge_logs'] as const)
      await loadTable(data, connection, table);
    await connection.run('CHECKPOINT');
  } finally {
    close();
  }
}

async function loadTable(
  data: BenchData,
  connection: DuckDBConnection,
  table: keyof typeof COLUMNS,
): Promise<void> {
  const columns = `toUnixTimestamp64Micro(timestamp) AS micros, ${COLUMNS[table]}`;
  const rows = { table, columns, orderBy: 'project, timestamp, id', format: 'Parquet' } as const;
  let made = false;
  await exportDays(data, rows, async (day) => {
    const begin = made ? `INSERT INTO ${table}` : `CREATE TABLE ${table} AS`;
    await connection.run(
      `${begin} SELECT make_timestamp(micros) AS timestamp, * EXCLUDE (micros) FROM read_parquet(${quote(day)})`,
    );
    made = true;
  });
}

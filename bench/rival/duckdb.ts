import { join } from 'node:path';
import { version } from '@duckdb/node-api';
import type { BenchData } from '../data.ts';
import type { DuckDbJob, DuckDbStarted } from '../duckdb-process.ts';
import { askText, openAgent } from '../http.ts';
import { startChild } from '../load.ts';
import type { Question } from '../questions.ts';
import { askDuckDb, connectDuckDb, NOW_PARAMETER, quote } from './duckdb-query.ts';
import { type Export, exportDays, openKept } from './kept.ts';
import { type Rival, type RivalAnswer, type RivalEngine, timeRows } from './rival.ts';

/** The same typed columns as ours, with the metadata as text. */
const COLUMNS = {
  edge_logs: 'id, project, event_message, metadata, method, path, address, status_code',
  function_edge_logs: 'id, project, event_message, metadata, function_id, execution_time_ms, status_code',
} as const;

export const FILE = 'data.duckdb';
/** In its file, and a day of the export. */
export const BYTES_PER_EVENT = 550;

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
export async function openBehindHttp(file: string) {
  const { started, end } = await startChild<DuckDbJob, DuckDbStarted>('duckdb-process.ts', { file });
  const agent = openAgent();
  return {
    name: `DuckDB ${version()} behind Fastify`,
    async ask({ endpoint, parameters }: Question, nowMs = 0): Promise<RivalAnswer> {
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
  const tables = Object.entries(COLUMNS).map(([table, columns]) => ({
    ...{ table, columns: `toUnixTimestamp64Micro(timestamp) AS micros, ${columns}` },
    ...{ orderBy: 'project, timestamp, id', select: '* EXCLUDE (micros)' },
  }));
  await loadTables(data, file, tables);
}

/** A table of ours as DuckDB gets it. */
interface LoadedTable extends Omit<Export, 'format'> {
  /** Of the exported columns, besides `micros`, which becomes the timestamp. */
  readonly select: string;
}

/** Fills a new file with tables, day by day. */
export async function loadTables(
  data: BenchData,
  file: string,
  tables: readonly LoadedTable[],
): Promise<void> {
  const { connection, close } = await connectDuckDb(file, 'read_write');
  try {
    for (const { select, ...rows } of tables) {
      let begin = `CREATE TABLE ${rows.table} AS`;
      await exportDays(data, { ...rows, format: 'Parquet' }, async (day) => {
        await connection.run(
          `${begin} SELECT make_timestamp(micros) AS timestamp, ${select} FROM read_parquet(${quote(day)})`,
        );
        begin = `INSERT INTO ${rows.table}`;
      });
    }
    await connection.run('CHECKPOINT');
  } finally {
    close();
  }
}

import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { apiCounts } from '../../trial/oracle/api-counts.ts';
import type { WireEvent } from '../../trial/oracle/event.ts';
import { invocationStats } from '../../trial/oracle/invocation-stats.ts';
import type { BenchData } from '../data.ts';
import type { Question } from '../questions.ts';
import { type AnswerRow, exportDays, type Rival, windowOf } from './rival.ts';

const TABLES: Readonly<Record<string, string>> = {
  'functions.invocation-stats': 'function_edge_logs',
  'logs.all': 'edge_logs',
  'usage.api-counts': 'edge_logs',
};
const COLUMNS = 'id, toUnixTimestamp64Micro(timestamp) AS micros, project, event_message, metadata';

/** The tests' own answers, in JavaScript, from all events of a project: no engine. Not to be timed. */
export function openOracle(data: BenchData): Rival {
  const known = new Map<string, Promise<readonly WireEvent[]>>();
  /** Of the table that an endpoint reads. */
  const read = ({ endpoint, parameters: { project = '' } }: Question) => {
    const table = TABLES[endpoint] ?? '';
    const key = `${table} ${project}`;
    const events = known.get(key) ?? readEvents(data, table, project);
    known.set(key, events);
    return events;
  };
  return {
    name: 'the oracle',
    async ask(question, nowMs) {
      const events = await read(question);
      return { ms: Number.NaN, rows: () => answer(events, question, nowMs) };
    },
    async close() {},
  };
}

async function readEvents(data: BenchData, table: string, project: string): Promise<readonly WireEvent[]> {
  const events: WireEvent[] = [];
  const job = { table, columns: COLUMNS, project, orderBy: 'timestamp, id', format: 'JSONEachRow' } as const;
  await exportDays(data, job, async (file) => {
    for await (const line of createInterface({ input: createReadStream(file) })) {
      const { micros, metadata, ...rest } = JSON.parse(line);
      events.push({ ...rest, timestamp: Number(micros), metadata: JSON.parse(metadata) });
    }
  });
  return events;
}

function answer(events: readonly WireEvent[], question: Question, nowMs: number): readonly AnswerRow[] {
  const { endpoint, parameters } = question;
  const { project = '', interval = '' } = parameters;
  const now = nowMs * 1_000;
  if (endpoint === 'logs.all') {
    const sinceMicros = Date.parse(`${windowOf(question, nowMs).since}Z`) * 1_000;
    const newest = events.filter(({ timestamp }) => timestamp > sinceMicros).toReversed();
    return newest.slice(0, 100).map(({ id, timestamp, event_message, metadata }) => {
      return { id, timestamp, event_message, metadata };
    });
  }
  if (endpoint === 'functions.invocation-stats')
    return invocationStats(events, { project, functionId: '', interval, now }).map(
      ({ timestamp, times, count, errorCount }) => ({
        timestamp,
        min_execution_time: times[0] ?? null,
        max_execution_time: times.at(-1) ?? null,
        avg_execution_time: times.reduce((sum, time) => sum + time, 0) / times.length,
        p95_execution_time: rank(times, 95),
        p99_execution_time: rank(times, 99),
        count,
        error_count: errorCount,
      }),
    );
  return apiCounts(events, {
    pattern: project,
    interval: interval as 'hourly' | 'daily',
    now,
  }) as AnswerRow[];
}

/** The nearest rank. */
function rank(times: readonly number[], percent: number): number | undefined {
  return times[Math.ceil((percent * times.length) / 100) - 1];
}

import type { Source } from '../../src/definitions/source.ts';
import { SEARCH_BUCKETS, type SearchQuestion, weekOf } from './question.ts';

/** How an engine writes what SQL has no common word for. */
export interface SqlDialect {
  /** A timestamp as a number of microseconds since the epoch, exact in JavaScript. */
  readonly micros: (timestamp: string) => string;
  /** The start of the bucket of a timestamp. @param width in microseconds @param from the start of the first one */
  readonly bucket: (timestamp: string, width: number, from: string) => string;
}

/** The columns of each of the rivals' tables, in this order; of a table without a typed column it is NULL. */
export const RIVAL_COLUMNS = {
  id: 'text',
  timestamp: 'timestamp',
  project: 'text',
  level: 'text',
  event_message: 'text',
  path: 'text',
  status_code: 'bigint',
  metadata: 'jsonb',
} as const;

/** The same question in SQL, written by hand. Values are literals, as in ours. */
export function writeRivalSql(question: SearchQuestion, dialect: SqlDialect): string {
  const { part, sources } = question;
  const arms = (write: (source: Source) => string) =>
    sources.map((source) => `(${write(source)})`).join(' UNION ALL ');
  if (part === 'rows') {
    const newest = 'ORDER BY timestamp DESC, id DESC LIMIT 100';
    const names = 'id, timestamp, project, level, event_message, metadata';
    return `SELECT source, id, ${dialect.micros('timestamp')} AS timestamp, project, level, event_message, metadata
      FROM (${arms((source) => `SELECT '${source.name}' AS source, ${names} ${writeFrom(source, question)} ${newest}`)}) AS events
      ORDER BY events.timestamp DESC, id DESC LIMIT 100`;
  }
  if (part === 'values')
    return `SELECT value, count(*)::int AS count
      FROM (${arms((source) => `SELECT ${question.field?.column} AS value ${writeFrom(source, question)}`)}) AS events
      WHERE value IS NOT NULL GROUP BY value ORDER BY 2 DESC, value LIMIT 20`;
  const { fromMs, untilMs } = weekOf(question);
  const width = Math.ceil(((untilMs - fromMs) * 1_000) / SEARCH_BUCKETS);
  const bucket = dialect.bucket('timestamp', width, toTimestamp(fromMs));
  return `SELECT ${dialect.micros('bucket')} AS timestamp, level, count(*)::int AS count
    FROM (${arms((source) => `SELECT ${bucket} AS bucket, level ${writeFrom(source, question)}`)}) AS events
    GROUP BY bucket, level ORDER BY bucket, level`;
}

function writeFrom({ table }: Source, question: SearchQuestion): string {
  const { fromMs, untilMs } = weekOf(question);
  return `FROM ${table}
    WHERE project = '${question.project}' AND timestamp >= ${toTimestamp(fromMs)} AND timestamp < ${toTimestamp(untilMs)}
      ${question.filter === undefined ? '' : `AND ${question.filter.sql}`}`;
}

function toTimestamp(ms: number): string {
  return `TIMESTAMP '${new Date(ms).toISOString().replace('T', ' ').replace('Z', '')}'`;
}

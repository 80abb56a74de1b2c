import type { Source } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import { columnNames } from '../engine/table.ts';
import { identifier, type Sql, sql } from '../sql/sql.ts';
import { instant, isOn } from './digest.ts';

/** A position in the sorting key of a table. Strings are hexadecimal, so that every byte survives. */
export interface SortPosition {
  readonly project: string;
  /** µs since the epoch. */
  readonly timestamp: string;
  readonly id: string;
}

export interface ChunkBounds {
  readonly rowsMax: number;
  /** Bytes of the rows in the memory of the engine. */
  readonly bytesMax: number;
}

/**
 * Finds the last row of the chunk that begins after `after`. Rows with equal keys are never separated, since nothing
 * distinguishes them, so a chunk of them may exceed its bounds.
 *
 * @returns `undefined` if the day has no more rows
 */
export async function findChunkEnd(
  engine: Engine,
  source: Source,
  { day, after, bounds }: { day: string; after: SortPosition | undefined; bounds: ChunkBounds },
): Promise<SortPosition | undefined> {
  const key = sql`(project, timestamp, id)`;
  const [row] = await engine.inspect(
    sql`SELECT count() AS rows, if(countIf(fits) > 0, maxIf(${key}, fits), min(${key})) AS last,
       hex(last.1) AS last_project, toString(toUnixTimestamp64Micro(last.2)) AS last_timestamp, hex(last.3) AS last_id
     FROM (
       SELECT project, timestamp, id,
         sum(bytes) OVER (ORDER BY project, timestamp, id) <= ${bounds.bytesMax} AS fits
       FROM (
         SELECT project, timestamp, id,
           byteSize(id, event_message, metadata, attributes) AS bytes
         FROM ${identifier(source.table)} WHERE ${isOn(day)} AND ${isAfter(after)}
         ORDER BY project, timestamp, id LIMIT ${bounds.rowsMax}
       )
     )`,
  );
  if (row === undefined || Number(row['rows']) === 0) return undefined;
  return {
    project: String(row['last_project']),
    timestamp: String(row['last_timestamp']),
    id: String(row['last_id']),
  };
}

/** Reads the rows after `after`, up to and including `upTo`, in a format that `Engine.insert` accepts. */
export async function readChunk(
  engine: Engine,
  source: Source,
  { day, after, upTo }: { day: string; after: SortPosition | undefined; upTo: SortPosition },
): Promise<{ rows: number; bytes: Buffer }> {
  const names = columnNames(source).map(identifier);
  const { bytes } = await engine.query(
    sql`SELECT ${names} FROM ${identifier(source.table)}
     WHERE ${isOn(day)} AND ${isAfter(after)} AND ${isUpTo(upTo)}`.text,
    {},
    { format: 'TabSeparated' },
  );
  return { rows: countRows(bytes), bytes };
}

// Column by column, since the primary index is not used for comparisons of tuples.
function isAfter(place: SortPosition | undefined): Sql {
  if (place === undefined) return sql`true`;
  const { project, timestamp, id } = inSql(place);
  return sql`(project > ${project} OR (project = ${project} AND (timestamp > ${timestamp} OR (timestamp = ${timestamp} AND id > ${id}))))`;
}

/** Writes the condition of rows up to and including a position. */
export function isUpTo(place: SortPosition): Sql {
  const { project, timestamp, id } = inSql(place);
  return sql`(project < ${project} OR (project = ${project} AND (timestamp < ${timestamp} OR (timestamp = ${timestamp} AND id <= ${id}))))`;
}

function inSql({ project, timestamp, id }: SortPosition) {
  return { project: sql`unhex(${project})`, timestamp: instant(BigInt(timestamp)), id: sql`unhex(${id})` };
}

const NEWLINE = 0x0a;

/** A row contains one newline, at its end. */
function countRows(bytes: Buffer): number {
  let rows = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) rows++;
  return rows;
}

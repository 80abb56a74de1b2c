import type { Source } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import { columnNames } from '../engine/table.ts';
import { instant, isOn } from './digest.ts';

/** A place in the order of a table's key. Texts as hexadecimal digits, so that no byte of them is lost on the way. */
export interface Place {
  readonly project: string;
  /** µs since the epoch. */
  readonly timestamp: string;
  readonly id: string;
}

export interface ChunkBounds {
  readonly rowsMax: number;
  /** Of the rows as the engine has them in memory. */
  readonly bytesMax: number;
}

/**
 * Where the chunk ends that begins behind `after`: at the last row within the bounds. Rows of one place are never parted, since
 * nothing tells them apart, so that a chunk may have more of them than its bounds.
 *
 * @returns `undefined` where the day has no more rows
 */
export async function findChunkEnd(
  engine: Engine,
  source: Source,
  { day, after, bounds }: { day: string; after: Place | undefined; bounds: ChunkBounds },
): Promise<Place | undefined> {
  const key = '(project, timestamp, id)';
  const [row] = await engine.inspect(
    `SELECT count() AS rows, if(countIf(fits) > 0, maxIf(${key}, fits), min(${key})) AS last,
       hex(last.1) AS last_project, toString(toUnixTimestamp64Micro(last.2)) AS last_timestamp, hex(last.3) AS last_id
     FROM (
       SELECT project, timestamp, id,
         sum(bytes) OVER (ORDER BY project, timestamp, id) <= ${bounds.bytesMax} AS fits
       FROM (
         SELECT project, timestamp, id,
           byteSize(id, event_message, metadata, attributes) AS bytes
         FROM \`${source.table}\` WHERE ${isOn(day)} AND ${isAfter(after)}
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

/** The rows behind `after` up to and with `upTo`, in a form that `Engine.insert` takes as it is. */
export async function readChunk(
  engine: Engine,
  source: Source,
  { day, after, upTo }: { day: string; after: Place | undefined; upTo: Place },
): Promise<{ rows: number; bytes: Buffer }> {
  const names = columnNames(source).map((name) => `\`${name}\``);
  const { bytes } = await engine.query(
    `SELECT ${names.join(', ')} FROM \`${source.table}\`
     WHERE ${isOn(day)} AND ${isAfter(after)} AND ${isUpTo(upTo)}`,
    {},
    { format: 'TabSeparated' },
  );
  return { rows: countRows(bytes), bytes };
}

// One column after another instead of comparing tuples, of which the primary index makes nothing.
function isAfter(place: Place | undefined): string {
  if (place === undefined) return 'true';
  const { project, timestamp, id } = inSql(place);
  return `(project > ${project} OR (project = ${project} AND (timestamp > ${timestamp} OR (timestamp = ${timestamp} AND id > ${id}))))`;
}

/** Rows up to a place, itself among them. */
export function isUpTo(place: Place): string {
  const { project, timestamp, id } = inSql(place);
  return `(project < ${project} OR (project = ${project} AND (timestamp < ${timestamp} OR (timestamp = ${timestamp} AND id <= ${id}))))`;
}

function inSql({ project, timestamp, id }: Place): Place {
  return { project: `unhex('${project}')`, timestamp: instant(BigInt(timestamp)), id: `unhex('${id}')` };
}

const NEWLINE = 0x0a;

/** Each row ends with the only newline in it. */
function countRows(bytes: Buffer): number {
  let rows = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) rows++;
  return rows;
}

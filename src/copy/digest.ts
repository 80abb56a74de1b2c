import type { Source } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import { type TableColumn, tableColumns } from '../engine/table.ts';
import { identifier, type Sql, sql, trusted } from '../sql/sql.ts';

/**
 * Distinguishes two sets of rows in any order: their number, and the sum modulo 2^64 of a hash over all columns of each.
 * A sum, since in an XOR a row that is there twice would look like a missing one. Digests of disjoint sets add up.
 */
export interface Digest {
  readonly rows: number;
  readonly sum: bigint;
}

export const NO_ROWS: Digest = { rows: 0, sum: 0n };

const SUM_BITS = 64;
const TRUE = sql`true`;

// Bounds of a slice: a statement on the server has a minute, and this much is hashed in a few seconds.
const SLICE_ROWS_MAX = 5_000_000;
const SLICE_BYTES_MAX = 256 * 1024 * 1024;
const SLICES_MAX = 1_440;
const DAY_MICROS = 86_400_000_000n;

export interface DigestOptions {
  /** `2026-11-20` */
  readonly day: string;
  /** Condition on the rows of the day; all by default. */
  readonly where?: Sql;
  /** Approximate rows of the day. */
  readonly rows: number;
  /** Their approximate size on disk. */
  readonly bytes: number;
  /** Called between slices; an error that it throws ends the work. */
  readonly check: () => void;
}

/**
 * The digest of the rows of a day, read in slices of time with a statement each.
 *
 * @throws as `Engine.inspect`
 */
export async function readDigest(engine: Engine, source: Source, options: DigestOptions): Promise<Digest> {
  const { day, where = TRUE, rows, bytes, check } = options;
  const wanted = Math.ceil(Math.max(rows / SLICE_ROWS_MAX, bytes / SLICE_BYTES_MAX));
  const slices = BigInt(Math.min(SLICES_MAX, Math.max(1, wanted)));
  const start = BigInt(Date.parse(day)) * 1000n;
  let digest = NO_ROWS;
  for (let i = 0n; i < slices; i++) {
    check();
    // The first and last slice are open: `toDate` wraps around, so a day of the engine may hold times outside of it.
    const from = i === 0n ? TRUE : sql`timestamp >= ${instant(start + (DAY_MICROS * i) / slices)}`;
    const next = i + 1n;
    const until = next === slices ? TRUE : sql`timestamp < ${instant(start + (DAY_MICROS * next) / slices)}`;
    const [row] = await engine.inspect(
      sql`SELECT count() AS rows, toString(sumWithOverflow(${rowHash(source)})) AS sum FROM ${identifier(source.table)}
       WHERE ${isOn(day)} AND ${from} AND ${until} AND ${where}`,
    );
    digest = add(digest, { rows: Number(row?.['rows']), sum: BigInt(String(row?.['sum'])) });
  }
  return digest;
}

export function add(one: Digest, other: Digest): Digest {
  return { rows: one.rows + other.rows, sum: BigInt.asUintN(SUM_BITS, one.sum + other.sum) };
}

export function isSame(one: Digest, other: Digest): boolean {
  return one.rows === other.rows && one.sum === other.sum;
}

/** Selects the rows of a day, which is a partition. */
export function isOn(day: string): Sql {
  return sql`toDate(timestamp) = ${day}`;
}

/** Writes an instant in SQL, from microseconds since the epoch. */
export function instant(micros: bigint): Sql {
  return sql`fromUnixTimestamp64Micro(${micros}, 'UTC')`;
}

function rowHash(source: Source): Sql {
  return trusted(`sipHash64(${tableColumns(source).flatMap(hashed).join(', ')})`);
}

/** Writes each column in a form that both engines hash alike, for any type; NULL differs from an empty string. */
function hashed({ name, type }: TableColumn): string[] {
  if (type.includes('Nullable')) return [`isNull(\`${name}\`)`, `ifNull(toString(\`${name}\`), '')`];
  return [type.startsWith('DateTime64') ? `toUnixTimestamp64Micro(\`${name}\`)` : `toString(\`${name}\`)`];
}

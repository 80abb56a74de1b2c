import { sql } from '../sql/sql.ts';
import type { Engine } from './engine.ts';

/**
 * What tells whether the rows of a table are still the same, by the engine's records of its parts: nothing that another program or a
 * killed process has written, deleted or dropped goes unnoticed. Merges change none of it.
 */
export interface TableFingerprint {
  /** The table's identity, definition and mutations, as a text. */
  readonly table: string;
  /** Whether the engine is still rewriting parts: rows change without a write. */
  readonly isRewriting: boolean;
  /** `2026-11-20` → that of its rows, as a text. */
  readonly days: ReadonlyMap<string, string>;
}

/** Table → its fingerprint. */
export type StoreFingerprint = ReadonlyMap<string, TableFingerprint>;

/**
 * Reads the fingerprints of all tables of the embedded store. Of a write that is under way meanwhile, it may have a part.
 *
 * @throws the errors of `Engine.inspect`
 */
export async function readFingerprint({ inspect }: Pick<Engine, 'inspect'>): Promise<StoreFingerprint> {
  const tables = await inspect(
    sql`SELECT name, concat(toString(uuid), ' ', hex(sipHash64(create_table_query))) AS found
     FROM system.tables WHERE database = currentDatabase()`,
  );
  const mutations = await inspect(
    sql`SELECT table, toString(max(toUInt64OrZero(extract(mutation_id, '[0-9]+')))) AS last, countIf(NOT is_done) AS left
     FROM system.mutations WHERE database = currentDatabase() GROUP BY table`,
  );
  // A part's name ends with its mutation, if it was rewritten. Each insert has a block, numbered in order; a dropped day leaves empty parts for a while.
  const days = await inspect(
    sql`SELECT table, partition AS day, concat(toString(sum(rows)), ' ', toString(min(min_block_number)), ' ', toString(max(max_block_number)), ' ',
       toString(max(toUInt64OrZero(arrayElement(splitByChar('_', name), 5))))) AS found
     FROM system.parts WHERE database = currentDatabase() AND active AND rows > 0 GROUP BY table, day`,
  );
  const mutationsOf = new Map(mutations.map((row) => [row['table'], row]));
  const daysOf = Map.groupBy(days, ({ table }) => table);
  return new Map(
    tables.map(({ name, found }) => {
      const mutation = mutationsOf.get(name);
      const own = (daysOf.get(name) ?? []).map((row) => [String(row['day']), String(row['found'])] as const);
      return [
        String(name),
        {
          table: `${found} ${mutation?.['last'] ?? 0}`,
          isRewriting: Number(mutation?.['left'] ?? 0) > 0,
          days: new Map(own),
        },
      ];
    }),
  );
}

import type { Query } from '../lib/postgres.ts';
import type { KeyRecord } from './key-record.ts';
import {
  ownerOf,
  SEARCH_COLUMNS,
  SEARCHES_MAX,
  type SearchStore,
  toSavedSearch,
  toSearchRow,
} from './saved-search.ts';

export interface PostgresSearchesOptions {
  readonly ask: Query;
  /** Runs a transaction during which no other process changes keys or searches. */
  readonly change: <T>(work: (query: Query) => Promise<T>) => Promise<T>;
}

export function createPostgresSearches({ ask, change }: PostgresSearchesOptions): SearchStore {
  return {
    async list(owners) {
      const rows = await ask('SELECT * FROM tailrace_searches WHERE owner = ANY($1)', [owners]);
      return rows.map(toSavedSearch);
    },
    save: (search) =>
      change(async (query) => {
        const [row] = await query(
          `INSERT INTO tailrace_searches AS old (${SEARCH_COLUMNS.join(', ')}) SELECT $1, $2, $3, $4, $5::bigint, $6::bigint
            WHERE (SELECT count(*) FROM tailrace_searches WHERE owner = $2 AND name <> $3) < ${SEARCHES_MAX}
            ON CONFLICT (owner, name) DO UPDATE SET address = excluded.address, updated_ms = excluded.updated_ms
            RETURNING old.*`,
          toSearchRow(search),
        );
        return row === undefined ? undefined : toSavedSearch(row);
      }),
    async remove(owner, id) {
      const sql = 'DELETE FROM tailrace_searches WHERE owner = $1 AND id = $2 RETURNING id';
      return (await ask(sql, [owner, id])).length > 0;
    },
  };
}

/** Deletes the searches of a key that has been revoked, unless another key of its rotations is in use. */
export async function endSearches(query: Query, revoked: KeyRecord): Promise<void> {
  await query(
    `DELETE FROM tailrace_searches WHERE owner = $1 AND NOT EXISTS
      (SELECT FROM tailrace_keys WHERE (id = $1 OR origin = $1) AND revoked_ms IS NULL AND successor IS NULL)`,
    [ownerOf(revoked)],
  );
}

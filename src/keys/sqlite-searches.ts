import type { DatabaseSync } from 'node:sqlite';
import type { KeyRecord } from './key-record.ts';
import {
  ownerOf,
  SEARCH_COLUMNS,
  SEARCHES_MAX,
  type SearchStore,
  toSavedSearch,
  toSearchRow,
} from './saved-search.ts';

export interface SqliteSearchesOptions {
  /** Maps failures. */
  readonly read: <T>(work: () => T) => T;
  /** Maps failures of a transaction. */
  readonly write: <T>(work: () => T) => T;
}

export function createSqliteSearches(
  database: DatabaseSync,
  { read, write }: SqliteSearchesOptions,
): SearchStore {
  const list = database.prepare('SELECT * FROM searches WHERE owner IN (SELECT value FROM json_each(?))');
  const save = database.prepare(
    `INSERT INTO searches (${SEARCH_COLUMNS.join(', ')}) SELECT ?1, ?2, ?3, ?4, ?5, ?6
      WHERE (SELECT count(*) FROM searches WHERE owner = ?2 AND name <> ?3) < ${SEARCHES_MAX}
      ON CONFLICT (owner, name) DO UPDATE SET address = excluded.address, updated_ms = excluded.updated_ms
      RETURNING *`,
  );
  const remove = database.prepare('DELETE FROM searches WHERE owner = ? AND id = ?');
  return {
    list: async (owners) => read(() => list.all(JSON.stringify(owners)).map(toSavedSearch)),
    save: async (search) =>
      write(() => {
        const row = save.get(...toSearchRow(search));
        return row === undefined ? undefined : toSavedSearch(row);
      }),
    remove: async (owner, id) => write(() => remove.run(owner, id).changes > 0),
  };
}

/** Deletes the searches of a key that has been revoked, unless another key of its rotations is in use. */
export function createSearchEnd(database: DatabaseSync): (revoked: KeyRecord) => void {
  const end = database.prepare(
    `DELETE FROM searches WHERE owner = ?1 AND NOT EXISTS
      (SELECT 1 FROM keys WHERE (id = ?1 OR origin = ?1) AND revoked_ms IS NULL AND successor IS NULL)`,
  );
  return (revoked) => void end.run(ownerOf(revoked));
}

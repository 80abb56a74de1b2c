import type { KeyRecord } from './key-record.ts';
import { ownerOf, type SavedSearch, SEARCHES_MAX } from './saved-search.ts';
import type { Row, Statement } from './statement.ts';

/** Shared searches in a list, at most. */
const SHARED_LISTED_MAX = 1_000;

/** Saved searches in a control store. They are deleted when the last key of their owner is revoked. */
export interface SearchStore {
  /** Lists the searches of an owner in no particular order. */
  list(owner: string): Promise<SavedSearch[]>;
  /**
   * Lists the searches that are shared, those saved last first, at most `SHARED_LISTED_MAX`.
   *
   * @param reader `reach`: of their authors, any if `undefined`; `shared`: with whom, any if `undefined`
   */
  listShared(reader: {
    readonly reach: string | undefined;
    readonly shared: readonly string[] | undefined;
  }): Promise<SavedSearch[]>;
  /** Lists searches of all owners by id, after the one with `id`. */
  listAfter(id: string, limit: number): Promise<SavedSearch[]>;
  /**
   * Adds a search; one of the same owner and name keeps its id and the time of its creation.
   *
   * @returns what is stored now; `undefined` if the owner has `SEARCHES_MAX` others
   */
  save(search: SavedSearch): Promise<SavedSearch | undefined>;
  /** @param from an owner, or every shared search. @returns whether there was one */
  remove(id: string, from: { readonly owner: string } | 'shared'): Promise<boolean>;
}

export interface SearchDatabase {
  /** Runs a statement; tables are named as in PostgreSQL. */
  run(statement: Statement): Promise<readonly Row[]>;
  /** Runs a statement during which no other process changes keys or searches. */
  change(statement: Statement): Promise<readonly Row[]>;
}

const COLUMNS = 'id, owner, name, address, shared, reach, author, created_ms, updated_ms';

const SAVE = `INSERT INTO tailrace_searches (${COLUMNS})
  SELECT $1, $2, $3, $4, $5, $6, $7, CAST($8 AS bigint), CAST($9 AS bigint)
  WHERE (SELECT count(*) FROM tailrace_searches WHERE owner = $2 AND name <> $3) < ${SEARCHES_MAX}
  ON CONFLICT (owner, name) DO UPDATE SET address = excluded.address, shared = excluded.shared, reach = excluded.reach,
    author = excluded.author, updated_ms = excluded.updated_ms
  RETURNING ${COLUMNS}`;

export function createSearchStore({ run, change }: SearchDatabase): SearchStore {
  const list = async (rest: string, values: Statement['values']) => {
    const rows = await run({ text: `SELECT ${COLUMNS} FROM tailrace_searches ${rest}`, values });
    return rows.map(toSavedSearch);
  };
  return {
    list: (owner) => list('WHERE owner = $1', [owner]),
    listShared({ reach, shared }) {
      const values = [...(reach === undefined ? [] : [reach]), ...(shared ?? [])];
      const marks = shared?.map((mark) => `$${values.indexOf(mark) + 1}`);
      return list(
        `WHERE ${marks === undefined ? "shared <> ''" : `shared IN (${marks.join(', ')})`} ${reach === undefined ? '' : 'AND reach = $1'}
          ORDER BY updated_ms DESC, id LIMIT ${SHARED_LISTED_MAX}`,
        values,
      );
    },
    listAfter: (id, limit) => list('WHERE id > $1 ORDER BY id LIMIT $2', [id, limit]),
    async save({ id, owner, name, address, shared, reach, author, createdMs, updatedMs }) {
      const values = [id, owner, name, address, shared, reach, author, createdMs, updatedMs];
      const [row] = await change({ text: SAVE, values });
      return row === undefined ? undefined : toSavedSearch(row);
    },
    async remove(id, from) {
      const [condition, values] =
        from === 'shared' ? ["shared <> ''", [id]] : ['owner = $2', [id, from.owner]];
      const text = `DELETE FROM tailrace_searches WHERE id = $1 AND ${condition} RETURNING id`;
      return (await run({ text, values })).length > 0;
    },
  };
}

/** Deletes the searches of a key that has been revoked, unless another key of its rotations is in use. */
export function endSearches(revoked: KeyRecord): Statement {
  return {
    text: `DELETE FROM tailrace_searches WHERE owner = $1 AND NOT EXISTS
      (SELECT 1 FROM tailrace_keys WHERE (id = $1 OR origin = $1) AND revoked_ms IS NULL AND successor IS NULL)`,
    values: [ownerOf(revoked)],
  };
}

function toSavedSearch(row: Row): SavedSearch {
  return {
    id: String(row['id']),
    owner: String(row['owner']),
    name: String(row['name']),
    address: String(row['address']),
    shared: String(row['shared']),
    reach: String(row['reach']),
    author: String(row['author']),
    createdMs: Number(row['created_ms']),
    updatedMs: Number(row['updated_ms']),
  };
}

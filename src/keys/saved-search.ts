/** A search that is kept for a key. Times are ms since the epoch. */
export interface SavedSearch {
  readonly id: string;
  /** `ownerOf` the key. */
  readonly owner: string;
  /** Unique among those of the owner. */
  readonly name: string;
  /** Query string of the console's page Explore. */
  readonly address: string;
  readonly createdMs: number;
  readonly updatedMs: number;
}

/** Searches of one owner, at most. */
export const SEARCHES_MAX = 100;

/** Saved searches in a control store. They are deleted when the last key of their owner is revoked. */
export interface SearchStore {
  /** Lists searches in no particular order. */
  list(owners: readonly string[]): Promise<SavedSearch[]>;
  /**
   * Adds a search; one of the same owner and name keeps its id and the time of its creation.
   *
   * @returns what is stored now; `undefined` if the owner has `SEARCHES_MAX` others
   */
  save(search: SavedSearch): Promise<SavedSearch | undefined>;
  /** @returns whether there was one */
  remove(owner: string, id: string): Promise<boolean>;
}

/** Returns the owner of a key's searches: keys that were rotated share them, and the first of these keys owns them. */
export function ownerOf({
  id,
  origin,
}: {
  readonly id: string;
  readonly origin: string | undefined;
}): string {
  return origin ?? id;
}

export const SEARCH_COLUMNS = ['id', 'owner', 'name', 'address', 'created_ms', 'updated_ms'] as const;

/** Returns the values in the order of `SEARCH_COLUMNS`. */
export function toSearchRow({ id, owner, name, address, createdMs, updatedMs }: SavedSearch) {
  return [id, owner, name, address, createdMs, updatedMs] as const;
}

export function toSavedSearch(row: Readonly<Record<string, unknown>>): SavedSearch {
  return {
    id: String(row['id']),
    owner: String(row['owner']),
    name: String(row['name']),
    address: String(row['address']),
    createdMs: Number(row['created_ms']),
    updatedMs: Number(row['updated_ms']),
  };
}

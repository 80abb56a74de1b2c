import type { TailRow } from './read-back.ts';

/**
 * Distinguishes new rows from those of the previous reading. Rows with the same position are distinguished by their number first, then
 * by their bytes: a query may write the same row differently each time.
 *
 * @param known in any order
 */
export function createNews(known: readonly TailRow[]) {
  const knownByName = Map.groupBy(known, ({ name }) => name);
  const countKnown = (name: string) => knownByName.get(name)?.length ?? 0;
  return {
    /** Whether there are new rows among those of the last position. @param rows in order */
    endWith(rows: readonly TailRow[]): boolean {
      const name = rows.at(-1)?.name;
      if (name === undefined) return false;
      const before = rows.findLastIndex((row) => row.name !== name) + 1;
      return rows.length - before > countKnown(name);
    },
    /** Returns the new rows, in the order of `rows`. */
    find(rows: readonly TailRow[]): TailRow[] {
      const found = new Set<TailRow>();
      for (const [name, same] of Map.groupBy(rows, (row) => row.name)) {
        const count = same.length - countKnown(name);
        for (const row of sortKnownLast(same, knownByName.get(name) ?? []).slice(0, Math.max(count, 0)))
          found.add(row);
      }
      return rows.filter((row) => found.has(row));
    },
  };
}

function sortKnownLast(rows: readonly TailRow[], known: readonly TailRow[]): readonly TailRow[] {
  if (known.length === 0) return rows;
  const texts = new Map<string, number>();
  for (const { row } of known) texts.set(row.toString(), (texts.get(row.toString()) ?? 0) + 1);
  const [fresh, old]: [TailRow[], TailRow[]] = [[], []];
  for (const one of rows) {
    const text = one.row.toString();
    const left = texts.get(text) ?? 0;
    if (left > 0) texts.set(text, left - 1);
    (left > 0 ? old : fresh).push(one);
  }
  return [...fresh, ...old];
}

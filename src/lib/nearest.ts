const SHOWN_MAX = 3;
// Longer texts are not names, and the time grows with the product of the lengths.
const CHARS_MAX = 64;

/**
 * Returns the names that a mistyped one may mean, nearest first: those that differ by few letters, in any letter case,
 * or begin with it.
 */
function findNearest(given: string, names: readonly string[]): string[] {
  const text = given.slice(0, CHARS_MAX).toLowerCase();
  const near = names.flatMap((name) => {
    const other = name.slice(0, CHARS_MAX).toLowerCase();
    const longer = Math.abs(other.length - text.length); // there are at least as many changes
    if (text.length > 1 && other.startsWith(text)) return [{ name, changes: longer }];
    const changesMax = Math.min(other.length - 1, Math.max(1, Math.floor(other.length / 3)));
    const changes = longer > changesMax ? longer : countChanges(text, other);
    return changes <= changesMax ? [{ name, changes }] : [];
  });
  return near
    .toSorted((a, b) => a.changes - b.changes)
    .slice(0, SHOWN_MAX)
    .map(({ name }) => name);
}

/** Writes the end of a message about an unknown name: `; did you mean logs.all?`; empty if no name is near. */
export function describeNearest(given: string, names: readonly string[]): string {
  const near = findNearest(given, names);
  return near.length === 0 ? '' : `; did you mean ${near.join(' or ')}?`;
}

/** Counts the letters to insert, remove, replace or exchange with their neighbour (Damerau-Levenshtein distance). */
function countChanges(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row[j] = Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [before, last] = [last, row];
  }
  return last[b.length] ?? 0;
}

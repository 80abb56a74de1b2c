/** A part of a text. Offsets are UTF-16 units. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** A replacement for a part of a text; an insertion if the part is empty. */
export interface Edit extends TextRange {
  readonly text: string;
}

/** A text with its edits, in any order. Of two edits of the same place only the outer one applies. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  return applyEditsIn(text, edits, [{ start: 0, end: text.length }]).join('');
}

/**
 * The same for some ranges of a text, in one pass over them.
 *
 * @param ranges in order; each edit is inside or outside of each of them
 */
export function applyEditsIn(text: string, edits: readonly Edit[], ranges: readonly TextRange[]): string[] {
  const sorted = edits.toSorted((a, b) => a.start - b.start || rankOf(b) - rankOf(a));
  let next = 0;
  return ranges.map(({ start, end }) => {
    let edited = '';
    let at = start;
    for (let edit = sorted[next]; edit !== undefined && edit.end <= end; edit = sorted[++next]) {
      if (edit.start < at) continue;
      edited += text.slice(at, edit.start) + edit.text;
      at = edit.end;
    }
    return edited + text.slice(at, end);
  });
}

/** Orders edits that start at one place: insertions first, then the longest. */
function rankOf({ start, end }: Edit): number {
  return end === start ? Number.POSITIVE_INFINITY : end;
}

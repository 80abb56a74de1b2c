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
  let edited = '';
  let at = 0;
  for (const edit of edits.toSorted((a, b) => a.start - b.start || rankOf(b) - rankOf(a))) {
    if (edit.start < at) continue;
    edited += text.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return edited + text.slice(at);
}

/** Orders edits that start at one place: insertions first, then the longest. */
function rankOf({ start, end }: Edit): number {
  return end === start ? Number.POSITIVE_INFINITY : end;
}

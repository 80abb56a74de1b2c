/** A fault of a text. */
export interface Fault {
  readonly message: string;
  /** From 1; without one the fault concerns the whole text. */
  readonly line?: number | undefined;
  /** From 1; without one the fault concerns the whole line. */
  readonly column?: number | undefined;
}

/** The place to mark for a fault: its word, or its line without the indentation; undefined: the fault has no place. */
export function placeOf(text: string, { line, column }: Fault): { from: number; to: number } | undefined {
  if (line === undefined) return undefined;
  const lines = text.split('\n');
  const index = Math.min(Math.max(line, 1), lines.length) - 1;
  const content = lines[index] ?? '';
  const start = lines.slice(0, index).reduce((sum, one) => sum + one.length + 1, 0);
  if (column === undefined) {
    const indent = content.length - content.trimStart().length;
    return { from: start + indent, to: start + Math.max(indent, content.trimEnd().length) };
  }
  const at = Math.min(Math.max(column - 1, 0), Math.max(content.length - 1, 0));
  const [word = ''] = /^@?\w+|^./u.exec(content.slice(at)) ?? [];
  return { from: start + at, to: start + at + word.length };
}

/** Quotes for a shell, which leaves everything within single quotes as it is. */
export function quoteShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

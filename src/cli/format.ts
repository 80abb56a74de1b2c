/** `1,234,567` */
export function formatCount(count: number): string {
  return count.toLocaleString('en');
}

/** Writes `1 event`, `1,234 events`. */
export function formatCounted(count: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : plural}`;
}

/** `a, b and c` */
export function joinWords(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

/** `2026-11-20 07:00`, UTC. */
export function formatMinute(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16).replace('T', ' ');
}

/** Replaces control characters, which a terminal obeys: texts of events come from anybody. Line breaks stay. */
export function toPrintable(text: string): string {
  return text.replace(/(?!\n)[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');
}

/** Formats rows in columns, each as wide as its longest cell, so the longest texts belong into the last one. */
export function formatTable(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const lines = [head, ...rows].map((row) =>
    row.map((cell) => toPrintable(String(cell)).replaceAll('\n', ' ')),
  );
  const widths = head.map((_, i) => Math.max(...lines.map((line) => [...(line[i] ?? '')].length)));
  const pad = (cell: string, i: number) => cell + ' '.repeat((widths[i] ?? 0) - [...cell].length);
  return lines.map((line) => line.map(pad).join('  ').trimEnd()).join('\n');
}

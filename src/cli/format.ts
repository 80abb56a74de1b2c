/** `1,234,567` */
export function formatCount(count: number): string {
  return count.toLocaleString('en');
}

/** Writes `1 event`, `1,234 events`. */
export function formatCounted(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
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

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

// Longer texts and values are cut, since a shortened message is better than none: a label can have 64 KiB.
const TEXT_CHARS_MAX = 4_000;
const COLUMN_CHARS_MAX = 1_000;
const QUOTE_CHARS_MAX = 60;
// Columns may have any name without braces.
const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;

/**
 * Replaces each `{{ name }}` by its value; null, and names without a value, are empty. Nothing is escaped: each kind of
 * receivers escapes what it would read as markup.
 */
export function renderText(text: string, values: Readonly<Record<string, string | number | null>>): string {
  const own = new Map(
    Object.entries(values).map(([name, value]) => [name, shorten(String(value ?? ''), COLUMN_CHARS_MAX)]),
  );
  const written = text.replace(PLACEHOLDER, (_, name: string) => own.get(name.trim()) ?? '');
  return shorten(written, TEXT_CHARS_MAX);
}

/** Finds what is in braces, but is not one of these names: other columns, and other syntax of templates. */
export function findTextFaults(text: string, known: readonly string[]): string[] {
  const placeholders = [...text.matchAll(PLACEHOLDER)];
  const unknown = placeholders.filter(([, name = '']) => !known.includes(name.trim())).map(([all]) => all);
  const others = text.replace(PLACEHOLDER, '').match(/\{[{%].*/) ?? [];
  const allowed = known.map((name) => `{{ ${name} }}`).join(', ');
  const quote = (found: string) => JSON.stringify(shorten(found, QUOTE_CHARS_MAX));
  return [...new Set([...unknown, ...others])].map(
    (found) => `has ${quote(found)}; in braces only a name is allowed: ${allowed}`,
  );
}

const VALUE_CHARS_MAX = 200;

/** Removes line breaks and other control characters of a row's value and cuts it. */
export function oneLine(text: string, charsMax: number = VALUE_CHARS_MAX): string {
  const line = text.slice(0, charsMax * 2).replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
  return shorten(line, charsMax);
}

/** Cuts a text, with `…` at its end, never within a sign. */
export function shorten(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text.toWellFormed();
  const start = text.slice(0, charsMax - 1).toWellFormed();
  return `${start.replace(/\uFFFD$/, '')}…`;
}

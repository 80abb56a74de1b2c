import { writeValue } from '../../sql/quote.ts';

/** Characters of a message that are looked at; a longer one ends with `…`. */
const CHARS_MAX = 500;

/**
 * What stands for the parts of a message that vary, in the order of the replacements: patterns of RE2, whose time is linear. Texts such as
 * `v1` and `db2` keep their digits; a word that mixes digits and letters is an identifier.
 */
const REPLACEMENTS: readonly (readonly [pattern: string, by: string])[] = [
  [
    String.raw`\b[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?: ?(?:Z|UTC|[+-][0-9]{2}:?[0-9]{2}))?)?\b`,
    '<time>',
  ],
  [String.raw`\b[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?\b`, '<time>'],
  [String.raw`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`, '<id>'],
  [String.raw`[\w.+-]+@[\w-]+(?:\.[\w-]+)+`, '<email>'],
  [
    String.raw`\b[0-9]{1,3}(?:\.[0-9]{1,3}){3}\b|\b(?:[0-9a-fA-F]{1,4}:){3,7}:?[0-9a-fA-F]{1,4}\b|\b[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{1,4}){0,5}::(?:[0-9a-fA-F]{1,4})?`,
    '<ip>',
  ],
  [String.raw`\b0[xX][0-9a-fA-F]+\b`, '<hex>'],
  // A number between other characters than those of words, with its fractions, and one before its unit.
  [String.raw`(\b|_)[0-9]+(?:[.,][0-9]+)*(\b|_|[a-zA-Z%]{1,2}\b)`, String.raw`\1<num>\2`],
  [String.raw`\b[0-9a-f]{7,}\b|\b[0-9A-F]{7,}\b|\b[A-Za-z]*(?:[0-9]+[A-Za-z]+){2,}[0-9]*\b`, '<id>'],
  ['[0-9]{3,}', '<num>'],
];

/** Writes the message with a mark for each part that varies by its form. */
export function writeNormalForm(message: string): string {
  const cut = `if(length(${message}) > ${CHARS_MAX}, concat(substringUTF8(${message}, 1, ${CHARS_MAX}), '…'), ${message})`;
  return REPLACEMENTS.reduce(
    (sql, [pattern, by]) => `replaceRegexpAll(${sql}, ${writeValue(pattern)}, ${writeValue(by)})`,
    cut,
  );
}

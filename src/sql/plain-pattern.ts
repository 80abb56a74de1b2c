/**
 * Parts of a regular expression that ClickHouse's own reading of it gets right; each stands for one token of the pattern.
 * A pattern can be cut into them in one way only: with two ways for a part, the time would double with each such part.
 */
const PLAIN_PARTS = [
  /[^\\[\](){}?*+^$.|\0\x80-\u{10ffff}]/u, // a character of ASCII that is no sign of a pattern
  /[\x80-\u{10ffff}](?![?*{])/u, // ClickHouse makes only the last byte of such a character optional
  /\\[!-/:-@[-`{-~]/u, // an escaped sign
  /\\[dDwWsSbB]/u,
  /[.^$|)]/u,
  /\((?!\?)|\(\?:/u, // no flags and no names
  /\[(?!\^\])(?:[^\\[\]\0]|\\[!-/:-@[-`{-~]|\\[dDwWsS])+\]/u, // a class without brackets of its own
  /(?:[*+?]|\{\d+(?:,\d*)?\})\??(?![*+?{])/u, // RE2 refuses a second one
];

const PLAIN = new RegExp(`^(?:${PLAIN_PARTS.map((part) => part.source).join('|')})*$`, 'u');

/**
 * Whether a pattern has nothing but the common syntax of regular expressions. ClickHouse reads patterns by itself before RE2
 * does, to skip data and texts that cannot match; beyond this syntax it skips some that do.
 */
export function isPlainPattern(pattern: string): boolean {
  return PLAIN.test(pattern);
}

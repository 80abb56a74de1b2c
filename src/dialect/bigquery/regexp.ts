import { findGroups, findPatternFault } from '../../sql/pattern.ts';
import { writeValue } from '../../sql/quote.ts';
import { createMatcher } from '../../sql/text-matcher.ts';
import { type BigQueryFunction, WrongType } from './convert.ts';

/** Checks a regular expression of a caller. @throws WrongType for a pattern that is rejected */
export function readPattern(pattern: string): string {
  const fault = findPatternFault(pattern);
  if (fault !== undefined) throw new WrongType(`has a pattern that ${fault}`);
  if (typeof createMatcher(pattern) === 'string')
    throw new WrongType(
      `has ${JSON.stringify(pattern.slice(0, 60))}, which is not a regular expression of RE2`,
    );
  return pattern;
}

/** In ClickHouse a dot is also the end of a line. */
const writePattern = (pattern: string) => writeValue(pattern.includes('.') ? `(?-s)${pattern}` : pattern);

// Without any of these each part of a pattern matches a character.
const MAY_BE_EMPTY = /[*?|{^$]|\\[AbBzQ]|\(\)|^$/;

function canBeEmpty(pattern: string): boolean {
  if (!MAY_BE_EMPTY.test(pattern)) return false; // compiling takes time
  const matcher = createMatcher(`^(?:${pattern})$`);
  return typeof matcher === 'string' || matcher.matches('');
}

// The engine searches for each match as if the text began after the one before, and stops at an empty match.
const AT_PLACE = /(?<!\[)\^|\\[AbB]/;

/**
 * The text of the group, or of the match if the pattern has none; NULL without a match, and for a group without a part in the match, for
 * which the engine has the empty text.
 */
function writeExtract(value: string, pattern: string, position = '1', occurrence = '1'): string {
  const groups = findGroups(pattern);
  if (groups.length > 1)
    throw new WrongType(
      `calls regexp_extract with a pattern of ${groups.length} groups; write others as (?:…)`,
    );
  const [start, nth] = [Number(position), Number(occurrence)];
  if (start === 0 || nth === 0)
    throw new WrongType('calls regexp_extract with a position or an occurrence of 0; both count from 1');
  if (nth > 1 && (AT_PLACE.test(pattern) || canBeEmpty(pattern)))
    throw new WrongType(
      'calls regexp_extract with an occurrence beyond 1 and a pattern that has ^, \\A, \\b or \\B, or matches the empty text; this is not understood',
    );
  const text = start === 1 ? value : `substringUTF8(${value}, ${start})`;
  const written = writePattern(pattern);
  const all = `extractAll(ifNull(${text}, ''), ${written})`;
  const found = nth === 1 ? `extract(${text}, ${written})` : `${all}[${nth}]`;
  const tests = [
    nth === 1 ? `match(${text}, ${written})` : `length(${all}) >= ${nth}`,
    ...(start === 1 ? [] : [`lengthUTF8(${value}) >= ${start}`]),
  ];
  const [group] = groups;
  const own = group === undefined || canBeEmpty(group) ? found : `nullIf(${found}, '')`;
  return `if(${tests.join(' AND ')}, ${own}, NULL)`;
}

const extract: BigQueryFunction = {
  args: ['string', 'pattern', 'count', 'count'],
  optional: 2,
  type: 'string',
  write: writeExtract,
};

export const REGEXP_FUNCTIONS: Readonly<Record<string, BigQueryFunction>> = {
  regexp_contains: {
    args: ['string', 'pattern'],
    type: 'bool',
    write: (text, pattern) => `match(${text}, ${writePattern(pattern)})`,
  },
  regexp_extract: extract,
  regexp_substr: extract,
};

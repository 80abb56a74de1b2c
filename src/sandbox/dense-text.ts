import { parseSql } from '../sql/parse.ts';
import { scanTokens } from '../sql/token.ts';
import { assertBound, BOUNDS } from './refusal.ts';

/** The text between two brackets, or CASE and END. */
interface Bracket {
  readonly isCase: boolean;
  /** BETWEENs in the current operand, each on the left of the next. */
  operand: number;
  /** The largest `operand` so far. */
  most: number;
  /** BETWEENs without their AND yet. */
  open: number;
}

/**
 * Rejects texts that take the engine's parser too long: brackets within brackets, and `x BETWEEN 1 AND 2`, which it expands to
 * `x >= 1 AND x <= 2`, so that each BETWEEN on the left of another doubles the text. @throws TailraceError `invalid_parameter`
 */
export function assertDepth(sql: string): void {
  assertWordCount(sql);
  const levels = [openLevel('')];
  let before = '';
  for (const { key } of parseSql(sql).words) {
    const token = key === '' ? 'x' : key; // quoted names and texts are operands
    takeToken(token, before, levels);
    before = token;
    assertBound('brackets', levels.length - 1);
    assertBound('betweens', levels.at(-1)?.operand ?? 0);
  }
}

/** Stops at the bound: reading all words of a much longer text would delay other requests. */
function assertWordCount(sql: string): void {
  if (sql.length <= BOUNDS.tokens.max) return; // each word has a character
  let count = 0;
  for (const { kind } of scanTokens(sql)) if (kind !== 'comment') assertBound('tokens', ++count);
}

const OPENING: ReadonlySet<string> = new Set(['(', '[', '{', 'CASE']);
const CLOSING: ReadonlySet<string> = new Set([')', ']', '}']);

function openLevel(token: string): Bracket {
  return { isCase: token === 'CASE', operand: 0, most: 0, open: 0 };
}

function takeToken(token: string, before: string, levels: Bracket[]): void {
  if (OPENING.has(token)) levels.push(openLevel(token));
  else if (token === 'END' && levels.at(-1)?.isCase === true) closeLevel(levels);
  else if (CLOSING.has(token)) {
    while (levels.at(-1)?.isCase === true) closeLevel(levels); // `case` was a name
    closeLevel(levels);
  } else takeOperand(token, before, levels.at(-1));
}

/** The closed level is a part of an operand of the level around it. */
function closeLevel(levels: Bracket[]): void {
  const closed = levels.length > 1 ? levels.pop() : undefined;
  const level = levels.at(-1);
  if (closed === undefined || level === undefined) return;
  level.operand = Math.max(level.operand, closed.most);
  level.most = Math.max(level.most, level.operand);
}

/** Another operand begins after these; `takeOperand` handles AND. */
const BOUNDARY =
  /^(?:OR|SELECT|FROM|WHERE|HAVING|QUALIFY|ON|BY|WHEN|THEN|ELSE|UNION|EXCEPT|INTERSECT|LIMIT)$/;
/** An operand follows these, even if its name is `by` or `and`. */
const NO_OPERAND =
  /^(?:[^\w)\]]|AND|NOT|BETWEEN|IN|LIKE|ILIKE|REGEXP|IS|DISTINCT|DIV|MOD|CASE|INTERVAL|ESCAPE|ZONE|)$/;

function takeOperand(token: string, before: string, level: Bracket | undefined): void {
  if (level === undefined) return;
  const endsOperand = !NO_OPERAND.test(before) && !BOUNDARY.test(before);
  if (token === 'BETWEEN') {
    level.operand++;
    level.open++;
    level.most = Math.max(level.most, level.operand);
  } else if (token === ',') level.operand = 0;
  else if (token === 'AND' && level.open > 0 && endsOperand) level.open--;
  else if (endsOperand && (token === 'AND' || BOUNDARY.test(token))) level.operand = 0;
}

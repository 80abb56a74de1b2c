import type { Endpoint } from '../../definitions/endpoint.ts';
import { NOW_PARAMETER } from '../../definitions/parameter.ts';
import { createRewriter } from '../../sql/parameter.ts';
import { scanTokens, type Token } from '../../sql/token.ts';
import { PLAIN_NAME } from '../../sql/with-list.ts';
import { refuse, refuseBeyond } from './refusal.ts';

/** A caller's SELECT as the engine itself writes it. */
interface Canonical {
  /** The text that is checked, with a text such as `'tailrace:project'` in the place of each parameter. */
  readonly checked: string;
  /** The same with `@project` in its place: the text that runs. */
  readonly runs: string;
  /** The parameter of such a text in `checked`. */
  readonly parameterOf: (text: string) => string | undefined;
}

/**
 * Has the engine rewrite a caller's text in its own spelling, without comments. The rewritten text is checked and runs, so the check
 * and the engine cannot read it in two ways. @param format rewrites one statement; fails for anything else
 */
export async function canonicalise(
  endpoint: Endpoint,
  sql: string,
  format: (sql: string) => Promise<string>,
): Promise<Canonical> {
  refuseDense(sql);
  const declared = [...endpoint.parameters.map((parameter) => parameter.name), NOW_PARAMETER];
  const mark = findMark(sql);
  const marked = createRewriter(sql)((name) => {
    if (declared.includes(name)) return `'${mark}${name}'`;
    throw refuse(
      `names @${name}, which is not declared; declared are ${declared.map((one) => `@${one}`).join(', ')}`,
    );
  });
  const checked = (await format(marked)).trim();
  // A mark that the caller wrote with escapes stands for a parameter that the caller may name anyway.
  const marks = new Map(declared.map((name) => [`'${mark}${name}'`, name]));
  let runs = '';
  let at = 0;
  refuseDense(checked); // once more: the trees are built from it
  for (const token of scanTokens(checked)) {
    const text = checked.slice(token.start, token.end);
    refuseToken(token, text);
    const name = token.kind === 'text' ? marks.get(text) : undefined;
    if (name === undefined) continue;
    runs += `${checked.slice(at, token.start)}@${name}`;
    at = token.end;
  }
  refuseSequences(checked);
  return { checked, runs: runs + checked.slice(at), parameterOf: (text) => marks.get(text) };
}

/** A prefix that does not occur in the text. */
function findMark(sql: string): string {
  let mark = 'tailrace:';
  while (sql.includes(mark)) mark = `tailrace${mark}`;
  return mark;
}

/** Refuses tokens that no allowed SELECT has in the engine's spelling. */
function refuseToken({ kind }: Token, text: string): void {
  if (kind === 'text' || (kind === 'word' && !text.includes('$'))) return;
  if (kind === 'sign' && '()[],.+-*/%=<>!|:'.includes(text)) return;
  if (kind !== 'name') throw refuse(`must not have ${JSON.stringify(text.slice(0, 20))} there`);
  if (PLAIN_NAME.test(text.slice(1, -1))) return;
  throw refuse(
    `must not have the name ${text.slice(0, 100)}: names have letters, digits and underscores only`,
  );
}

/** Refuses clauses that the engine's trees do not distinguish from others. */
function refuseSequences(checked: string): void {
  if (!/RECURSIVE|MATERIALIZED|\.\s*:/i.test(checked)) return; // a shortcut for most texts
  // No token has a space in it: texts are left out, and names are plain.
  const words = [...scanTokens(checked)].map(({ kind, start, end }) =>
    kind === 'text' ? `'` : checked.slice(start, end).toUpperCase(),
  );
  const text = ` ${words.join(' ')} `;
  if (text.includes(' WITH RECURSIVE ')) throw refuse('must not have WITH RECURSIVE');
  if (/ AS MATERIALIZED | MATERIALIZED \( /.test(text)) throw refuse('must not have a MATERIALIZED view');
  if (text.includes(' . : ')) throw refuse('must not read a value by its type: use CAST');
}

/** The text between two brackets, or CASE and END. */
interface Level {
  readonly isCase: boolean;
  /** BETWEENs in the current operand, each on the left of the next. */
  operand: number;
  /** The largest `operand` so far. */
  most: number;
  /** BETWEENs without their AND yet. */
  open: number;
}

/**
 * Refuses texts that take the engine's parser too long: brackets within brackets, and `x BETWEEN 1 AND 2`, which it expands to
 * `x >= 1 AND x <= 2`, so that each BETWEEN on the left of another doubles the text. @throws TailraceError `invalid_parameter`
 */
export function refuseDense(sql: string): void {
  const levels = [openLevel('')];
  let tokens = 0;
  let before = '';
  for (const { kind, start, end } of scanTokens(sql)) {
    if (kind === 'comment') continue;
    refuseBeyond('tokens', ++tokens);
    // Quoted names and texts are operands.
    const token = kind === 'sign' || kind === 'word' ? sql.slice(start, end).toUpperCase() : 'x';
    if (token === '{' || token === '}')
      throw refuse('must not have {…}: write parameters as @name and maps as map(…)');
    takeToken(token, before, levels);
    before = token;
    refuseBeyond('brackets', levels.length - 1);
    refuseBeyond('betweens', levels.at(-1)?.operand ?? 0);
  }
}

function openLevel(token: string): Level {
  return { isCase: token === 'CASE', operand: 0, most: 0, open: 0 };
}

function takeToken(token: string, before: string, levels: Level[]): void {
  if (token === '(' || token === '[' || token === 'CASE') levels.push(openLevel(token));
  else if (token === 'END' && levels.at(-1)?.isCase === true) closeLevel(levels);
  else if (token === ')' || token === ']') {
    while (levels.at(-1)?.isCase === true) closeLevel(levels); // `case` was a name
    closeLevel(levels);
  } else takeOperand(token, before, levels.at(-1));
}

/** The closed level is a part of an operand of the level around it. */
function closeLevel(levels: Level[]): void {
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

function takeOperand(token: string, before: string, level: Level | undefined): void {
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

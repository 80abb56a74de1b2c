import type { Grammar } from './token.ts';
import type { Expression, Form, Operand } from './tree.ts';

/**
 * Parses an expression. BigQuery's operators, the last first: OR, AND, NOT, comparisons, + and -, then * / and ||,
 * signs.
 */
export function parseExpression(tokens: Grammar): Expression {
  return tokens.nest(() => parseChain(tokens, 'OR'));
}

function parseChain(tokens: Grammar, operator: 'AND' | 'OR'): Expression {
  const next = () => (operator === 'OR' ? parseChain(tokens, 'AND') : parseNot(tokens));
  const first = next();
  const operands = [first];
  while (tokens.takeWords(operator)) operands.push(next());
  return operands.length === 1 ? first : { kind: 'chain', operator, operands, start: first.start };
}

function parseNot(tokens: Grammar): Expression {
  const start = tokens.start();
  if (!tokens.takeWords('NOT')) return parseComparison(tokens);
  return { kind: 'unary', operator: 'NOT', operand: tokens.nest(() => parseNot(tokens)), start };
}

const SIGNS: readonly Form<'comparison'>['operator'][] = ['=', '!=', '<>', '<=', '>=', '<', '>'];
const TRUTHS = { NULL: 'null', TRUE: true, FALSE: false } as const;

/** Parses a value, and what it is compared with if it is. */
function parseComparison(tokens: Grammar): Expression {
  const value = parseSum(tokens);
  const sign = SIGNS.find((one) => tokens.takeSign(one));
  if (sign !== undefined) return compare(sign, value, parseSum(tokens));
  const isIs = tokens.takeWords('IS');
  const isNot = (isIs || /^(?:LIKE|IN|BETWEEN)$/.test(tokens.word(1))) && tokens.takeWords('NOT');
  const operand = isIs ? parseTruth(value, tokens) : parseWordOperator(value, tokens);
  return isNot ? { kind: 'unary', operator: 'NOT', operand, start: value.start } : operand;
}

function compare(operator: Form<'comparison'>['operator'], left: Expression, right: Expression): Expression {
  return { kind: 'comparison', operator, left, right, start: left.start };
}

function parseWordOperator(value: Expression, tokens: Grammar): Expression {
  const { start } = value;
  if (tokens.takeWords('LIKE')) return compare('LIKE', value, parseSum(tokens));
  if (tokens.takeWords('BETWEEN')) {
    const low = compare('>=', value, parseSum(tokens));
    tokens.expectWord('AND');
    return { kind: 'chain', operator: 'AND', operands: [low, compare('<=', value, parseSum(tokens))], start };
  }
  if (!tokens.takeWords('IN')) return value;
  tokens.expectSign('(', 'a list in brackets');
  const members = tokens.isQuery() ? tokens.nest(tokens.query) : tokens.list(tokens.expression);
  return tokens.close({ kind: 'in', value, members, start }, 'the closing bracket of the list');
}

function parseTruth(value: Expression, tokens: Grammar): Expression {
  for (const [word, what] of Object.entries(TRUTHS))
    if (tokens.takeWords(word)) return { kind: 'is', value, what, start: value.start };
  throw tokens.unexpected('NULL, TRUE or FALSE');
}

function parseSum(tokens: Grammar): Expression {
  return parseOperation(tokens, ['+', '-'], () =>
    parseOperation(tokens, ['*', '/', '||'], () => parseSigned(tokens)),
  );
}

function parseOperation(
  tokens: Grammar,
  operators: readonly Operand['operator'][],
  parse: () => Expression,
): Expression {
  const first = parse();
  const rest: Operand[] = [];
  for (;;) {
    const operator = operators.find((one) => tokens.takeSign(one));
    if (operator === undefined) break;
    rest.push({ operator, operand: parse() });
  }
  return rest.length === 0 ? first : { kind: 'operation', first, rest, start: first.start };
}

function parseSigned(tokens: Grammar): Expression {
  const start = tokens.start();
  const operator = (['+', '-'] as const).find((one) => tokens.takeSign(one));
  if (operator === undefined) return parseOperand(tokens);
  return { kind: 'unary', operator, operand: tokens.nest(() => parseSigned(tokens)), start };
}

/** Types by the names that only PostgreSQL has for them, which Studio's `::text` uses. */
const SHORT_TYPES: Readonly<Record<string, string>> = {
  text: 'string',
  varchar: 'string',
  float: 'float64',
  double: 'float64',
};

/** Parses a value with its casts by `::` and its members `[…]`. */
function parseOperand(tokens: Grammar): Expression {
  let operand = parsePrimary(tokens);
  for (let count = 1; ; count++) {
    const { start } = operand;
    if (tokens.takeSign('::')) {
      const name = tokens.takeWord('a type').toLowerCase();
      const type = Object.hasOwn(SHORT_TYPES, name) ? SHORT_TYPES[name] : undefined;
      operand = { kind: 'cast', value: operand, type: type ?? name, isSafe: false, start };
    } else if (tokens.takeSign('[')) operand = parseMember(operand, tokens);
    else return operand;
    tokens.requireLevel(count);
  }
}

function parseMember(list: Expression, tokens: Grammar): Expression {
  if (!tokens.takeWords('OFFSET')) throw tokens.unexpected('OFFSET(…)');
  tokens.expectSign('(');
  const index = tokens.close(tokens.expression());
  tokens.expectSign(']');
  return { kind: 'member', list, index, start: list.start };
}

function parsePrimary(tokens: Grammar): Expression {
  const start = tokens.start();
  const token = tokens.peek();
  if (token?.kind === 'text') return { kind: 'text', value: tokens.take('a value').value, start };
  if (token?.kind === 'number') return { kind: 'number', digits: tokens.take('a value').value, start };
  if (!tokens.takeSign('(')) return WORDS.get(tokens.word())?.(tokens, start) ?? parseNamed(tokens, start);
  const inner: Expression = tokens.isQuery()
    ? { kind: 'subquery', query: tokens.nest(tokens.query), start }
    : tokens.expression();
  return tokens.close(inner, 'an operator or a closing bracket');
}

/** @returns `undefined` for a name or a call of this word */
type Parse = (tokens: Grammar, start: number) => Expression | undefined;

/** A literal such as TIMESTAMP '2026-11-20'. */
const parseTime: Parse = (tokens, start) => {
  if (tokens.peek(1)?.kind !== 'text') return undefined;
  const type = tokens.take('a type').value.toLowerCase();
  return { kind: 'cast', value: parsePrimary(tokens), type, isSafe: false, start };
};

const parseConstant =
  (value: boolean | null): Parse =>
  (tokens, start) => {
    tokens.take('a value');
    return value === null ? { kind: 'null', start } : { kind: 'bool', value, start };
  };

/** What begins with a word that is not only a name. */
const WORDS: ReadonlyMap<string, Parse> = new Map<string, Parse>([
  ['NULL', parseConstant(null)],
  ['TRUE', parseConstant(true)],
  ['FALSE', parseConstant(false)],
  ['TIMESTAMP', parseTime],
  ['DATETIME', parseTime],
  ['DATE', parseTime],
  ['CASE', parseCase],
  ['CAST', parseCast],
  ['SAFE_CAST', parseCast],
  ['EXTRACT', parseExtract],
  ['INTERVAL', parseInterval],
]);

/** A path of names, or a call. */
function parseNamed(tokens: Grammar, start: number): Expression {
  // These are functions with or without brackets.
  if (/^CURRENT_(?:TIMESTAMP|DATETIME|DATE)$/.test(tokens.word()) && !tokens.isSign('(', 1))
    return { kind: 'call', name: tokens.take('a value').value.toLowerCase(), args: [], start };
  const isCall = tokens.isSign('(', 1) && /^(?:IF|LEFT|RIGHT)$/.test(tokens.word());
  if (!isCall && !tokens.isName()) throw tokens.unexpected('a value');
  const names = tokens.path();
  return tokens.takeSign('(')
    ? parseCall(names.join('.').toLowerCase(), start, tokens)
    : { kind: 'name', names, start };
}

/** Parses a call after its opening bracket. @param name of the function, in lower case */
function parseCall(name: string, start: number, tokens: Grammar): Expression {
  const isDistinct = tokens.takeWords('DISTINCT');
  const isOfRows = !isDistinct && tokens.takeSign('*');
  const args = isOfRows || tokens.isSign(')') ? [] : tokens.list(tokens.expression);
  tokens.expectSign(')', `a comma or the closing bracket of ${name}`);
  const isOver = tokens.takeWords('OVER');
  if (isOver) {
    tokens.expectSign('(');
    tokens.expectSign(')', 'the closing bracket of OVER ()');
  }
  return { kind: 'call', name, args, isOfRows, isDistinct, isOver, start };
}

/** Parses CASE … END. */
function parseCase(tokens: Grammar, start: number): Expression {
  tokens.expectWord('CASE');
  const subject = tokens.word() === 'WHEN' ? undefined : tokens.expression();
  const branches: { test: Expression; result: Expression }[] = [];
  while (tokens.takeWords('WHEN')) {
    const test = tokens.expression();
    tokens.expectWord('THEN');
    branches.push({ test, result: tokens.expression() });
  }
  if (branches.length === 0) throw tokens.unexpected('WHEN');
  const otherwise = tokens.takeWords('ELSE') ? tokens.expression() : undefined;
  tokens.expectWord('END');
  return { kind: 'case', subject, branches, otherwise, start };
}

/** Parses CAST or SAFE_CAST. */
function parseCast(tokens: Grammar, start: number): Expression {
  const isSafe = tokens.take('CAST').value.toUpperCase() === 'SAFE_CAST';
  tokens.expectSign('(');
  const value = tokens.expression();
  tokens.expectWord('AS');
  const type = tokens.take('a type').value.toLowerCase();
  return tokens.close({ kind: 'cast', value, type, isSafe, start }, 'the closing bracket of CAST');
}

/** Parses EXTRACT. */
function parseExtract(tokens: Grammar, start: number): Expression {
  tokens.expectWord('EXTRACT');
  tokens.expectSign('(');
  const part = parsePart(tokens);
  tokens.expectWord('FROM');
  const from = tokens.close(tokens.expression(), 'the closing bracket of EXTRACT');
  return { kind: 'extract', part, from, start };
}

/** Parses INTERVAL. */
function parseInterval(tokens: Grammar, start: number): Expression {
  tokens.expectWord('INTERVAL');
  const count = tokens.expression();
  return { kind: 'interval', count, part: parsePart(tokens), start };
}

/** A word such as HOUR, in lower case; `week(monday)` is `isoweek`. */
function parsePart(tokens: Grammar): string {
  const part = tokens.takeWord('a part of a time, such as HOUR,').toLowerCase();
  if (part !== 'week' || !tokens.takeSign('(')) return part;
  const day = tokens.close(tokens.take('a day').value.toLowerCase());
  return day === 'monday' ? 'isoweek' : `week(${day})`;
}

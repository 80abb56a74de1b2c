import { type Grammar, parseField, parseList } from './token.ts';
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
  if (tokens.takeWords('NOT'))
    return { kind: 'unary', operator: 'NOT', operand: tokens.nest(() => parseNot(tokens)), start };
  const value = parseSum(tokens);
  return parseRight(value, tokens) ?? value;
}

const SIGNS: readonly Form<'comparison'>['operator'][] = ['=', '!=', '<>', '<=', '>=', '<', '>'];

/** What a value is compared with; `undefined` if it is not. */
function parseRight(value: Expression, tokens: Grammar): Expression | undefined {
  const { start } = value;
  const sign = SIGNS.find((one) => tokens.takeSign(one));
  if (sign !== undefined)
    return { kind: 'comparison', operator: sign, left: value, right: parseSum(tokens), start };
  if (tokens.takeWords('IS')) return parseIs(value, tokens);
  const isNot = /^(?:LIKE|IN|BETWEEN)$/.test(tokens.word(1)) && tokens.takeWords('NOT');
  const compared = parseWordOperator(value, tokens);
  return compared && isNot ? { kind: 'unary', operator: 'NOT', operand: compared, start } : compared;
}

function parseWordOperator(value: Expression, tokens: Grammar): Expression | undefined {
  const { start } = value;
  if (tokens.takeWords('LIKE'))
    return { kind: 'comparison', operator: 'LIKE', left: value, right: parseSum(tokens), start };
  if (tokens.takeWords('BETWEEN')) {
    const low = parseSum(tokens);
    tokens.expectWord('AND');
    const within = [
      { kind: 'comparison', operator: '>=', left: value, right: low, start },
      { kind: 'comparison', operator: '<=', left: value, right: parseSum(tokens), start },
    ] as const;
    return { kind: 'chain', operator: 'AND', operands: within, start };
  }
  if (!tokens.takeWords('IN')) return undefined;
  tokens.expectSign('(', 'a list in brackets');
  const members = tokens.isQuery() ? tokens.nest(tokens.query) : parseList(tokens);
  tokens.expectSign(')', 'the closing bracket of the list');
  return { kind: 'in', value, members, start };
}

const TRUTHS = { NULL: 'null', TRUE: true, FALSE: false } as const;

function parseIs(value: Expression, tokens: Grammar): Expression {
  const isNot = tokens.takeWords('NOT');
  for (const [word, what] of Object.entries(TRUTHS))
    if (tokens.takeWords(word)) return { kind: 'is', value, what, isNot, start: value.start };
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

/** Types by the names that PostgreSQL has for them, which Studio's `::text` uses. */
const SHORT_TYPES: Readonly<Record<string, string>> = {
  text: 'string',
  varchar: 'string',
  int: 'int64',
  integer: 'int64',
  bigint: 'int64',
  float: 'float64',
  double: 'float64',
  boolean: 'bool',
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
  const index = tokens.expression();
  tokens.expectSign(')');
  tokens.expectSign(']');
  return { kind: 'member', list, index, start: list.start };
}

function parsePrimary(tokens: Grammar): Expression {
  const start = tokens.start();
  const token = tokens.peek();
  if (token?.kind === 'text') return { kind: 'text', value: tokens.take('a value').value, start };
  if (token?.kind === 'number') return { kind: 'number', digits: tokens.take('a value').value, start };
  if (tokens.takeSign('(')) return parseBrackets(tokens, start);
  return WORDS.get(tokens.word())?.(tokens, start) ?? parseNamed(tokens, start);
}

/** An expression or a SELECT in brackets. */
function parseBrackets(tokens: Grammar, start: number): Expression {
  const inner: Expression = tokens.isQuery()
    ? { kind: 'subquery', query: tokens.nest(tokens.query), start }
    : tokens.expression();
  tokens.expectSign(')', 'an operator or a closing bracket');
  return inner;
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

/** These are functions with or without brackets. */
const parseClock: Parse = (tokens, start) => {
  if (tokens.isSign('(', 1)) return undefined;
  const name = tokens.take('a value').value.toLowerCase();
  return { kind: 'call', name, args: [], start };
};

/** What begins with a word that is not only a name. */
const WORDS: ReadonlyMap<string, Parse> = new Map<string, Parse>([
  ['NULL', parseConstant(null)],
  ['TRUE', parseConstant(true)],
  ['FALSE', parseConstant(false)],
  ['TIMESTAMP', parseTime],
  ['DATETIME', parseTime],
  ['DATE', parseTime],
  ['CURRENT_TIMESTAMP', parseClock],
  ['CURRENT_DATETIME', parseClock],
  ['CURRENT_DATE', parseClock],
  ['CASE', parseCase],
  ['CAST', parseCast],
  ['SAFE_CAST', parseCast],
  ['EXTRACT', parseExtract],
  ['INTERVAL', parseInterval],
]);

/** A path of names, or a call. */
function parseNamed(tokens: Grammar, start: number): Expression {
  const isCall = tokens.isSign('(', 1) && /^(?:IF|LEFT|RIGHT)$/.test(tokens.word());
  if (!isCall && !tokens.isName()) throw tokens.unexpected('a value');
  const names = [tokens.take('a name').value];
  while (tokens.takeSign('.')) names.push(parseField(tokens));
  return tokens.takeSign('(')
    ? parseCall(names.join('.').toLowerCase(), start, tokens)
    : { kind: 'name', names, start };
}

/** Parses a call after its opening bracket. @param name of the function, in lower case */
function parseCall(name: string, start: number, tokens: Grammar): Expression {
  const isDistinct = tokens.takeWords('DISTINCT');
  const isOfRows = !isDistinct && tokens.takeSign('*');
  const args = isOfRows || tokens.isSign(')') ? [] : parseList(tokens);
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
  tokens.expectSign(')', 'the closing bracket of CAST');
  return { kind: 'cast', value, type, isSafe, start };
}

/** Parses EXTRACT. */
function parseExtract(tokens: Grammar, start: number): Expression {
  tokens.expectWord('EXTRACT');
  tokens.expectSign('(');
  const part = parsePart(tokens);
  tokens.expectWord('FROM');
  const from = tokens.expression();
  tokens.expectSign(')', 'the closing bracket of EXTRACT');
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
  const day = tokens.take('a day').value.toLowerCase();
  tokens.expectSign(')');
  return day === 'monday' ? 'isoweek' : `week(${day})`;
}

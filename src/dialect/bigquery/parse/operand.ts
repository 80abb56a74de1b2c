import { type Grammar, parseList } from './token.ts';
import type { Expression } from './tree.ts';

/** Types by the names that PostgreSQL has for them, which Studio's `::text` uses. */
const TYPES: Readonly<Record<string, string>> = {
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
export function parseOperand(grammar: Grammar): Expression {
  const { tokens } = grammar;
  let operand = parsePrimary(grammar);
  for (let count = 1; ; count++) {
    const { start } = operand;
    if (tokens.takeSign('::'))
      operand = { kind: 'cast', value: operand, type: parseShortType(grammar), isSafe: false, start };
    else if (tokens.takeSign('[')) operand = parseMember(operand, grammar);
    else if (tokens.isSign('.'))
      throw tokens.fail('has a field of an expression, which is not understood; name it by its path');
    else return operand;
    tokens.requireLevel(tokens.level + count);
  }
}

function parseShortType({ tokens }: Grammar): string {
  const token = tokens.peek();
  if (token?.kind !== 'word') throw tokens.fail('must have a type after ::');
  const name = tokens.take('a type').value.toLowerCase();
  return (Object.hasOwn(TYPES, name) ? TYPES[name] : undefined) ?? name;
}

function parseMember(list: Expression, grammar: Grammar): Expression {
  const { tokens } = grammar;
  const isNamed = tokens.isSign('(', 1) && /^(?:SAFE_)?(?:OFFSET|ORDINAL)$/.test(tokens.word());
  const accessor = isNamed ? tokens.take('OFFSET').value.toLowerCase() : '';
  if (isNamed) tokens.expectSign('(');
  const index = grammar.expression();
  if (isNamed) tokens.expectSign(')');
  tokens.expectSign(']');
  return { kind: 'member', list, accessor, index, start: list.start };
}

function parsePrimary(grammar: Grammar): Expression {
  const { tokens } = grammar;
  const start = tokens.start();
  const token = tokens.peek();
  if (token?.kind === 'text') return { kind: 'text', value: tokens.take('a value').value, start };
  if (token?.kind === 'number') return { kind: 'number', digits: tokens.take('a value').value, start };
  if (tokens.takeSign('(')) return parseBrackets(grammar, start);
  if (tokens.isSign('[')) throw tokens.fail('has ARRAY […], which is not understood');
  if (tokens.isSign('*')) throw tokens.fail('has * in a place that is not understood');
  const parse = WORDS.get(tokens.word());
  return parse?.(grammar, start) ?? parseNamed(grammar, start);
}

/** An expression or a SELECT in brackets. */
function parseBrackets(grammar: Grammar, start: number): Expression {
  const { tokens } = grammar;
  if (/^(?:SELECT|WITH)$/.test(tokens.word())) {
    const query = tokens.nest(grammar.query);
    tokens.expectSign(')', 'the closing bracket of the SELECT');
    return { kind: 'subquery', query, start };
  }
  const inner = grammar.expression();
  if (tokens.isSign(','))
    throw tokens.fail('has a list of values in a place that is not understood', { start });
  tokens.expectSign(')', 'an operator or a closing bracket');
  return inner;
}

type Parse = (grammar: Grammar, start: number) => Expression | undefined;

const refuseWord =
  (what: string): Parse =>
  ({ tokens }) => {
    throw tokens.fail(`has ${what}, which is not understood`);
  };

/** A literal such as TIMESTAMP '2026-11-20'; `undefined` for a name or a call of this word. */
const parseTime =
  (type: 'timestamp' | 'datetime' | 'date'): Parse =>
  ({ tokens }, start) => {
    if (tokens.peek(1)?.kind !== 'text') return undefined;
    tokens.take('a type');
    return { kind: 'time', type, text: tokens.take('a string').value, start };
  };

const refuseLiteral: Parse = ({ tokens }) => {
  if (tokens.peek(1)?.kind !== 'text') return undefined;
  throw tokens.fail(`has a literal of ${tokens.word()}, which is not understood`);
};

const parseConstant =
  (value: boolean | null): Parse =>
  ({ tokens }, start) => {
    tokens.take('a value');
    return value === null ? { kind: 'null', start } : { kind: 'bool', value, start };
  };

/** These are functions with or without brackets. */
const parseClock: Parse = ({ tokens }, start) => {
  if (tokens.isSign('(', 1)) return undefined;
  const name = tokens.take('a value').value.toLowerCase();
  return { kind: 'call', name, args: [], isOfRows: false, isDistinct: false, isOver: false, start };
};

/** What begins with a word that is not only a name. */
const WORDS: ReadonlyMap<string, Parse> = new Map<string, Parse>([
  ['NULL', parseConstant(null)],
  ['TRUE', parseConstant(true)],
  ['FALSE', parseConstant(false)],
  ['TIMESTAMP', parseTime('timestamp')],
  ['DATETIME', parseTime('datetime')],
  ['DATE', parseTime('date')],
  ...['TIME', 'NUMERIC', 'BIGNUMERIC', 'DECIMAL', 'BIGDECIMAL', 'JSON', 'RANGE'].map(
    (word) => [word, refuseLiteral] as const,
  ),
  ...['CURRENT_TIMESTAMP', 'CURRENT_DATETIME', 'CURRENT_DATE'].map((word) => [word, parseClock] as const),
  ['CASE', parseCase],
  ['CAST', parseCast],
  ['SAFE_CAST', parseCast],
  ['EXTRACT', parseExtract],
  ['INTERVAL', parseInterval],
  ['ARRAY', refuseWord('ARRAY')],
  ['STRUCT', refuseWord('STRUCT')],
  ['EXISTS', refuseWord('EXISTS')],
  [
    'NOT',
    ({ tokens }) => {
      throw tokens.fail('has NOT in a place that is not understood; use brackets');
    },
  ],
]);

/** A path of names, or a call. */
function parseNamed(grammar: Grammar, start: number): Expression {
  const { tokens } = grammar;
  const isCall = tokens.isSign('(', 1) && /^(?:IF|LEFT|RIGHT|COLLATE)$/.test(tokens.word());
  if (!isCall && !tokens.isName()) throw tokens.unexpected('a value');
  const names = [tokens.take('a name').value];
  while (tokens.isSign('.')) {
    if (tokens.isSign('*', 1))
      throw tokens.fail(`has ${names.join('.')}.* in a place that is not understood`);
    tokens.takeSign('.');
    names.push(parseField(grammar));
  }
  return tokens.takeSign('(')
    ? parseCall(names.join('.').toLowerCase(), start, grammar)
    : { kind: 'name', names, start };
}

/** After a dot every word is a name. */
export function parseField({ tokens }: Grammar): string {
  const kind = tokens.peek()?.kind;
  if (kind !== 'word' && kind !== 'name') throw tokens.unexpected('a name');
  return tokens.take('a name').value;
}

/** Parses a call after its opening bracket. @param name of the function, in lower case */
function parseCall(name: string, start: number, grammar: Grammar): Expression {
  const { tokens } = grammar;
  if (/^(?:SELECT|WITH)$/.test(tokens.word()))
    throw tokens.fail(`calls ${name} with a SELECT, which is not understood`);
  const isDistinct = tokens.takeWords('DISTINCT');
  const isOfRows = !isDistinct && tokens.takeSign('*');
  const args = isOfRows || tokens.isSign(')') ? [] : parseList(grammar);
  const isOver = endCall(name, grammar) && parseOver(grammar);
  return { kind: 'call', name, args, isOfRows, isDistinct, isOver, start };
}

/** Words that say more about an argument. */
const MODIFIERS = new Set(['ORDER', 'LIMIT', 'IGNORE', 'RESPECT', 'HAVING', 'AS', 'SEPARATOR', 'WHERE']);

/** @returns whether OVER stands after the call, which is read */
function endCall(name: string, { tokens }: Grammar): boolean {
  const word = tokens.word();
  if (MODIFIERS.has(word))
    throw tokens.fail(`has ${word === 'ORDER' ? 'ORDER BY' : word} in ${name}(…), which is not understood`);
  if (tokens.isSign('=') && tokens.isSign('>', 1))
    throw tokens.fail(`has a named argument of ${name}, which is not understood`);
  tokens.expectSign(')', `a comma or the closing bracket of ${name}`);
  if (/^(?:IGNORE|RESPECT)$/.test(tokens.word()))
    throw tokens.fail(`has ${tokens.word()} NULLS, which is not understood`);
  return tokens.takeWords('OVER');
}

/** The brackets after OVER, which have to be empty. */
function parseOver({ tokens }: Grammar): true {
  if (!tokens.takeSign('('))
    throw tokens.fail('has OVER with a name, that of a WINDOW, which is not understood');
  const word = tokens.word();
  if (word === 'PARTITION') throw tokens.fail('has PARTITION BY, which is not understood');
  if (word === 'ORDER') throw tokens.fail('has OVER (ORDER BY …), which is not understood');
  if (!tokens.takeSign(')'))
    throw tokens.fail(
      `has OVER with ${word || 'something'} in its brackets, which is not understood; write OVER ()`,
    );
  return true;
}

/** Parses CASE … END. */
function parseCase(grammar: Grammar, start: number): Expression {
  const { tokens } = grammar;
  tokens.expectWord('CASE');
  const subject = tokens.word() === 'WHEN' ? undefined : grammar.expression();
  const branches: { test: Expression; result: Expression }[] = [];
  while (tokens.takeWords('WHEN')) {
    const test = grammar.expression();
    tokens.expectWord('THEN');
    branches.push({ test, result: grammar.expression() });
  }
  if (branches.length === 0) throw tokens.unexpected('WHEN');
  const otherwise = tokens.takeWords('ELSE') ? grammar.expression() : undefined;
  if (!tokens.takeWords('END')) throw tokens.unexpected('END');
  return { kind: 'case', subject, branches, otherwise, start };
}

/** Parses CAST or SAFE_CAST. */
function parseCast(grammar: Grammar, start: number): Expression {
  const { tokens } = grammar;
  const isSafe = tokens.take('CAST').value.toUpperCase() === 'SAFE_CAST';
  tokens.expectSign('(');
  const value = grammar.expression();
  tokens.expectWord('AS');
  const type = tokens.take('a type').value.toLowerCase();
  if (tokens.isSign('(') || tokens.isSign('<'))
    throw tokens.fail(`casts to ${type.toUpperCase()} with parameters, which is not understood`);
  if (tokens.word() === 'FORMAT') throw tokens.fail('has CAST with FORMAT, which is not understood');
  tokens.expectSign(')', 'the closing bracket of CAST');
  return { kind: 'cast', value, type, isSafe, start };
}

/** Parses EXTRACT. */
function parseExtract(grammar: Grammar, start: number): Expression {
  const { tokens } = grammar;
  tokens.expectWord('EXTRACT');
  tokens.expectSign('(');
  const part = parsePart(grammar);
  tokens.expectWord('FROM');
  const from = grammar.expression();
  if (tokens.word() === 'AT')
    throw tokens.fail('has AT TIME ZONE, which is not understood; times are in UTC');
  tokens.expectSign(')', 'the closing bracket of EXTRACT');
  return { kind: 'extract', part, from, start };
}

/** Parses INTERVAL. */
function parseInterval(grammar: Grammar, start: number): Expression {
  const { tokens } = grammar;
  tokens.expectWord('INTERVAL');
  const count = grammar.expression();
  const part = parsePart(grammar);
  if (tokens.word() === 'TO')
    throw tokens.fail('has INTERVAL … TO …, which is not understood; write one part');
  return { kind: 'interval', count, part, start };
}

/** A word such as HOUR, in lower case; `week(monday)` is `isoweek`. */
function parsePart({ tokens }: Grammar): string {
  if (tokens.peek()?.kind !== 'word') throw tokens.unexpected('a part of a time, such as HOUR,');
  const part = tokens.take('a part of a time').value.toLowerCase();
  if (part !== 'week' || !tokens.takeSign('(')) return part;
  const day = tokens.take('a day').value.toLowerCase();
  tokens.expectSign(')');
  return day === 'monday' ? 'isoweek' : `week(${day})`;
}

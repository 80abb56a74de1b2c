import { parseOperand } from './operand.ts';
import { type Grammar, parseList } from './token.ts';
import type { ComparisonForm, Expression, Operand } from './tree.ts';

/**
 * Parses an expression. BigQuery's operators, the last first: OR, AND, NOT, comparisons, + and -, then * / and ||,
 * signs.
 */
export function parseExpression(grammar: Grammar): Expression {
  return grammar.tokens.nest(() => parseChain(grammar, 'OR'));
}

function parseChain(grammar: Grammar, operator: 'AND' | 'OR'): Expression {
  const { tokens } = grammar;
  const next = () => (operator === 'OR' ? parseChain(grammar, 'AND') : parseNot(grammar));
  const first = next();
  const operands = [first];
  while (tokens.takeWords(operator)) operands.push(next());
  return operands.length === 1 ? first : { kind: 'chain', operator, operands, start: first.start };
}

function parseNot(grammar: Grammar): Expression {
  const { tokens } = grammar;
  const start = tokens.start();
  if (!tokens.takeWords('NOT')) return parseComparison(grammar);
  return { kind: 'unary', operator: 'NOT', operand: tokens.nest(() => parseNot(grammar)), start };
}

function parseComparison(grammar: Grammar): Expression {
  const { tokens } = grammar;
  const left = parseSum(grammar);
  const compared = parseRight(left, grammar);
  if (compared === undefined) return left;
  const again = findComparison(grammar);
  if (again !== undefined) throw tokens.fail(`has a comparison of a comparison by ${again}; use brackets`);
  return compared;
}

const SIGNS: readonly ComparisonForm['operator'][] = ['=', '!=', '<>', '<=', '>=', '<', '>'];

/** The comparison that is next, without reading it. */
function findComparison({ tokens }: Grammar): string | undefined {
  const sign = SIGNS.find((one) => tokens.isSign(one));
  if (sign !== undefined) return sign;
  const word = tokens.word(tokens.word() === 'NOT' ? 1 : 0);
  return ['LIKE', 'IN', 'BETWEEN', 'IS'].includes(word) ? word : undefined;
}

/** What a value is compared with; `undefined` if it is not. */
function parseRight(value: Expression, grammar: Grammar): Expression | undefined {
  const { tokens } = grammar;
  const { start } = value;
  const sign = SIGNS.find((one) => tokens.takeSign(one));
  if (sign !== undefined)
    return { kind: 'comparison', operator: sign, left: value, right: parseSum(grammar), start };
  if (tokens.takeWords('IS')) return parseIs(value, grammar);
  const isNot =
    /^(?:LIKE|IN|BETWEEN|ILIKE|RLIKE|REGEXP|SIMILAR)$/.test(tokens.word(1)) && tokens.takeWords('NOT');
  const compared = parseWordOperator(value, grammar);
  return compared && isNot ? { kind: 'unary', operator: 'NOT', operand: compared, start } : compared;
}

function parseWordOperator(value: Expression, grammar: Grammar): Expression | undefined {
  const { tokens } = grammar;
  const { start } = value;
  if (tokens.takeWords('LIKE')) {
    if (/^(?:ANY|SOME|ALL)$/.test(tokens.word()))
      throw tokens.fail(`has LIKE ${tokens.word()}, which is not understood`);
    return { kind: 'comparison', operator: 'LIKE', left: value, right: parseSum(grammar), start };
  }
  if (tokens.takeWords('BETWEEN')) {
    const low = parseSum(grammar);
    tokens.expectWord('AND');
    return { kind: 'between', value, low, high: parseSum(grammar), start };
  }
  if (tokens.takeWords('IN')) return { kind: 'in', value, members: parseMembers(grammar), start };
  if (/^(?:ILIKE|RLIKE|REGEXP|SIMILAR)$/.test(tokens.word()))
    throw tokens.fail(
      `has ${tokens.word()}, which BigQuery does not have; write lower(x) LIKE '…' or regexp_contains(x, r'…')`,
    );
  return undefined;
}

function parseMembers(grammar: Grammar): Extract<Expression, { kind: 'in' }>['members'] {
  const { tokens } = grammar;
  if (!tokens.takeSign('(')) throw tokens.fail('has IN without a list in brackets');
  const isQuery = /^(?:SELECT|WITH)$/.test(tokens.word());
  const members = isQuery ? tokens.nest(grammar.query) : parseList(grammar);
  tokens.expectSign(
    ')',
    isQuery ? 'the closing bracket of the SELECT' : 'a comma or the closing bracket of the list',
  );
  return members;
}

function parseIs(value: Expression, { tokens }: Grammar): Expression {
  const isNot = tokens.takeWords('NOT');
  const { start } = value;
  if (tokens.takeWords('NULL')) return { kind: 'is', value, what: 'null', isNot, start };
  if (tokens.takeWords('TRUE')) return { kind: 'is', value, what: true, isNot, start };
  if (tokens.takeWords('FALSE')) return { kind: 'is', value, what: false, isNot, start };
  if (tokens.word() === 'DISTINCT') throw tokens.fail('has IS DISTINCT FROM, which is not understood');
  throw tokens.fail('has IS without NULL, TRUE or FALSE after it');
}

function parseSum(grammar: Grammar): Expression {
  return parseOperation(grammar, ['+', '-'], () =>
    parseOperation(grammar, ['*', '/', '||'], () => parseSigned(grammar)),
  );
}

function parseOperation(
  { tokens }: Grammar,
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
  if (tokens.isSign('%'))
    throw tokens.fail('has the operator %, which BigQuery does not have; write mod(a, b)');
  return rest.length === 0 ? first : { kind: 'operation', first, rest, start: first.start };
}

function parseSigned(grammar: Grammar): Expression {
  const { tokens } = grammar;
  const start = tokens.start();
  const operator = (['+', '-'] as const).find((one) => tokens.takeSign(one));
  if (operator === undefined) return parseOperand(grammar);
  return { kind: 'unary', operator, operand: tokens.nest(() => parseSigned(grammar)), start };
}

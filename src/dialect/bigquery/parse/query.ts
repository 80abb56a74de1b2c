import type { TailraceError } from '../../../errors.ts';
import { parseExpression } from './expression.ts';
import { parseField } from './operand.ts';
import {
  type BigQueryToken,
  createTokenStream,
  type Grammar,
  locate,
  parseAlias,
  parseList,
  parseNames,
  type Quotes,
  readTokens,
  reject,
  shorten,
} from './token.ts';
import type {
  FromItem,
  ItemTree,
  Join,
  OrderTerm,
  Placed,
  QueryTree,
  SelectTree,
  StarTree,
  Tail,
  WithMember,
} from './tree.ts';

interface Parsed {
  readonly root: QueryTree;
  /** The error for a part of the tree that is not understood. */
  readonly fail: (message: string, place: Placed) => TailraceError;
}

/**
 * Parses one SELECT of BigQuery's in a time in proportion to its length, which is bounded.
 *
 * @throws TailraceError `invalid_parameter` that names what is not understood, with its line and column
 */
export function parse(sql: string, quotes: Quotes): Parsed {
  const tokens = createTokenStream(sql, withoutEnd(readTokens(sql, quotes), sql));
  const grammar: Grammar = {
    tokens,
    query: () => parseQuery(grammar),
    expression: () => parseExpression(grammar),
  };
  const root = parseQuery(grammar);
  if (tokens.peek() !== undefined) throw tokens.unexpected('the end');
  return { root, fail: tokens.fail };
}

/** Removes semicolons at the end. */
function withoutEnd(tokens: readonly BigQueryToken[], sql: string): readonly BigQueryToken[] {
  const last = tokens.findLastIndex((token) => !isSemicolon(token));
  if (last < 0) throw reject('is empty; send one SELECT');
  const kept = tokens.slice(0, last + 1);
  const first = kept.find(({ value }) => value !== '(');
  if (first !== undefined && !(first.kind === 'word' && /^(?:select|with)$/i.test(first.value)))
    throw reject(`must be one SELECT; it begins with ${shorten(first.value)}`, locate(sql, first.start));
  const second = kept.find(isSemicolon);
  if (second !== undefined)
    throw reject('must be one SELECT; there is a semicolon', locate(sql, second.start));
  return kept;
}

const isSemicolon = ({ kind, value }: BigQueryToken) => kind === 'sign' && value === ';';

/** Parses a query, up to its end or the bracket around it. */
function parseQuery(grammar: Grammar): QueryTree {
  const { tokens } = grammar;
  const start = tokens.start();
  const withs = parseWith(grammar);
  const arms = [parseArm(grammar)];
  while (parseUnion(grammar)) arms.push(parseArm(grammar));
  const hasTail = /^(?:ORDER|LIMIT)$/.test(tokens.word());
  const tail = parseTail(grammar);
  if (hasTail && /^(?:UNION|INTERSECT|EXCEPT)$/.test(tokens.word()))
    throw tokens.fail(`has ORDER BY or LIMIT before ${tokens.word()} ALL; put the SELECT in brackets`);
  return { kind: 'query', withs, arms, tail, start };
}

function parseWith(grammar: Grammar): readonly WithMember[] {
  const { tokens } = grammar;
  if (!tokens.takeWords('WITH')) return [];
  if (tokens.word() === 'RECURSIVE') throw tokens.fail('has WITH RECURSIVE, which is not understood');
  const members: WithMember[] = [];
  do {
    const member = parseWithMember(grammar);
    if (members.some(({ name }) => name.toLowerCase() === member.name.toLowerCase()))
      throw tokens.fail(`has two members ${member.name} of WITH; give each its own name`, member);
    members.push(member);
  } while (tokens.takeSign(','));
  return members;
}

function parseWithMember(grammar: Grammar): WithMember {
  const { tokens } = grammar;
  const start = tokens.start();
  if (!tokens.isName()) throw tokens.unexpected('the name of a member of WITH');
  const name = tokens.take('a name').value;
  if (tokens.isSign('('))
    throw tokens.fail(`has columns after ${name} in WITH, which are not understood; name them in its SELECT`);
  tokens.expectWord('AS');
  tokens.expectSign('(', `the SELECT of ${name} in brackets`);
  const query = tokens.nest(grammar.query);
  tokens.expectSign(')', `the closing bracket of ${name}`);
  return { name, query, start };
}

/** Reads UNION ALL if it is next. */
function parseUnion({ tokens }: Grammar): boolean {
  const word = tokens.word();
  if (!/^(?:UNION|INTERSECT|EXCEPT)$/.test(word)) return false;
  const start = tokens.start();
  if (tokens.takeWords('UNION', 'ALL')) return true;
  const written = `${word}${tokens.word(1) === 'DISTINCT' || tokens.word(1) === 'ALL' ? ` ${tokens.word(1)}` : ''}`;
  throw tokens.fail(`has ${written}, which is not understood; known is UNION ALL`, { start });
}

function parseArm(grammar: Grammar): SelectTree | QueryTree {
  const { tokens } = grammar;
  if (!tokens.takeSign('(')) return parseSelect(grammar);
  const query = tokens.nest(grammar.query);
  tokens.expectSign(')', 'the closing bracket of the SELECT');
  return query;
}

function parseSelect(grammar: Grammar): SelectTree {
  const { tokens } = grammar;
  const start = tokens.start();
  if (!tokens.takeWords('SELECT')) throw tokens.unexpected('a SELECT');
  const isDistinct = tokens.takeWords('DISTINCT');
  if (!isDistinct) tokens.takeWords('ALL');
  if (tokens.word() === 'AS') throw tokens.fail(`has SELECT AS ${tokens.word(1)}, which is not understood`);
  const items = parseItems(grammar);
  const from = tokens.takeWords('FROM') ? parseFrom(grammar) : [];
  const where = tokens.takeWords('WHERE') ? grammar.expression() : undefined;
  const groupBy = tokens.takeWords('GROUP', 'BY') ? parseKeys(grammar) : [];
  const having = tokens.takeWords('HAVING') ? grammar.expression() : undefined;
  if (/^(?:QUALIFY|WINDOW)$/.test(tokens.word()))
    throw tokens.fail(`has ${tokens.word()}, which is not understood`);
  return { kind: 'select', isDistinct, items, from, where, groupBy, having, start };
}

/** A comma may stand after the last item. */
function parseItems(grammar: Grammar): readonly (ItemTree | StarTree)[] {
  const { tokens } = grammar;
  const items = [parseItem(grammar)];
  while (tokens.takeSign(',') && tokens.word() !== 'FROM') items.push(parseItem(grammar));
  return items;
}

function parseItem(grammar: Grammar): ItemTree | StarTree {
  const { tokens } = grammar;
  const start = tokens.start();
  if (tokens.takeSign('*')) return parseStar(undefined, start, grammar);
  if (tokens.isName() && tokens.isSign('.', 1) && tokens.isSign('*', 2)) {
    const relation = tokens.take('a name').value;
    tokens.takeSign('.');
    tokens.takeSign('*');
    return parseStar(relation, start, grammar);
  }
  const expression = grammar.expression();
  return { kind: 'item', expression, alias: parseAlias(grammar), start };
}

function parseStar(relation: string | undefined, start: number, grammar: Grammar): StarTree {
  const { tokens } = grammar;
  const hasExcept = tokens.isSign('(', 1) && tokens.takeWords('EXCEPT');
  const except = hasExcept ? parseNames('EXCEPT', grammar) : [];
  if (tokens.word() === 'REPLACE') throw tokens.fail('has * REPLACE, which is not understood');
  return { kind: 'star', relation, except, start };
}

function parseKeys(grammar: Grammar) {
  const { tokens } = grammar;
  const word = tokens.word();
  if (word === 'GROUPING') throw tokens.fail('has GROUPING SETS, which is not understood');
  if (/^(?:ROLLUP|CUBE|ALL)$/.test(word)) throw tokens.fail(`has GROUP BY ${word}, which is not understood`);
  return parseList(grammar);
}

function parseTail(grammar: Grammar): Tail {
  const { tokens } = grammar;
  const orderBy: OrderTerm[] = [];
  if (tokens.takeWords('ORDER', 'BY')) {
    do orderBy.push(parseOrderTerm(grammar));
    while (tokens.takeSign(','));
  }
  const limit = tokens.takeWords('LIMIT')
    ? { rows: parseCount(grammar), offset: tokens.takeWords('OFFSET') ? parseCount(grammar) : undefined }
    : undefined;
  return { orderBy, limit };
}

function parseOrderTerm(grammar: Grammar): OrderTerm {
  const { tokens } = grammar;
  const expression = grammar.expression();
  const isDescending = tokens.takeWords('DESC');
  if (!isDescending) tokens.takeWords('ASC');
  if (tokens.takeWords('NULLS', 'FIRST')) return { expression, isDescending, nulls: 'FIRST' };
  if (tokens.takeWords('NULLS', 'LAST')) return { expression, isDescending, nulls: 'LAST' };
  return { expression, isDescending, nulls: undefined };
}

/** Digits, without zeros before them. */
function parseCount({ tokens }: Grammar): string {
  const token = tokens.peek();
  if (token?.kind !== 'number' || !/^\d{1,15}$/.test(token.value))
    throw tokens.fail('has a LIMIT or OFFSET other than a whole number');
  return String(Number(tokens.take('a number').value));
}

/** Parses what stands after FROM. */
function parseFrom(grammar: Grammar): readonly FromItem[] {
  const items = [parseFromItem(undefined, grammar)];
  for (;;) {
    const join = parseJoin(grammar);
    if (join === undefined) break;
    items.push(parseFromItem(join, grammar));
  }
  return items;
}

/** Reads a comma or the words of a join if they are next. */
function parseJoin({ tokens }: Grammar): Join | undefined {
  if (tokens.takeSign(',') || tokens.takeWords('CROSS', 'JOIN')) return 'CROSS JOIN';
  if (tokens.takeWords('JOIN') || tokens.takeWords('INNER', 'JOIN')) return 'INNER JOIN';
  if (tokens.takeWords('LEFT', 'JOIN') || tokens.takeWords('LEFT', 'OUTER', 'JOIN')) return 'LEFT JOIN';
  const word = tokens.word();
  if (/^(?:RIGHT|FULL|NATURAL|OUTER)$/.test(word))
    throw tokens.fail(`has ${word} JOIN, which is not understood; known are JOIN, LEFT JOIN and CROSS JOIN`);
  return undefined;
}

/** Words after a table that change what is read of it. */
const AFTER_TABLE: Readonly<Record<string, string>> = {
  TABLESAMPLE: 'TABLESAMPLE',
  PIVOT: 'PIVOT',
  UNPIVOT: 'UNPIVOT',
  MATCH_RECOGNIZE: 'MATCH_RECOGNIZE',
  FOR: 'FOR SYSTEM_TIME or FOR UPDATE',
};

function parseFromItem(join: Join | undefined, grammar: Grammar): FromItem {
  const { tokens } = grammar;
  const start = tokens.start();
  const read = parseRead(grammar);
  const alias = parseAlias(grammar);
  const after = AFTER_TABLE[tokens.word()];
  if (after !== undefined) throw tokens.fail(`has ${after}, which is not understood`);
  if (tokens.word() === 'WITH' && tokens.word(1) === 'OFFSET')
    throw tokens.fail('has WITH OFFSET, which is not understood');
  const on = tokens.takeWords('ON') ? grammar.expression() : undefined;
  const using = on === undefined && tokens.takeWords('USING') ? parseNames('USING', grammar) : [];
  return { join, read, alias, on, using, start };
}

function parseRead(grammar: Grammar): FromItem['read'] {
  const { tokens } = grammar;
  if (tokens.takeSign('(')) {
    const query = tokens.nest(grammar.query);
    tokens.expectSign(')', 'the closing bracket of the SELECT');
    return { kind: 'subquery', query };
  }
  if (tokens.takeWords('UNNEST')) {
    tokens.expectSign('(');
    const list = grammar.expression();
    tokens.expectSign(')', 'the closing bracket of UNNEST');
    return { kind: 'unnest', list };
  }
  if (!tokens.isName()) throw tokens.unexpected('a table');
  const names = [tokens.take('a table').value];
  while (tokens.takeSign('.')) names.push(parseField(grammar));
  if (tokens.isSign('('))
    throw tokens.fail(`has the function ${names.join('.')} instead of a table, which is not understood`);
  return { kind: 'path', names };
}

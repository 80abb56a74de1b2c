import type { TailraceError } from '../../../errors.ts';
import { parseExpression } from './expression.ts';
import {
  type BigQueryToken,
  createTokenStream,
  type Grammar,
  parseField,
  parseList,
  type Quotes,
  readTokens,
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
  const tokens = createTokenStream(sql, withoutEnd(readTokens(sql, quotes)));
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
function withoutEnd(tokens: readonly BigQueryToken[]): readonly BigQueryToken[] {
  return tokens.slice(0, tokens.findLastIndex(({ kind, value }) => kind !== 'sign' || value !== ';') + 1);
}

/** Parses a query, up to its end or the bracket around it. */
function parseQuery(grammar: Grammar): QueryTree {
  const { tokens } = grammar;
  const start = tokens.start();
  const withs = parseWith(grammar);
  const arms = [parseArm(grammar)];
  while (tokens.takeWords('UNION', 'ALL')) arms.push(parseArm(grammar));
  return { kind: 'query', withs, arms, tail: parseTail(grammar), start };
}

function parseWith(grammar: Grammar): readonly WithMember[] {
  const { tokens } = grammar;
  if (!tokens.takeWords('WITH')) return [];
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
  tokens.expectWord('AS');
  tokens.expectSign('(', `the SELECT of ${name} in brackets`);
  const query = tokens.nest(grammar.query);
  tokens.expectSign(')', `the closing bracket of ${name}`);
  return { name, query, start };
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
  const items = parseItems(grammar);
  const from = tokens.takeWords('FROM') ? parseFrom(grammar) : [];
  const where = tokens.takeWords('WHERE') ? grammar.expression() : undefined;
  const groupBy = tokens.takeWords('GROUP', 'BY') ? parseList(grammar) : [];
  const having = tokens.takeWords('HAVING') ? grammar.expression() : undefined;
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
  return { kind: 'star', relation, except, start };
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
  if (token?.kind !== 'number' || !/^\d{1,15}$/.test(token.value)) throw tokens.unexpected('a whole number');
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
  return undefined;
}

function parseFromItem(join: Join | undefined, grammar: Grammar): FromItem {
  const { tokens } = grammar;
  const start = tokens.start();
  const read = parseRead(grammar);
  const alias = parseAlias(grammar);
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
  if (tokens.isSign('(')) throw tokens.fail(`has the function ${names.join('.')} where a table belongs`);
  return { kind: 'path', names };
}

/** Names of columns between commas, in brackets. @param clause before them, for messages */
function parseNames(clause: string, { tokens }: Grammar): readonly string[] {
  const names: string[] = [];
  tokens.expectSign('(');
  do {
    if (!tokens.isName()) throw tokens.unexpected('a column');
    names.push(tokens.take('a column').value);
  } while (tokens.takeSign(','));
  tokens.expectSign(')', `a comma or the closing bracket of ${clause}`);
  return names;
}

const ALIAS = /^[A-Za-z_]\w{0,127}$/;

/** The name after an item or a table, with or without AS. @throws TailraceError for letters that no column may have */
function parseAlias({ tokens }: Grammar): string | undefined {
  const hasAs = tokens.takeWords('AS');
  if (!hasAs && !tokens.isAlias()) return undefined;
  const token = tokens.peek();
  if (tokens.isName() && ALIAS.test(token?.value ?? '')) return tokens.take('a name').value;
  throw tokens.unexpected('a plain name, of letters, digits and underscores, without quotes');
}

import type { DialectName } from '../../../definitions/endpoint.ts';
import { parseExpression } from './expression.ts';
import { createTokenStream, type Grammar, readTokens } from './token.ts';
import {
  type FromItem,
  type ItemTree,
  type Join,
  type OrderTerm,
  type QueryTree,
  reject,
  type SelectTree,
  type StarTree,
  type Tail,
  type WithMember,
} from './tree.ts';

/**
 * Parses one SELECT of BigQuery's in a time in proportion to its length, which is bounded.
 * @throws NotUnderstood
 */
export function parse(sql: string, dialect: DialectName): QueryTree {
  const read = readTokens(sql, dialect);
  const end = read.findLastIndex(({ kind, value }) => kind !== 'sign' || value !== ';') + 1;
  const tokens: Grammar = {
    ...createTokenStream(sql, read.slice(0, end)),
    query: () => parseQuery(tokens),
    expression: () => parseExpression(tokens),
  };
  const root = parseQuery(tokens);
  if (tokens.peek() !== undefined) throw tokens.unexpected('the end');
  return root;
}

/** Parses a query, up to its end or the bracket around it. */
function parseQuery(tokens: Grammar): QueryTree {
  const start = tokens.start();
  const withs = parseWith(tokens);
  const arms = [parseArm(tokens)];
  while (tokens.takeWords('UNION', 'ALL')) arms.push(parseArm(tokens));
  return { kind: 'query', withs, arms, tail: parseTail(tokens), start };
}

function parseWith(tokens: Grammar): readonly WithMember[] {
  if (!tokens.takeWords('WITH')) return [];
  const members = tokens.list(() => parseWithMember(tokens));
  for (const [i, member] of members.entries())
    if (members.findIndex(({ name }) => name.toLowerCase() === member.name.toLowerCase()) < i)
      throw reject(`has two members ${member.name} of WITH; give each its own name`, member);
  return members;
}

function parseWithMember(tokens: Grammar): WithMember {
  const start = tokens.start();
  if (!tokens.isName()) throw tokens.unexpected('the name of a member of WITH');
  const name = tokens.take('a name').value;
  tokens.expectWord('AS');
  tokens.expectSign('(', `the SELECT of ${name} in brackets`);
  return { name, query: tokens.close(tokens.nest(tokens.query), `the closing bracket of ${name}`), start };
}

function parseArm(tokens: Grammar): SelectTree | QueryTree {
  if (!tokens.takeSign('(')) return parseSelect(tokens);
  return tokens.close(tokens.nest(tokens.query), 'the closing bracket of the SELECT');
}

function parseSelect(tokens: Grammar): SelectTree {
  const start = tokens.start();
  if (!tokens.takeWords('SELECT')) throw tokens.unexpected('a SELECT');
  const isDistinct = tokens.takeWords('DISTINCT');
  if (!isDistinct) tokens.takeWords('ALL');
  const items = parseItems(tokens);
  const from = tokens.takeWords('FROM') ? parseFrom(tokens) : [];
  const where = tokens.takeWords('WHERE') ? tokens.expression() : undefined;
  const groupBy = tokens.takeWords('GROUP', 'BY') ? tokens.list(tokens.expression) : [];
  const having = tokens.takeWords('HAVING') ? tokens.expression() : undefined;
  return { kind: 'select', isDistinct, items, from, where, groupBy, having, start };
}

/** A comma may stand after the last item. */
function parseItems(tokens: Grammar): readonly (ItemTree | StarTree)[] {
  const items = [parseItem(tokens)];
  while (tokens.takeSign(',') && tokens.word() !== 'FROM') items.push(parseItem(tokens));
  return items;
}

function parseItem(tokens: Grammar): ItemTree | StarTree {
  const start = tokens.start();
  if (tokens.takeSign('*')) return parseStar(undefined, start, tokens);
  if (tokens.isName() && tokens.isSign('.', 1) && tokens.isSign('*', 2)) {
    const relation = tokens.take('a name').value;
    tokens.takeSign('.');
    tokens.takeSign('*');
    return parseStar(relation, start, tokens);
  }
  const expression = tokens.expression();
  return { kind: 'item', expression, alias: parseAlias(tokens), start };
}

function parseStar(relation: string | undefined, start: number, tokens: Grammar): StarTree {
  const hasExcept = tokens.isSign('(', 1) && tokens.takeWords('EXCEPT');
  const except = hasExcept ? parseNames('EXCEPT', tokens) : [];
  return { kind: 'star', relation, except, start };
}

function parseTail(tokens: Grammar): Tail {
  const orderBy = tokens.takeWords('ORDER', 'BY') ? tokens.list(() => parseOrderTerm(tokens)) : [];
  const limit = tokens.takeWords('LIMIT')
    ? { rows: parseCount(tokens), offset: tokens.takeWords('OFFSET') ? parseCount(tokens) : undefined }
    : undefined;
  return { orderBy, limit };
}

function parseOrderTerm(tokens: Grammar): OrderTerm {
  const expression = tokens.expression();
  const isDescending = tokens.takeWords('DESC');
  if (!isDescending) tokens.takeWords('ASC');
  const nulls = (['FIRST', 'LAST'] as const).find((one) => tokens.takeWords('NULLS', one));
  return { expression, isDescending, nulls };
}

/** Digits, without zeros before them. */
function parseCount(tokens: Grammar): string {
  const token = tokens.peek();
  if (token?.kind !== 'number' || !/^\d{1,15}$/.test(token.value)) throw tokens.unexpected('a whole number');
  return String(Number(tokens.take('a number').value));
}

/** Parses what stands after FROM. */
function parseFrom(tokens: Grammar): readonly FromItem[] {
  const items = [parseFromItem(undefined, tokens)];
  for (let join = parseJoin(tokens); join !== undefined; join = parseJoin(tokens))
    items.push(parseFromItem(join, tokens));
  return items;
}

/** Reads a comma or the words of a join if they are next. */
function parseJoin(tokens: Grammar): Join | undefined {
  if (tokens.takeSign(',') || tokens.takeWords('CROSS', 'JOIN')) return 'CROSS JOIN';
  if (tokens.takeWords('JOIN') || tokens.takeWords('INNER', 'JOIN')) return 'INNER JOIN';
  if (tokens.takeWords('LEFT', 'JOIN') || tokens.takeWords('LEFT', 'OUTER', 'JOIN')) return 'LEFT JOIN';
  return undefined;
}

function parseFromItem(join: Join | undefined, tokens: Grammar): FromItem {
  const start = tokens.start();
  const read = parseRead(tokens);
  const alias = parseAlias(tokens);
  const on = tokens.takeWords('ON') ? tokens.expression() : undefined;
  const using = on === undefined && tokens.takeWords('USING') ? parseNames('USING', tokens) : [];
  return { join, read, alias, on, using, start };
}

function parseRead(tokens: Grammar): FromItem['read'] {
  if (tokens.takeSign('(')) {
    const query = tokens.close(tokens.nest(tokens.query), 'the closing bracket of the SELECT');
    return { kind: 'subquery', query };
  }
  const start = tokens.start();
  if (tokens.takeWords('UNNEST')) {
    tokens.expectSign('(');
    const list = tokens.close(tokens.expression(), 'the closing bracket of UNNEST');
    if (list.kind === 'name') return { kind: 'unnest', names: list.names };
    throw reject('has UNNEST of something else than a path of the metadata', { start });
  }
  if (!tokens.isName()) throw tokens.unexpected('a table');
  const names = tokens.path();
  if (tokens.isSign('('))
    throw reject(`has the function ${names.join('.')} where a table belongs`, { start: tokens.start() });
  return { kind: 'path', names };
}

/** Names of columns between commas, in brackets. @param clause before them, for messages */
function parseNames(clause: string, tokens: Grammar): readonly string[] {
  tokens.expectSign('(');
  const names = tokens.list(() => {
    if (!tokens.isName()) throw tokens.unexpected('a column');
    return tokens.take('a column').value;
  });
  return tokens.close(names, `a comma or the closing bracket of ${clause}`);
}

const ALIAS = /^[A-Za-z_]\w{0,127}$/;

/** The name after an item or a table, with or without AS. @throws NotUnderstood for letters that no column may have */
function parseAlias(tokens: Grammar): string | undefined {
  const hasAs = tokens.takeWords('AS');
  if (!hasAs && !tokens.isAlias()) return undefined;
  const token = tokens.peek();
  if (tokens.isName() && ALIAS.test(token?.value ?? '')) return tokens.take('a name').value;
  throw tokens.unexpected('a plain name, of letters, digits and underscores, without quotes');
}

import { parseAlias } from './alias.ts';
import { parseFrom } from './from.ts';
import { parseList, parseNames } from './list.ts';
import type { Grammar } from './token-stream.ts';
import type { ItemTree, OrderTerm, QueryTree, SelectTree, StarTree, Tail, WithMember } from './tree.ts';

/** Parses a query, up to its end or the bracket around it. */
export function parseQuery(grammar: Grammar): QueryTree {
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

import { parseAlias } from './alias.ts';
import { parseNames } from './list.ts';
import { parseField } from './operand.ts';
import type { Grammar } from './token-stream.ts';
import type { FromItem, Join } from './tree.ts';

/** Parses what stands after FROM. */
export function parseFrom(grammar: Grammar): readonly FromItem[] {
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

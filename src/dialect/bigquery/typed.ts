import type { Expression, QueryTree, SelectTree, Tail } from './parse/tree.ts';
import { FLAG_LABEL } from './relation.ts';
import { AGGREGATES } from './signature.ts';

/**
 * A SELECT of one table whose answer is that of `root` if its last column, `label`, is false or 0 in all of its rows.
 * Rows that may have a value beside their typed columns pass every condition. They are in the answer, if there are
 * some, since either they come first, or they are ordered by what is known of them; and if the answer has none, no row
 * was left out for one.
 * @param label a name that no other column has
 * @returns `undefined` for SELECTs of other forms
 */
export function flagUntyped(root: QueryTree, label: string): QueryTree | undefined {
  const { withs, arms, tail } = root;
  const [select, ...others] = arms;
  if (select?.kind !== 'select' || others.length > 0 || withs.length > 0) return undefined;
  if (tail.limit?.offset !== undefined || !isPlain(select)) return undefined;
  const { start } = select;
  const flag: Expression = { start, kind: 'name', names: [FLAG_LABEL] };
  const isGrouped = select.groupBy.length > 0 || hasNode(select.items, isAggregate);
  const last: Expression = isGrouped ? { start, kind: 'call', name: 'countif', args: [flag] } : flag;
  const isFirst = isGrouped || !isOrderedByStored(select, tail);
  const first = isFirst ? [{ expression: last, isDescending: true, nulls: undefined }] : [];
  const { where } = select;
  return {
    ...root,
    arms: [
      {
        ...select,
        items: [...select.items, { start, kind: 'item', expression: last, alias: label }],
        where: where && { start, kind: 'chain', operator: 'OR', operands: [where, flag] },
      },
    ],
    tail: { ...tail, orderBy: [...first, ...tail.orderBy] },
  };
}

/** HAVING, DISTINCT and window functions see other rows than those of the answer. */
function isPlain({ isDistinct, having, items, from, where, groupBy }: SelectTree): boolean {
  if (isDistinct || having !== undefined || items.some(({ kind }) => kind === 'star')) return false;
  return !hasNode(
    [items, from, where, groupBy],
    (node) => node['kind'] === 'query' || node['isOver'] === true,
  );
}

/** Whether rows are ordered by columns that every event has, so that a row's place is known whatever else it has. */
function isOrderedByStored({ items, from }: SelectTree, { orderBy }: Tail): boolean {
  const [table] = from;
  const name = table?.alias ?? (table?.read.kind === 'path' ? table.read.names.join('.') : '');
  const isStored = (expression: Expression) => {
    if (expression.kind !== 'name') return false;
    const [relation, column] = expression.names.length === 1 ? [name, ...expression.names] : expression.names;
    return relation?.toLowerCase() === name.toLowerCase() && STORED.has(column?.toLowerCase() ?? '');
  };
  // In ORDER BY the name of a column of the list is that column.
  const hidden = items.flatMap((item) => {
    if (item.kind === 'star' || isStored(item.expression)) return [];
    return item.alias?.toLowerCase() ?? lastName(item.expression);
  });
  return orderBy.every(({ expression }) => isStored(expression) && !hidden.includes(lastName(expression)));
}

const STORED: ReadonlySet<string> = new Set(['id', 'timestamp', 'event_message']);

function lastName(expression: Expression): string {
  return expression.kind === 'name' ? (expression.names.at(-1)?.toLowerCase() ?? '') : '';
}

const isAggregate = (node: Readonly<Record<string, unknown>>) =>
  node['kind'] === 'call' && (node['name'] === 'count' || Object.hasOwn(AGGREGATES, String(node['name'])));

/** Whether a tree has such a node. */
function hasNode(tree: unknown, is: (node: Readonly<Record<string, unknown>>) => boolean): boolean {
  if (Array.isArray(tree)) return tree.some((part) => hasNode(part, is));
  if (typeof tree !== 'object' || tree === null) return false;
  const node = { ...tree };
  return is(node) || Object.values(node).some((part) => hasNode(part, is));
}

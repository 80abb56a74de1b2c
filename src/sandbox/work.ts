import type { NameScope, Names } from './names.ts';
import { assertBound } from './refusal.ts';
import { createSizes, type SizeContext, type Sizes } from './sizes.ts';
import type { SyntaxNode } from './syntax-tree.ts';
import { clause, functionNameOf, isSelect } from './tree-node.ts';
import { membersOf, SMALL, type ValueSize, weightOf } from './value-size.ts';

// 1 GB, the memory limit of a query, divided by the 8,192 rows of a block: 128 KB a row for values that differ between rows.
const BLOCK_UNITS_MAX = 128;
// Constants up to this size, such as numbers and patterns, are not scanned for each row.
const BRIEF = 5 * SMALL;

const HINT = '; ask for less at once, or give what is collected a limit, such as groupArray(100)(x)';

/**
 * Bounds the work between two moments at which the engine can be stopped: the calls of one SELECT on one block of rows. A unit is a
 * pass over 1 KB of each row, 8 ms for a block in the worst case. @throws TailraceError `invalid_parameter` beyond the bound
 */
export function assertCost(names: Names): void {
  const sizes = createSizes(names);
  for (const [query, scope] of names.scopes) {
    assertBound('columns', sizes.countColumns(query));
    assertBound('work', workOf(query, scope, sizes), HINT);
  }
}

function workOf(query: SyntaxNode, scope: NameScope, sizes: Sizes): number {
  /** @param times calls for each row: inside of a lambda, one for each member */
  function visit(node: SyntaxNode, place: SizeContext, times: number): number {
    if (isSelect(node)) return 0; // has its own sum
    if (node.kind !== 'FUNCTION') return add(node.children, place, times);
    const [lambda, ...lists] = clause(node, 'ARGUMENTS');
    if (lambda?.kind !== 'LAMBDA')
      return add(node.children, place, times) + call(node, clause(node, 'ARGUMENTS'), { place, times });
    const members = Math.max(...lists.map((list) => membersOf(sizes.of(list, place).units)));
    const inner = sizes.inside(lambda, lists, place);
    return (
      add(lists, place, times) +
      add(clause(lambda, 'EXPRESSION'), inner, times * members) +
      call(node, lists, { place, times })
    );
  }

  function add(nodes: readonly SyntaxNode[], place: SizeContext, times: number): number {
    return nodes.reduce((sum, node) => sum + visit(node, place, times), 0);
  }

  function call(
    node: SyntaxNode,
    args: readonly SyntaxNode[],
    { place, times }: { place: SizeContext; times: number },
  ): number {
    assertBound('parts', sizes.of(node, place).parts);
    // The engine hashes the right side of IN once, so it is not scanned for each row.
    const isSet = /^(?:in|notin|exists)$/.test(functionNameOf(node));
    const scanned = isSet ? args.filter((arg) => !isSelect(arg)).slice(0, 1) : args;
    const read = scanned.map((arg) => costOf(sizes.of(arg, place), times));
    return weightOf(functionNameOf(node)) * read.reduce((sum, cost) => sum + cost, SMALL);
  }

  return add(query.children, { scope, params: new Map() }, 1);
}

function costOf({ units, isConstant }: ValueSize, times: number): number {
  const cost = times * units;
  return isConstant && units > BRIEF ? cost : Math.min(cost, BLOCK_UNITS_MAX);
}

import { findDefinitions, type NameScope, type Names } from './names.ts';
import { assertBound } from './refusal.ts';
import { type SyntaxNode, walk } from './syntax-tree.ts';
import { clause, isSelect, isTablePlace, viewNameOf } from './tree-node.ts';

// In the order in which they are rejected.
const NONE = {
  ...{ values: 0, valueDepth: 0, subqueryDepth: 0, lambdaDepth: 0, reads: 0, joins: 0, windows: 0 },
  expandedNodes: 0,
};
const MEASURED = Object.keys(NONE) as (keyof typeof NONE)[]; // a constant has no other keys

type Measure = Readonly<typeof NONE>;
const ONE: Measure = { ...NONE, expandedNodes: 1 };

/** The maximum over all parts; the others are sums. */
const DEEPEST: readonly string[] = ['subqueryDepth', 'valueDepth', 'lambdaDepth'];

/**
 * @param reject with the bounds of a caller's SELECT, or of a stored query
 * @throws TailraceError `invalid_parameter` for a SELECT that is too large once the engine has expanded its aliases and views
 */
export function assertSize(root: SyntaxNode, names: Names, refuse: typeof assertBound = assertBound): void {
  const measure = createMeasure(names);
  for (const node of walk(root)) refuse('groupings', countGroupings(node));
  for (const select of [root, ...names.views]) {
    const measured = measure(select);
    const around = select === root ? 1 : 0; // the SELECT around the caller's
    for (const name of MEASURED) refuse(name, measured[name] - (name === 'subqueryDepth' ? around : 0));
  }
}

function createMeasure(names: Names): (select: SyntaxNode) => Measure {
  const { scopes, reads } = names;
  const known = new Map<SyntaxNode, Measure>();
  const open = new Set<SyntaxNode>(); // being measured: ends the recursion for cyclic names, which the engine rejects
  let aliasDepth = 0;
  const members = new Set<SyntaxNode>(); // SELECTs of a UNION

  function measureOnce(node: SyntaxNode, scope: NameScope | undefined): Measure {
    const found = known.get(node);
    if (found !== undefined) return found;
    open.add(node);
    const measured = node.kind === 'IDENTIFIER' ? measureName(node, scope) : measureNode(node, scope);
    open.delete(node);
    known.set(node, measured);
    return measured;
  }

  function measureNode(node: SyntaxNode, scope: NameScope | undefined): Measure {
    const inner = scopes.get(node) ?? scope;
    for (const member of clause(node, 'QUERIES')) members.add(member);
    const parts = node.children.map((child) => {
      if (isTablePlace(node) && child.kind === 'IDENTIFIER') return measureTable(child);
      // A view counts at each place that reads it.
      if (viewNameOf(child) !== undefined) return NONE;
      const measured = measureOnce(child, inner);
      const isValue = isSelect(child) && !isTablePlace(node) && !members.has(child);
      return isValue ? asValue(measured) : measured;
    });
    const windows = node.kind === 'FUNCTION' && clause(node, 'WINDOW').length > 0 ? 1 : 0;
    const tables = node.children.filter(isTablePlace).length;
    const joins = /^(?:CROSS )?JOIN$/.test(node.kind) ? Math.max(tables - 1, 1) : 0;
    const all = combine([ONE, ...parts]);
    return {
      ...all,
      joins: all.joins + joins,
      windows: all.windows + windows,
      lambdaDepth: all.lambdaDepth + (node.kind === 'LAMBDA' ? 1 : 0),
      subqueryDepth: all.subqueryDepth + (node.kind === 'QUERY' ? 1 : 0),
    };
  }

  function measureTable(table: SyntaxNode): Measure {
    const view = reads.get(table);
    return combine([{ ...ONE, reads: 1 }, view === undefined ? NONE : measureOnce(view, scopes.get(view))]);
  }

  function measureName(name: SyntaxNode, scope: NameScope | undefined): Measure {
    const definitions = findDefinitions(name, scope, names).filter(({ node }) => !open.has(node));
    assertBound('aliasDepth', aliasDepth);
    const parts = definitions.map(({ node, scope: around }) => {
      aliasDepth++;
      const measured = measureOnce(node, around);
      aliasDepth--;
      return isSelect(node) ? asValue(measured) : measured;
    });
    const set = reads.get(name); // a view after IN
    const ofSet = set === undefined ? NONE : asValue(measureOnce(set, scopes.get(set)));
    return combine([ONE, ofSet, ...parts]);
  }

  return (select) => measureOnce(select, undefined);
}

function countGroupings(query: SyntaxNode): number {
  const type = /\bgroup_by_type: (\w+)/.exec(query.text)?.[1];
  const keys = clause(query, /\bis_group_by_all: 1/.test(query.text) ? 'PROJECTION' : 'GROUP BY').length;
  if (type === 'cube') return 2 ** keys;
  return type === 'rollup' ? keys + 1 : type === 'grouping_sets' ? keys : 0;
}

/** The engine analyses a SELECT inside of an expression twice. */
function asValue(measured: Measure): Measure {
  return {
    ...measured,
    expandedNodes: measured.expandedNodes * 2,
    reads: measured.reads * 2,
    values: measured.values + 1,
    valueDepth: measured.valueDepth + 1,
  };
}

function combine(parts: readonly Measure[]): Measure {
  const total = { ...NONE };
  for (const part of parts)
    for (const name of MEASURED)
      total[name] = DEEPEST.includes(name) ? Math.max(total[name], part[name]) : total[name] + part[name];
  return total;
}

import { PLAIN_NAME } from '../../sql/with-list.ts';
import { refuseFunction } from './check-tree.ts';
import { refuse } from './refusal.ts';

/** What the unresolved query tree, which is what the engine plans by, tells beside the syntax tree. */
export interface QueryTree {
  /** Names of the views of WITH, wherever they stand. */
  readonly views: readonly string[];
}

const NODES = new Set(
  'QUERY UNION LIST FUNCTION IDENTIFIER CONSTANT MATCHER LAMBDA SORT WINDOW JOIN ARRAY_JOIN'.split(' '),
);
const TWO_WORDS = /^ *(?:CROSS JOIN|EXCEPT COLUMN TRANSFORMER) id: \d+/;
const NODE = /^ *([A-Z_]+(?: [A-Z_]+)*) id: \d+/;

/**
 * Checks the lines of EXPLAIN QUERY TREE run_passes = 0: the same rules as for the syntax tree, on the engine's second way to
 * show a query, which also tells the names of views and what ORDER BY fills in.
 *
 * @throws TailraceError `invalid_parameter` that names the first thing that is not allowed
 */
export function checkQueryTree(lines: readonly string[]): QueryTree {
  const views: string[] = [];
  for (const line of lines) {
    const kind = NODE.exec(line)?.[1];
    if (kind === undefined) continue; // the name of a clause
    if (!NODES.has(kind) && !TWO_WORDS.test(line)) throw refuse(`must not have ${kind}`);
    if (kind === 'FUNCTION') refuseFunction(/ function_name: ([^ ,]+)/.exec(line)?.[1] ?? '');
    if (kind === 'SORT' && !/, with_fill: 0\b/.test(line)) throw refuse('must not have WITH FILL');
    if (kind !== 'QUERY' && kind !== 'UNION') continue;
    if (/, is_recursive/.test(line)) throw refuse('must not have WITH RECURSIVE');
    const view = / cte_name: ([^ ,]+)/.exec(line)?.[1];
    if (view === undefined) continue;
    if (!PLAIN_NAME.test(view)) throw refuse('must have views whose names have letters, digits and underscores only');
    views.push(view);
  }
  return { views };
}

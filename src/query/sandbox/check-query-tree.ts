import { refuseFunction } from './check-tree.ts';
import { refuse } from './refusal.ts';

const NODES = new Set(
  'QUERY UNION LIST FUNCTION IDENTIFIER CONSTANT MATCHER LAMBDA SORT WINDOW JOIN ARRAY_JOIN'.split(' '),
);
const TWO_WORDS = /^ *(?:CROSS JOIN|EXCEPT COLUMN TRANSFORMER) id: \d+/;
const NODE = /^ *([A-Z_]+(?: [A-Z_]+)*) id: \d+/;

/**
 * Checks the lines of EXPLAIN QUERY TREE run_passes = 0 by the same rules as the syntax tree: it is the engine's second way to show a query, the one that it
 * plans by, and tells what the first does not.
 *
 * @throws TailraceError `invalid_parameter` that names the first thing that is not allowed
 */
export function checkQueryTree(lines: readonly string[]): void {
  for (const line of lines) {
    const kind = NODE.exec(line)?.[1];
    if (kind !== undefined) checkNode(kind, line); // otherwise the name of a clause
  }
}

function checkNode(kind: string, line: string): void {
  if (!NODES.has(kind) && !TWO_WORDS.test(line)) throw refuse(`must not have ${kind}`);
  if (kind === 'FUNCTION') refuseFunction(/ function_name: ([^ ,]+)/.exec(line)?.[1] ?? '');
  if (kind === 'LAMBDA' && line.includes('alias:')) throw refuse('must not give a lambda a name');
  if (kind === 'SORT' && !/, with_fill: 0\b/.test(line)) throw refuse('must not have WITH FILL');
  if (/^ *(?:QUERY|UNION) .*, is_recursive/.test(line)) throw refuse('must not have WITH RECURSIVE');
}

import { type SyntaxNode, walk } from '../syntax-tree.ts';
import { checkArguments, isBoundByArguments, type RuleContext } from './argument-rules.ts';
import { refuseBeyond } from './bounds.ts';
import { isAllowedFunction } from './function.ts';
import { givenNameOf, nameOf } from './literal.ts';
import { refuse } from './refusal.ts';
import { ZONE_PLACES } from './time-zone.ts';

export interface TreeContext extends Omit<RuleContext, 'aliases'> {
  /** Those of the stored query. */
  readonly storedViews: readonly string[];
  /** Every function that the engine knows, in small letters: it takes the name of one where a lambda is wanted. */
  readonly engineFunctions: ReadonlySet<string>;
}

/** Nodes that a SELECT over views is made of. What is not listed is refused. */
const KINDS = new Set(
  `SelectWithUnionQuery SelectIntersectExceptQuery SelectQuery ExpressionList WithElement Subquery Function Identifier
  TableIdentifier Literal Asterisk QualifiedAsterisk ColumnsTransformerList ColumnsExceptTransformer TablesInSelectQuery
  TablesInSelectQueryElement TableExpression TableJoin ArrayJoin OrderByElement WindowDefinition WindowListElement`.split(
    /\s+/,
  ),
);

/** What the names of the other kinds mean to someone who wrote SQL. */
const WORDS: Readonly<Record<string, string>> = {
  Set: 'SETTINGS: the limits are those of the service',
  ColumnsApplyTransformer: 'APPLY: call the function on each column',
  ColumnsReplaceTransformer: 'REPLACE: name the columns',
  ColumnsRegexpMatcher: 'COLUMNS(…): name the columns',
  SampleRatio: 'SAMPLE',
  InterpolateElement: 'INTERPOLATE',
  QueryParameter: '{…}: write parameters as @name',
};

/**
 * Checks the tree that EXPLAIN AST gives of a caller's SELECT: known nodes, known functions, arguments that are allowed.
 *
 * @throws TailraceError `invalid_parameter` that names the first thing that is not allowed
 */
export function checkTree(root: SyntaxNode, context: TreeContext): void {
  refuseBeyond('depth', depthOf(root));
  const nodes = [...walk(root)];
  refuseBeyond('nodes', nodes.length);
  const aliases = new Set(nodes.flatMap((node) => givenNameOf(node) ?? []));
  for (const node of nodes) {
    if (!KINDS.has(node.kind)) throw refuse(`must not have ${WORDS[node.kind] ?? node.kind}`);
    if (node.kind === 'TableExpression') checkTableExpression(node, context);
    if (node.kind === 'Function') {
      refuseFunction(nameOf(node));
      checkArguments(node, { ...context, aliases });
    }
    if (node.kind === 'Identifier') checkIdentifier(nameOf(node), context);
    checkAlias(node);
  }
}

function depthOf({ children }: SyntaxNode): number {
  return 1 + children.reduce((deepest, child) => Math.max(deepest, depthOf(child)), 0);
}

/** The tables that a checked tree names, which must be views. @throws TailraceError `invalid_parameter` for any other */
export function checkTables(root: SyntaxNode, views: ReadonlySet<string>): void {
  for (const node of walk(root)) {
    const name = nameOf(node);
    if (node.kind === 'TableIdentifier' && !views.has(name))
      throw refuse(`must not read ${name}; what can be read is ${[...views].join(', ')}`);
    // `FROM app AS recent, recent`: the engine reads app twice.
    const alias = givenNameOf(node);
    if (alias !== undefined && views.has(alias) && !(node.kind === 'TableIdentifier' && name === alias))
      throw refuse(`must not call anything ${alias}: it is a view`);
  }
}

/**
 * The engine looks names within a view up where the view is used: `((a, b) -> 1) AS equals` would replace the `=` of the
 * view's own conditions. So a lambda has no name.
 */
function checkAlias(node: SyntaxNode): void {
  const alias = givenNameOf(node);
  if (alias !== undefined && node.kind === 'Function' && nameOf(node).toLowerCase() === 'lambda')
    throw refuse(`must not give the lambda a name, ${alias}: write it where it is used`);
}

function checkTableExpression(expression: SyntaxNode, { storedViews }: TreeContext): void {
  const called = expression.children.find(({ kind }) => kind === 'Function');
  if (called !== undefined)
    throw refuse(
      `must not read the table function ${nameOf(called)}(); what can be read is ${storedViews.join(', ')}`,
    );
  if (expression.children.length > 1)
    throw refuse('must not name the columns of a table after it: name them where they are made');
}

/** @throws TailraceError `invalid_parameter` where a caller's SELECT may not call it */
export function refuseFunction(name: string): void {
  if (isAllowedFunction(name)) return;
  const instead = /^(?:now|now64|today|yesterday)$/i.test(name) ? '; use @now, the instant of the query' : '';
  throw refuse(
    `must not call ${name}()${instead || '; docs/sandboxing-functions.md lists what can be called'}`,
  );
}

/** The engine takes `arrayMap(file, …)`: so a name by itself must not be that of a function that cannot be called. */
function checkIdentifier(name: string, { engineFunctions }: TreeContext): void {
  if (name.includes('.') || !engineFunctions.has(name.toLowerCase())) return;
  // Columns are called `hour` and the like: only in the place of a lambda does that hand a time zone over (argument-rules.ts).
  const isBound = isBoundByArguments(name) && !ZONE_PLACES.has(name.toLowerCase());
  if (isAllowedFunction(name) && !isBound) return;
  throw refuse(
    `must not name ${name} by itself, which is a function; write a column of this name as view.${name}`,
  );
}

import { PLAIN_NAME } from '../sql/with-list.ts';
import { checkArguments, isBoundByArguments, type RuleContext, ZONE_PLACES } from './argument-rules.ts';
import { isAllowedFunction } from './function.ts';
import {
  assertBound,
  clause,
  givenNameOf,
  identifierOf,
  invalidSql,
  isSelect,
  isTablePlace,
  NO_TABLE,
  nameOf,
  type SyntaxNode,
  viewNameOf,
  walk,
} from './syntax-tree.ts';

export interface TreeContext extends Omit<RuleContext, 'aliases'> {
  /** Views of the stored query. */
  readonly storedViews: readonly string[];
  /** Every function of the engine, in lower case: its name can take the place of a lambda. */
  readonly engineFunctions: ReadonlySet<string>;
}

/** Nodes of a SELECT over views. Others are rejected. */
const KINDS = new Set(
  `SelectWithUnionQuery SelectIntersectExceptQuery SelectQuery ExpressionList WithElement Subquery Function Identifier
    TableIdentifier Literal Asterisk QualifiedAsterisk ColumnsTransformerList ColumnsExceptTransformer
    TablesInSelectQuery TablesInSelectQueryElement TableExpression TableJoin ArrayJoin OrderByElement WindowDefinition
    WindowListElement`.split(/\s+/),
);

/** The SQL of other kinds of nodes, and what to write instead. */
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
 * Checks a caller's SELECT in EXPLAIN AST.
 *
 * @throws TailraceError `invalid_parameter` that names the first thing that is not allowed
 */
export function checkTree(root: SyntaxNode, context: TreeContext): void {
  assertBound('tuples', multiplyTuples(root));
  const nodes = [...walk(root)];
  const aliases = new Set(nodes.flatMap((node) => givenNameOf(node) ?? []));
  const columns = new Set([...findExpressions(nodes)].flatMap((node) => givenNameOf(node) ?? []));
  for (const node of nodes) {
    if (!KINDS.has(node.kind)) throw invalidSql(`must not have ${WORDS[node.kind] ?? node.kind}`);
    if (node.kind === 'TableExpression') checkTableExpression(node, context);
    if (node.kind === 'Function') {
      rejectFunction(nameOf(node));
      checkArguments(node, { ...context, aliases });
      checkAlias(node);
    }
    // The engine reads the name of a column as a function only instead of a lambda, which argument-rules.ts checks.
    if (node.kind === 'Identifier' && !columns.has(nameOf(node))) checkIdentifier(nameOf(node), context);
  }
}

/** The members of the largest tuple of a SELECT, times those of the SELECTs in it. */
function multiplyTuples(select: SyntaxNode): number {
  let largest = 1;
  let inner = 1;
  const left = [...select.children];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    if (node.kind === 'SelectQuery') inner *= multiplyTuples(node);
    else left.push(...node.children);
    if (node.kind !== 'Function' || nameOf(node).toLowerCase() !== 'tuple') continue;
    const members = node.children[0]?.children.length ?? 0;
    assertBound('tuple', members);
    largest = Math.max(largest, members);
  }
  return largest * inner;
}

// Not subqueries, which are tables elsewhere.
const EXPRESSIONS = ['Function', 'Identifier', 'Literal'];

/** The expressions of a SELECT, without those used as tables. */
function findExpressions(nodes: readonly SyntaxNode[]): ReadonlySet<SyntaxNode> {
  const places = nodes.filter(({ kind }) => kind === 'TableExpression');
  const tables = new Set(places.flatMap(({ children }) => children));
  return new Set(nodes.filter((node) => EXPRESSIONS.includes(node.kind) && !tables.has(node)));
}

/**
 * Checks that the tree reads only views. Expressions may have the name of a view, since the engine looks tables up only
 * among tables.
 *
 * @param read names in the expressions of the stored WITH, which the engine looks up in the caller's SELECT, too
 * @throws TailraceError `invalid_parameter` for any other table
 */
export function checkTables(root: SyntaxNode, views: ReadonlySet<string>, read: ReadonlySet<string>): void {
  const nodes = [...walk(root)];
  const expressions = findExpressions(nodes);
  for (const node of nodes) {
    const name = nameOf(node);
    if (node.kind === 'TableIdentifier' && !views.has(name))
      throw invalidSql(`must not read ${name}; what can be read is ${[...views].join(', ')}`);
    // In `FROM app AS recent, recent` the engine reads app twice.
    const alias = givenNameOf(node);
    const isOwn = node.kind === 'TableIdentifier' && name === alias;
    const isColumn = expressions.has(node) && !read.has(alias ?? '');
    if (alias !== undefined && views.has(alias) && !isOwn && !isColumn)
      throw invalidSql(`must not call anything ${alias}: it is a view`);
  }
}

/**
 * The engine resolves a view's names at each use: `((a, b) -> 1) AS equals` would replace the `=` of the view's own
 * conditions.
 */
function checkAlias(node: SyntaxNode): void {
  const alias = givenNameOf(node);
  if (alias !== undefined && nameOf(node).toLowerCase() === 'lambda')
    throw invalidSql(`must not give the lambda a name, ${alias}: write it where it is used`);
}

function checkTableExpression(expression: SyntaxNode, { storedViews }: TreeContext): void {
  const called = expression.children.find(({ kind }) => kind === 'Function');
  if (called !== undefined)
    throw invalidSql(
      `must not read the table function ${nameOf(called)}(); what can be read is ${storedViews.join(', ')}`,
    );
  if (expression.children.length > 1)
    throw invalidSql('must not name the columns of a table after it: name them where they are computed');
}

/** @throws TailraceError `invalid_parameter` for a function that a caller's SELECT may not call */
function rejectFunction(name: string): void {
  if (isAllowedFunction(name)) return;
  const isClock = /^(?:now|now64|today|yesterday)$/i.test(name);
  const instead = isClock
    ? 'use @now, the instant of the query'
    : 'docs/sandboxing-functions.txt lists what can be called';
  throw invalidSql(`must not call ${name}(); ${instead}`);
}

/** The engine accepts `arrayMap(file, …)`, so a name by itself must not be that of a function that cannot be called. */
function checkIdentifier(name: string, { engineFunctions }: TreeContext): void {
  if (name.includes('.') || !engineFunctions.has(name.toLowerCase())) return;
  // Columns have names such as `hour`. Such a name passes a time zone only instead of a lambda (argument-rules.ts).
  const isBound = isBoundByArguments(name) && !ZONE_PLACES.has(name.toLowerCase());
  if (isAllowedFunction(name) && !isBound) return;
  throw invalidSql(
    `must not name ${name} by itself, which is a function; write a column of this name as view.${name}`,
  );
}

const QUERY_NODES: ReadonlySet<string> = new Set([
  ...['QUERY', 'UNION', 'LIST', 'FUNCTION', 'IDENTIFIER', 'CONSTANT', 'MATCHER', 'LAMBDA', 'SORT', 'WINDOW'],
  ...['JOIN', 'CROSS JOIN', 'ARRAY_JOIN', 'EXCEPT COLUMN TRANSFORMER'],
]);
const QUERY_NODE = /^ *([A-Z_]+(?: [A-Z_]+)*) id: \d+/;

/** The same for EXPLAIN QUERY TREE run_passes = 0, by which the engine plans. It shows what the syntax tree omits. */
export function checkQueryTree(lines: readonly string[]): void {
  for (const line of lines) {
    const kind = QUERY_NODE.exec(line)?.[1];
    if (kind !== undefined) checkQueryNode(kind, line); // other lines name clauses
  }
}

function checkQueryNode(kind: string, line: string): void {
  if (!QUERY_NODES.has(kind)) throw invalidSql(`must not have ${kind}`);
  if (kind === 'FUNCTION') rejectFunction(/ function_name: ([^ ,]+)/.exec(line)?.[1] ?? '');
  if (kind === 'LAMBDA' && line.includes('alias:')) throw invalidSql('must not give a lambda a name');
  if (kind === 'SORT' && !/, with_fill: 0\b/.test(line)) throw invalidSql('must not have WITH FILL');
  if (/^ *(?:QUERY|UNION) .*, is_recursive/.test(line)) throw invalidSql('must not have WITH RECURSIVE');
}

/**
 * The names of the caller's own views, at any depth. None is that of a stored view: inside of itself the engine would
 * read a table of this name. @throws TailraceError `invalid_parameter` for such a name, and one that is not plain
 */
export function findViews(root: SyntaxNode, storedViews: readonly string[]): ReadonlySet<string> {
  const views = [...walk(root)].filter(isSelect).flatMap((node) => viewNameOf(node) ?? []);
  if (!views.every((name) => PLAIN_NAME.test(name)))
    throw invalidSql('must have views with names of letters, digits and underscores only');
  const shadowing = views.find((name) => storedViews.includes(name));
  if (shadowing !== undefined) throw rejectName(shadowing);
  return new Set(views);
}

/** Views that are visible at a place, each with the names of all views that it is made of. */
type Visible = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Checks that each name used as a table is that of a view, by the engine's rule: a view is visible after it in its own
 * WITH, and everywhere in the SELECT of that WITH. Elsewhere, and inside of the view itself, the engine would look for
 * a table of this name. Such a text is rejected, whether or not the table exists, so that tables created later change
 * nothing about an accepted text. While the engine resolves a view, it reads the view's name as a table's at any depth,
 * so no view is made of one of its own name. Views of one name may stand beside each other, as in the SELECTs of a UNION.
 *
 * @param storedViews of the stored query
 * @throws TailraceError `invalid_parameter` for a view out of reach, or a name that is given twice
 */
export function checkViews(root: SyntaxNode, storedViews: readonly string[]): void {
  visit(root, new Map(storedViews.map((view) => [view, new Set()])), new Set());
}

/** @param used gets the names of the views that a node reads or contains, and of those that they are made of */
function visit(node: SyntaxNode, visible: Visible, used: Set<string>): void {
  if (node.kind === 'QUERY') {
    visitQuery(node, visible, used);
    return;
  }
  for (const child of node.children)
    if (child.kind === 'IDENTIFIER' && isTablePlace(node)) readTable(identifierOf(child), visible, used);
    else visit(child, visible, used);
}

function visitQuery(query: SyntaxNode, visible: Visible, used: Set<string>): void {
  const seen = new Map(visible);
  const given = new Set<string>();
  for (const member of clause(query, 'WITH')) {
    const name = viewNameOf(member);
    const parts = new Set<string>();
    visit(member, seen, parts);
    if (name !== undefined) {
      if (given.has(name) || parts.has(name)) throw rejectName(name);
      given.add(name);
      seen.set(name, parts);
      used.add(name);
    }
    addAll(used, parts);
  }
  for (const child of query.children) if (child.kind !== 'WITH') visit(child, seen, used);
}

function readTable(name: string, visible: Visible, used: Set<string>): void {
  if (name === NO_TABLE) return;
  const parts = visible.get(name);
  if (parts === undefined)
    throw invalidSql(
      `must not read ${name} there: a view can be read after it in its WITH and in the SELECT of that WITH, not in itself`,
    );
  used.add(name);
  addAll(used, parts);
}

function addAll(names: Set<string>, others: ReadonlySet<string>): void {
  for (const name of others) names.add(name);
}

function rejectName(name: string) {
  return invalidSql(`must not call a view ${name}: the name is taken; give each another name`);
}

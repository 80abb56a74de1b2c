import type { ParameterType } from '../../definitions/endpoint.ts';
import { quote } from '../../sql/quote.ts';
import { findLikeFault, findPatternFault } from '../pattern.ts';
import { type SyntaxNode, walk } from '../syntax-tree.ts';
import { isAllowedFunction, LIKE_FUNCTIONS, NEEDLES, REGEX_FUNCTIONS, SEARCHED_LISTS } from './function.ts';
import { refuse } from './refusal.ts';

export interface TreeContext {
  /** Those of the stored query. */
  readonly storedViews: readonly string[];
  /** Names that may stand where a table does. */
  readonly views: ReadonlySet<string>;
  /** Every function that the engine knows, in small letters: it takes the name of one where a lambda is wanted. */
  readonly engineFunctions: ReadonlySet<string>;
  /** The type of the parameter that a text in quotes stands for; `undefined` where it is a text of the caller's own. */
  readonly parameterType: (text: string) => ParameterType | undefined;
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

// Of data that can be written down; not those that read back a state or a form of their own.
const TYPES = new Set(
  `String Bool Int8 Int16 Int32 Int64 Int128 Int256 UInt8 UInt16 UInt32 UInt64 UInt128 UInt256 Float32 Float64 Decimal
  Decimal32 Decimal64 Decimal128 Decimal256 Date Date32 DateTime DateTime32 DateTime64 UUID IPv4 IPv6 Array Tuple Map Nullable
  LowCardinality`
    .toLowerCase()
    .split(/\s+/),
);

/**
 * Checks the tree that EXPLAIN AST gives of a caller's SELECT: known nodes, known functions, views where tables stand.
 *
 * @throws TailraceError `invalid_parameter` that names the first thing that is not allowed
 */
export function checkTree(root: SyntaxNode, context: TreeContext): void {
  for (const node of walk(root)) {
    if (!KINDS.has(node.kind)) throw refuse(`must not have ${WORDS[node.kind] ?? node.kind}`);
    if (node.kind === 'TableExpression') refuseTableFunction(node, context);
    if (node.kind === 'TableIdentifier' && !context.views.has(nameOf(node)))
      throw refuse(`must not read ${nameOf(node)}; ${readable(context)}`);
    if (node.kind === 'Function') checkFunction(node, context);
    if (node.kind === 'Identifier') checkIdentifier(nameOf(node), context);
    checkAlias(node, context);
  }
}

/** The name of a function or an identifier: the word after the kind of node. */
function nameOf({ text }: SyntaxNode): string {
  return /^[^ ]*/.exec(text)?.[0] ?? '';
}

/**
 * The engine looks names within a view up where the view is used: `((a, b) -> 1) AS equals` would replace the `=` of the
 * view's own conditions. So a lambda has no name, and nothing else has that of a stored view.
 */
function checkAlias(node: SyntaxNode, { storedViews }: TreeContext): void {
  const alias = /(?:^| )\(alias (\w+)\)$/.exec(node.text)?.[1];
  if (alias === undefined) return;
  if (node.kind === 'Function' && nameOf(node).toLowerCase() === 'lambda')
    throw refuse(`must not give the lambda a name, ${alias}: write it where it is used`);
  if (storedViews.includes(alias) && !(node.kind === 'TableIdentifier' && nameOf(node) === alias))
    throw refuse(`must not call anything ${alias}: it is a view of the stored query`);
}

function refuseTableFunction(expression: SyntaxNode, context: TreeContext): void {
  const called = expression.children.find(({ kind }) => kind === 'Function');
  if (called === undefined) return;
  throw refuse(`must not read the table function ${nameOf(called)}(); ${readable(context)}`);
}

function readable({ views }: TreeContext): string {
  return `what can be read is ${[...views].join(', ')}`;
}

function checkFunction(node: SyntaxNode, context: TreeContext): void {
  const called = nameOf(node);
  refuseFunction(called);
  const name = called.toLowerCase();
  const second = node.children[0]?.children[1];
  if (name === 'in' || name === 'notin') checkSet(second);
  if (name === 'cast') checkType(second);
  if (REGEX_FUNCTIONS.has(name) || LIKE_FUNCTIONS.has(name)) checkPattern(name, second, context);
  const needleAt = NEEDLES.get(name);
  if (needleAt !== undefined) checkNeedle(called, node.children[0]?.children[needleAt]);
  if (SEARCHED_LISTS.has(name)) checkSearchedList(called, second);
}

/** @throws TailraceError `invalid_parameter` where a caller's SELECT may not call it */
export function refuseFunction(name: string): void {
  if (isAllowedFunction(name)) return;
  const instead = /^(?:now|now64|today|yesterday)$/i.test(name) ? '; use @now, the instant of the query' : '';
  throw refuse(
    `must not call ${name}()${instead || '; docs/sandboxing-functions.md lists what can be called'}`,
  );
}

/** A name by itself would be that of a table. */
function checkSet(set: SyntaxNode | undefined): void {
  const isWritten = set?.kind === 'Function' && ['tuple', 'array'].includes(nameOf(set));
  if (set?.kind === 'Literal' || set?.kind === 'Subquery' || isWritten) return;
  throw refuse('must have a list or a SELECT after IN; for an array, call has(array, value)');
}

function checkType(type: SyntaxNode | undefined): void {
  const text = textOf(type);
  // A time zone or the name of a value is in quotes.
  const words = text?.replaceAll(/'[^']*'/g, '').match(/[A-Za-z]\w*/g) ?? [''];
  const other = words.find((word) => !TYPES.has(word.toLowerCase()));
  if (other === undefined) return;
  throw refuse(
    `must not CAST to ${other || 'a type that is not written out'}; types are ${[...TYPES].join(', ')}`,
  );
}

/** The engine cannot be stopped while it matches a block of rows, so a pattern is written out, and bounded. */
function checkPattern(name: string, pattern: SyntaxNode | undefined, { parameterType }: TreeContext): void {
  const isLike = LIKE_FUNCTIONS.has(name);
  const text = textOf(pattern);
  const parameter = text === undefined ? undefined : parameterType(quote(text));
  if (parameter === 'regex' && !isLike) return; // its value has been bounded as such
  if (text === undefined || parameter !== undefined) {
    const other = isLike
      ? '; position(text, @name) looks for the value of a parameter'
      : ', or in a parameter of type regex';
    throw refuse(`must have the pattern of ${name} written out as a text${other}`);
  }
  const fault = isLike ? findLikeFault(text) : findPatternFault(text);
  if (fault !== undefined) throw refuse(`has a pattern that ${fault}`);
}

// As many as a parameter may have: see sandbox.ts.
const NEEDLE_CHARS_MAX = 1_000;
const SEARCHED_MAX = 100;

/** As a pattern: the engine cannot be stopped inside of a call, so what it looks for is written out, and short. */
function checkNeedle(name: string, needle: SyntaxNode | undefined): void {
  const text = textOf(needle);
  if (text === undefined) throw refuse(`must have the text that ${name} looks for written out, or as @name`);
  if (text.length > NEEDLE_CHARS_MAX)
    throw refuse(`must have at most ${NEEDLE_CHARS_MAX} characters in the text that ${name} looks for`);
}

function checkSearchedList(name: string, list: SyntaxNode | undefined): void {
  const members =
    list?.kind === 'Function' && nameOf(list) === 'array' ? (list.children[0]?.children ?? []) : undefined;
  const isWritten =
    list?.kind === 'Literal' || members?.every((member) => member.kind === 'Literal') === true;
  if (!isWritten) throw refuse(`must have the list that ${name} looks for written out, such as ['a', 'b']`);
  const count = members?.length ?? list?.text.split(',').length ?? 0;
  if (count > SEARCHED_MAX)
    throw refuse(`must have at most ${SEARCHED_MAX} members in the list that ${name} looks for`);
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', 0: '\0' };

/** The text that a node of the tree holds, where it is one. */
function textOf(node: SyntaxNode | undefined): string | undefined {
  if (node?.kind !== 'Literal') return undefined;
  const literal = /^'((?:[^'\\]|\\[\s\S])*)'/.exec(node.text)?.[1];
  return literal?.replaceAll(/\\([\s\S])/g, (_, c: string) => ESCAPES[c] ?? c);
}

/** Functions that may be called because of what their arguments are: as a value, they would be handed any. */
function isBoundByArguments(name: string): boolean {
  const small = name.toLowerCase();
  return (
    [REGEX_FUNCTIONS, LIKE_FUNCTIONS, NEEDLES, SEARCHED_LISTS].some((names) => names.has(small)) ||
    ['in', 'notin', 'cast'].includes(small)
  );
}

/** The engine takes `arrayMap(file, …)`: so a name by itself must not be that of a function that cannot be called. */
function checkIdentifier(name: string, { engineFunctions }: TreeContext): void {
  if (name.includes('.') || !engineFunctions.has(name.toLowerCase())) return;
  if (isAllowedFunction(name) && !isBoundByArguments(name)) return;
  throw refuse(
    `must not name ${name} by itself, which is a function; write a column of this name as view.${name}`,
  );
}

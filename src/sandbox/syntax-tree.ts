import { SQL_PARAMETER } from '../definitions/parameter.ts';
import type { Engine } from '../engine/engine.ts';
import type { TailraceError } from '../errors.ts';
import { rejectParameter } from '../query/parameters.ts';
import { parseSql } from '../sql/parse.ts';
import { sql, trusted } from '../sql/sql.ts';

/** One node of a query as the engine has parsed it. */
export interface SyntaxNode {
  /** Such as `Function`, `TableIdentifier`; in the query tree `FUNCTION`, `TABLE_FUNCTION`. */
  readonly kind: string;
  /** The rest of the engine's line, such as `count (alias n)`; in the query tree `function_name: count`. */
  readonly text: string;
  readonly children: readonly SyntaxNode[];
}

/** A query that is not one statement with plain names; the message is for its author. */
export class SyntaxTreeError extends Error {
  override readonly name = 'SyntaxTreeError';
}

/**
 * The parse tree of one statement (EXPLAIN AST), which does not run. It omits the expression in `* APPLY(x -> …)`, which
 * `readQueryTree` shows. A `FORMAT` or `INTO OUTFILE` is a second child of the root.
 *
 * @param sql without parameters
 * @throws SyntaxTreeError, also for a text that could take the engine too long to parse; the engine's own error for a
 *   text that it cannot parse or that is more than one statement
 */
export async function readSyntaxTree(engine: Engine, sql: string): Promise<SyntaxNode> {
  const fault = findWordFault(sql);
  if (fault !== undefined) throw new SyntaxTreeError(fault);
  await rejectOddNames(engine, sql);
  return parseSyntaxTree(await explain(engine, `AST ${sql}`));
}

/**
 * The query before names are resolved, with functions passed by name and the expressions inside APPLY. A SELECT without
 * FROM reads `system.one` here. Call `readSyntaxTree` first: it rejects anything but a plain SELECT. @throws as
 * `readSyntaxTree`
 */
export async function readQueryTree(engine: Engine, sql: string): Promise<SyntaxNode> {
  // In brackets: EXPLAIN itself would write the file of an INTO OUTFILE.
  return parseQueryTree(await explain(engine, `QUERY TREE run_passes = 0 SELECT * FROM (${sql}\n)`));
}

async function explain(engine: Engine, what: string): Promise<string[]> {
  return (await engine.inspect(trusted(`EXPLAIN ${what}`))).map((row) => String(row['explain']));
}

const QUOTED = /'(?:[^'\\]|\\.)*'|`((?:[^`\\]|\\.)*)`/gs;

/**
 * The engine writes names into its trees unescaped, so a name with a line break could forge lines of the tree. In the
 * engine's own spelling of the query such a name has a backslash. If the engine can spell the query, it is one
 * statement.
 */
async function rejectOddNames(engine: Engine, query: string): Promise<void> {
  const [row] = await engine.inspect(sql`SELECT formatQuerySingleLine(${query}) AS sql`);
  for (const [, name = ''] of String(row?.['sql']).matchAll(QUOTED)) {
    if (name.includes('\\'))
      throw new SyntaxTreeError('must not have names with line breaks, backslashes or backquotes in them');
  }
}

const SYNTAX_LINE = /^(?<kind>\S+)(?: (?<text>.*?))??(?: \(children (?<count>\d+)\))?$/;
const QUERY_LINE = /^(?<kind>.*?) ?(?: id: \d+(?:, (?<text>.*))?)?$/;

/** Reads the lines of EXPLAIN AST. @throws SyntaxTreeError if they are not a tree */
export function parseSyntaxTree(lines: readonly string[]): SyntaxNode {
  return parseTree(lines, SYNTAX_LINE);
}

/** Reads the lines of EXPLAIN QUERY TREE. @throws SyntaxTreeError if they are not a tree */
export function parseQueryTree(lines: readonly string[]): SyntaxNode {
  return parseTree(lines, QUERY_LINE);
}

interface OpenNode extends SyntaxNode {
  readonly indent: number;
  /** The number of children, if the engine states it. */
  readonly count: number | undefined;
  readonly children: OpenNode[];
}

/** The parent of a node is the last node before it with a smaller indent. */
function parseTree(lines: readonly string[], form: RegExp): SyntaxNode {
  const all: OpenNode[] = [];
  const path: OpenNode[] = [];
  for (const line of lines) {
    const text = line.trimStart();
    const { kind = '', text: rest = '', count } = form.exec(text)?.groups ?? {};
    const indent = line.length - text.length;
    const stated = count === undefined ? undefined : Number(count);
    const node = { kind, text: rest, children: [], indent, count: stated };
    while ((path.at(-1)?.indent ?? -1) >= indent) path.pop();
    path.at(-1)?.children.push(node);
    path.push(node);
    all.push(node);
  }
  const [root, ...others] = all;
  const isWhole = (node: OpenNode) => node.count === undefined || node.count === node.children.length;
  if (root === undefined || others.some((node) => node.indent === 0) || !all.every(isWhole))
    throw new SyntaxTreeError(
      'cannot be read: a name in it looks like a part of the engine’s own description',
    );
  return root;
}

/** A node and all below it, in the order of the text. */
export function* walk(node: SyntaxNode): Generator<SyntaxNode> {
  // Without recursion: nested generators would pass each node through all levels above it.
  const left = [node];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    yield next;
    for (const child of next.children.toReversed()) left.push(child);
  }
}

// Nodes of EXPLAIN QUERY TREE.

/** The nodes of a clause, such as `PROJECTION` of a `QUERY` or `ARGUMENTS` of a `FUNCTION`; a list is flattened. */
export function clause(node: SyntaxNode, name: string): readonly SyntaxNode[] {
  return node.children
    .filter(({ kind }) => kind === name)
    .flatMap(({ children }) => children)
    .flatMap((child) => (child.kind === 'LIST' ? child.children : [child]));
}

export function viewNameOf({ text }: SyntaxNode): string | undefined {
  return /\bcte_name: ([^ ,]+)/.exec(text)?.[1];
}

export function identifierOf({ text }: SyntaxNode): string {
  return /\bidentifier: ([^ ,]+)$/.exec(text)?.[1] ?? '';
}

export function isSelect({ kind }: SyntaxNode): boolean {
  return kind === 'QUERY' || kind === 'UNION';
}

/** Whether the children of a node are read as tables. */
export function isTablePlace({ kind }: SyntaxNode): boolean {
  return /^(?:JOIN TREE|(?:LEFT |RIGHT )?TABLE EXPRESSION)$/.test(kind);
}

/** The table of one row that a SELECT without FROM reads in the engine's tree. */
export const NO_TABLE = 'system.one';

// Nodes of EXPLAIN AST.

/** The name of a function or an identifier: the word after the kind of node. */
export function nameOf({ text }: SyntaxNode): string {
  return /^[^ ]*/.exec(text)?.[0] ?? '';
}

export function givenNameOf({ text }: SyntaxNode): string | undefined {
  return /(?:^| )\(alias (\w+)\)$/.exec(text)?.[1];
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', 0: '\0' };

/** The text that a node of EXPLAIN AST holds, such as `'it\'s'`; `undefined` for other nodes. */
export function textOf(node: SyntaxNode | undefined): string | undefined {
  if (node?.kind !== 'Literal') return undefined;
  const text = /^'((?:[^'\\]|\\[\s\S])*)'/.exec(node.text)?.[1];
  return text?.replaceAll(/\\([\s\S])/g, (_, c: string) => ESCAPES[c] ?? c);
}

/** The error for a caller's SELECT. @param message what is not allowed in it, and what would be */
export function invalidSql(message: string, cause?: unknown): TailraceError {
  return rejectParameter(SQL_PARAMETER, message, cause);
}

/** Bounds of a caller's SELECT beside the engine's own limits (engine/read-settings.ts), which come too late for these. */
export const BOUNDS = {
  // The engine's parser expands `x BETWEEN 1 AND 2` to `x >= 1 AND x <= 2`: each on the left of another doubles the text.
  betweens: { max: 16, unit: 'BETWEEN; write >= and <=' },
  joins: { max: 32, unit: 'JOIN' },
  tuple: { max: 500, unit: 'members in a tuple' },
  // `(x, x) AS x` of a SELECT of the same: the type of the outermost one has all members.
  tuples: { max: 100_000, unit: 'members in the largest tuple of each nested SELECT, multiplied' },
} as const;

/** @throws TailraceError `invalid_parameter` that names the bound, its unit and the count */
export function assertBound(name: keyof typeof BOUNDS, count: number): void {
  const fault = findExcess(name, count);
  if (fault !== undefined) throw invalidSql(fault);
}

function findExcess(name: keyof typeof BOUNDS, count: number): string | undefined {
  const { max, unit } = BOUNDS[name];
  return count > max ? `must have at most ${max} ${unit}; this one has ${count}` : undefined;
}

/** Why the engine's parser would take too long for a text, of callers and of authors; `undefined` if it does not. */
export function findWordFault(sql: string): string | undefined {
  const { words } = parseSql(sql);
  const count = (key: string) => words.filter((word) => word.key === key).length;
  return findExcess('betweens', count('BETWEEN')) ?? findExcess('joins', count('JOIN'));
}

import type { Engine } from '../engine/engine.ts';
import { quote } from '../sql/quote.ts';

/** One node of a query as the engine has parsed it. */
export interface SyntaxNode {
  /** Such as `Function`, `TableIdentifier`; in the query tree `FUNCTION`, `TABLE_FUNCTION`. */
  readonly kind: string;
  /** What else the engine says of it, such as `count (alias n)`; in the query tree `function_name: count`. */
  readonly text: string;
  readonly children: readonly SyntaxNode[];
}

/** The query cannot be read as one statement with plain names; its message is for the query's author. */
export class SyntaxTreeError extends Error {
  override readonly name = 'SyntaxTreeError';
}

/**
 * The parse tree of one statement (EXPLAIN AST), which nothing of it runs for. What `* APPLY(x -> …)` holds does not stand in
 * it: `readQueryTree` shows that. A `FORMAT` or `INTO OUTFILE` is a second child of the root.
 *
 * @param sql values in their places
 * @throws SyntaxTreeError; the engine's own error where it cannot parse the text or it is more than one statement
 */
export async function readSyntaxTree(engine: Engine, sql: string): Promise<SyntaxNode> {
  await refuseOddNames(engine, sql);
  return parseSyntaxTree(await explain(engine, `AST ${sql}`));
}

/**
 * The query as the analyzer first sees it, before names are resolved, with the functions that are handed over by name and the
 * expressions inside APPLY. A SELECT without FROM reads `system.one` here. Call `readSyntaxTree` first: it refuses what is no
 * plain SELECT.
 *
 * @throws as `readSyntaxTree`
 */
export async function readQueryTree(engine: Engine, sql: string): Promise<SyntaxNode> {
  // In brackets: EXPLAIN itself would write the file of an INTO OUTFILE.
  return parseQueryTree(await explain(engine, `QUERY TREE run_passes = 0 SELECT * FROM (${sql}\n)`));
}

async function explain(engine: Engine, what: string): Promise<string[]> {
  return (await engine.inspect(`EXPLAIN ${what}`)).map((row) => String(row['explain']));
}

const QUOTED = /'(?:[^'\\]|\\.)*'|`((?:[^`\\]|\\.)*)`/gs;

/**
 * The engine writes names into its trees as they are, so that one with a line break could write lines of its own there. In
 * the engine's own spelling of the query such a name has a backslash. That it spells the query at all proves it one statement.
 */
async function refuseOddNames(engine: Engine, sql: string): Promise<void> {
  const [row] = await engine.inspect(`SELECT formatQuerySingleLine(${quote(sql)}) AS sql`);
  for (const [, name = ''] of String(row?.['sql']).matchAll(QUOTED)) {
    if (name.includes('\\'))
      throw new SyntaxTreeError('must not have names with line breaks, backslashes or backquotes in them');
  }
}

const SYNTAX_LINE = /^(?<kind>\S+)(?: (?<text>.*?))??(?: \(children (?<count>\d+)\))?$/;
const QUERY_LINE = /^(?<kind>.*?) ?(?: id: \d+(?:, (?<text>.*))?)?$/;

/** Reads the lines of EXPLAIN AST. @throws SyntaxTreeError when they are no tree */
export function parseSyntaxTree(lines: readonly string[]): SyntaxNode {
  return parseTree(lines, SYNTAX_LINE);
}

/** Reads the lines of EXPLAIN QUERY TREE. @throws SyntaxTreeError when they are no tree */
export function parseQueryTree(lines: readonly string[]): SyntaxNode {
  return parseTree(lines, QUERY_LINE);
}

interface OpenNode extends SyntaxNode {
  readonly indent: number;
  /** As the engine says it; `undefined` where it does not. */
  readonly count: number | undefined;
  readonly children: OpenNode[];
}

/** A node belongs to the last one before it that is indented less. */
function parseTree(lines: readonly string[], form: RegExp): SyntaxNode {
  const all: OpenNode[] = [];
  const path: OpenNode[] = [];
  for (const line of lines) {
    const text = line.trimStart();
    const { kind = '', text: rest = '', count } = form.exec(text)?.groups ?? {};
    const indent = line.length - text.length;
    const node = {
      kind,
      text: rest,
      children: [],
      indent,
      count: count === undefined ? undefined : Number(count),
    };
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
  // Not by recursion: a generator inside of another hands each node on through all of those above it.
  const left = [node];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    yield next;
    for (const child of next.children.toReversed()) left.push(child);
  }
}

import { createRequire } from 'node:module';
import { restorePrecedence } from './precedence.ts';
import type { Prepared } from './prepare.ts';
import { placeOf, refuse, shorten } from './refusal.ts';
import type { Token } from './token.ts';

/** A node of the parser's tree. Its members are read by a `Reader` only. */
export interface Node {
  readonly [member: string]: unknown;
}

type Parse = (sql: string, options: { parseOptions: { includeLocations: boolean } }) => unknown;

let parser: { astify: Parse } | undefined;

/** The parser takes 70 MB of memory once it is loaded, so only callers' BigQuery SELECTs load it. */
function loadParser(): { astify: Parse } {
  if (parser === undefined) {
    // The types of the package, which are also those of this build of it.
    const { Parser } = createRequire(import.meta.url)(
      'node-sql-parser/build/bigquery.js',
    ) as typeof import('node-sql-parser');
    parser = new Parser();
  }
  return parser;
}

/** The tree of one SELECT. @throws TailraceError `invalid_parameter` at the place where the parser stops */
export function parse(prepared: Prepared): Reader {
  let tree: unknown;
  try {
    tree = restorePrecedence(
      loadParser().astify(prepared.text, { parseOptions: { includeLocations: true } }),
    );
  } catch (error) {
    const offset = readOffset(error);
    if (offset === undefined) throw refuse('is not BigQuery SQL that is understood', undefined, error);
    const words = shorten(prepared.wordsAt(offset));
    throw refuse(`is not BigQuery SQL that is understood near "${words}"`, prepared.placeAt(offset), error);
  }
  if (!isNode(tree)) throw refuse('must be one SELECT');
  return createReader(prepared, tree);
}

function readOffset(error: unknown): number | undefined {
  const location = isNode(error) ? error['location'] : undefined;
  const start = isNode(location) ? location['start'] : undefined;
  const offset = isNode(start) ? start['offset'] : undefined;
  return typeof offset === 'number' ? offset : undefined;
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Members that repeat what others or the structure of the tree say. */
const REPEATING = new Set([
  'loc',
  'tableList',
  'columnList',
  'surround',
  'parentheses',
  'symbol',
  'brackets',
]);

/** Members that show a clause, and its word. The parser drops some clauses, such as ORDER BY after brackets. */
const CLAUSES: Readonly<Record<string, string>> = {
  where: 'where',
  having: 'having',
  groupby: 'group',
  orderby: 'order',
  limit: 'limit',
  with: 'with',
  _next: 'union',
  over: 'over',
  using: 'using',
};

/** Words that only the tree's structure shows. */
const STRUCTURE = new Set(
  `select from as on unnest by all distinct and or not in is like between null true false case
  when then else end cast safe_cast extract interval partition asc desc`.split(/\s+/),
);

/**
 * Reads the parser's tree and records each member that is read. `finish` refuses a tree with a member that was not read, and a text
 * with a word or value that the parser dropped: what is not understood changes no answer in silence.
 */
export type Reader = ReturnType<typeof createReader>;

function createReader(prepared: Prepared, root: Node) {
  const read = new Map<Node, Set<string>>();
  const offsets = new Map<unknown, number>(); // of nodes, or of the nodes around them
  const literals = new Set<number>();

  function take(node: Node, name: string): unknown {
    const names = read.get(node);
    if (names === undefined) read.set(node, new Set([name]));
    else names.add(name);
    const value = node[name];
    const offset = offsetOf(node);
    for (const child of Array.isArray(value) ? value : [value])
      if (isNode(child) && offset !== undefined && !offsets.has(child)) offsets.set(child, offset);
    return value ?? undefined;
  }

  const offsetOf = (node: Node) => readOffset({ location: node['loc'] }) ?? offsets.get(node);
  const fail = (message: string, node: Node) => {
    const offset = offsetOf(node);
    return refuse(message, offset === undefined ? undefined : prepared.placeAt(offset));
  };

  const reader = {
    root,
    /** The error for what is not understood at a node. */
    refuse: fail,
    /** A member; `undefined` if the parser found nothing for it. */
    take,
    /** A member that is a node. */
    node(node: Node, name: string): Node | undefined {
      const value = take(node, name);
      if (value === undefined || isNode(value)) return value;
      throw fail(`has a ${name} that is not understood`, node);
    },
    /** The same for a node that the parser always has. */
    must(node: Node, name: string): Node {
      const value = reader.node(node, name);
      if (value === undefined) throw fail(`lacks a ${name}`, node);
      return value;
    },
    /** A member that is a list of nodes; empty if there is none. */
    nodes(node: Node, name: string): readonly Node[] {
      const value = take(node, name) ?? [];
      if (Array.isArray(value) && value.every(isNode)) return value;
      throw fail(`has a ${name} that is not understood`, node);
    },
    /** A member that is a word. */
    word(node: Node, name: string): string | undefined {
      const value = take(node, name);
      if (value === undefined || typeof value === 'string') return value;
      throw fail(`has a ${name} that is not understood`, node);
    },
    /** The token of a text or a number. */
    literal(node: Node): Token {
      const place = Number(take(node, 'value'));
      const token = prepared.literals[Math.abs(place)];
      if (token === undefined) throw fail('has a value that is not understood', node);
      literals.add(Math.abs(place));
      return place < 0 ? { ...token, value: `-${token.value}` } : token;
    },
    /** @throws TailraceError `invalid_parameter` that names the first member, word or value that was not read */
    finish(): void {
      refuseUnread(root, read, fail);
      for (const [i, token] of prepared.literals.entries())
        if (i > 0 && !literals.has(i)) throw refuseDropped(token, prepared);
      refuseDroppedWords(prepared, root);
    },
  };
  return reader;
}

function refuseUnread(
  node: Node,
  read: ReadonlyMap<Node, ReadonlySet<string>>,
  fail: (message: string, node: Node) => Error,
): void {
  for (const [name, values] of members(node)) {
    if (read.get(node)?.has(name) !== true)
      throw fail(`has ${describe(name, values)}, which is not understood`, node);
    for (const child of values) if (isNode(child)) refuseUnread(child, read, fail);
  }
}

/** The members that say something, each as a list. */
function* members(node: Node): Generator<readonly [name: string, values: readonly unknown[]]> {
  for (const [name, value] of Object.entries(node)) {
    if (value === null || value === undefined || REPEATING.has(name)) continue;
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (values.length > 0) yield [name, values];
  }
}

function describe(name: string, [value]: readonly unknown[]): string {
  const type = isNode(value) && name === 'operator' ? value['type'] : value;
  const words = name.replaceAll('_', ' ').toUpperCase();
  return typeof type === 'string' ? `${words} (${type.toUpperCase()})` : words;
}

/** Refuses a text with a word that the tree has less often than the text. */
function refuseDroppedWords(prepared: Prepared, root: Node): void {
  const counts = new Map<string, number>();
  countWords(root, (word) => counts.set(word, (counts.get(word) ?? 0) + 1));
  for (const token of prepared.tokens) {
    const word = token.value.toLowerCase();
    if ((token.kind !== 'word' && token.kind !== 'name') || STRUCTURE.has(word)) continue;
    const left = counts.get(word) ?? 0;
    if (left === 0 && !isType(prepared, token)) throw refuseDropped(token, prepared);
    counts.set(word, left - 1);
  }
}

/** Whether a word stands after `::`; `prepare` has read it. */
function isType({ tokens }: Prepared, token: Token): boolean {
  return tokens[tokens.indexOf(token) - 1]?.value === '::';
}

function refuseDropped({ kind, value, start }: Token, { sql }: Prepared) {
  const shown = kind === 'text' ? JSON.stringify(shorten(value)) : value;
  return refuse(`has ${shown} in a place that is not understood`, placeOf(sql, start));
}

function countWords(node: Node, add: (word: string) => void): void {
  for (const [name, values] of members(node)) {
    const clause = Object.hasOwn(CLAUSES, name) ? CLAUSES[name] : undefined;
    if (clause !== undefined) add(clause);
    for (const value of values)
      if (isNode(value)) countWords(value, add);
      else for (const word of wordsOf(value)) add(word);
  }
}

/** A name by itself, and the words of one such as LEFT JOIN. */
function wordsOf(value: unknown): readonly string[] {
  if (typeof value !== 'string') return [];
  const small = value.toLowerCase();
  return small.includes(' ') ? [small, ...small.split(' ')] : [small];
}

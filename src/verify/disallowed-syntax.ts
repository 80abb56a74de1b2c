import type { Endpoint } from '../definitions/endpoint.ts';
import { type Definitions, hashEndpoint } from '../definitions/read.ts';
import { findSources, isManaged, type Source } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import { createSampleSql } from '../query/statement.ts';
import { words } from '../sandbox/function.ts';
import {
  isTablePlace,
  NO_TABLE,
  readQueryTree,
  readSyntaxTree,
  type SyntaxNode,
  walk,
} from '../sandbox/syntax-tree.ts';

/** Finds why a query may not be stored, for a reason that only the calling code knows; by `readQueryTree`. */
export type FindDisallowed = (tree: SyntaxNode) => string | undefined;

const NO_FILE = 'must not call file(): stored queries read tables only';

export const NO_SETTINGS = 'must not have SETTINGS: the limits are those of the service';

const NO_SYSTEM = 'must not read system tables: stored queries read the tables of sources only';
// The engine lets every user read most of `system`: queries of other callers with their values, and paths of this machine.
const SYSTEM = /^(?:system|information_schema)\./i;
// These accept a table's name as a text, which may be a system table.
const BY_TEXT = /^(?:merge|loop|mergeTreeIndex|mergeTreeProjection|dictionary)$/i;

/** Finds the first part that no stored query may have, by both trees: each omits parts. @throws as `readSyntaxTree` */
export async function findDisallowedAnywhere(
  engine: Engine,
  sql: string,
  findOwn: FindDisallowed = () => undefined,
): Promise<string | undefined> {
  const disallowed = findDisallowedSyntax(await readSyntaxTree(engine, sql));
  if (disallowed !== undefined) return disallowed;
  const tree = await readQueryTree(engine, sql);
  return findDisallowedInside(tree) ?? findOwn(tree);
}

/** Returns why a parsed query may not be stored; the engine's rights do not cover these. */
export function findDisallowedSyntax(root: SyntaxNode): string | undefined {
  if (root.kind !== 'SelectWithUnionQuery') return 'must be one SELECT: stored queries only read';
  const nodes = [...walk(root)];
  if (nodes.some(({ kind }) => kind === 'Set')) return NO_SETTINGS;
  const functions = nodes
    .filter(({ kind }) => kind === 'Function')
    .map(({ text }) => /^\w*/.exec(text)?.[0] ?? '');
  if (functions.some((name) => name.toLowerCase() === 'file')) return NO_FILE;
  if (nodes.some(({ kind, text }) => /^(?:Table)?Identifier$/.test(kind) && SYSTEM.test(text)))
    return NO_SYSTEM;
  const byText = functions.find((name) => BY_TEXT.test(name));
  return byText && noTableByText(byText);
}

/**
 * Finds the same inside APPLY, which the parse tree omits, and for functions passed by name, as in `arrayMap(file, …)`
 * or `* APPLY(file)`.
 */
function findDisallowedInside(root: SyntaxNode): string | undefined {
  for (const { kind, text } of walk(root)) {
    if (kind === 'FUNCTION' && /\bfunction_name: file\b/i.test(text)) return NO_FILE;
    const [, name = ''] = (kind === 'IDENTIFIER' && /\bidentifier: (.*)$/.exec(text)) || [];
    if (/^file$/i.test(name))
      return `${NO_FILE}; a column of this name is written with its table's, such as logs.file`;
    if (SYSTEM.test(name) && name !== NO_TABLE) return NO_SYSTEM;
    const [, byText = ''] = (kind === 'TABLE_FUNCTION' && /\btable_function_name: (\w+)/.exec(text)) || [];
    if (BY_TEXT.test(byText)) return noTableByText(byText);
  }
  return undefined;
}

const noTableByText = (name: string) =>
  `must not call ${name}(): stored queries name the tables that they read`;

/**
 * Hashes each endpoint over its own files and those of the sources that its query reads: a change of another source
 * leaves the cached answers valid. If it is not certain what a query reads, all sources count. The engine must have
 * accepted every query.
 */
export async function scopeHashes(engine: Engine, definitions: Definitions): Promise<Definitions> {
  const { sources } = definitions;
  const endpoints: Endpoint[] = [];
  for (const endpoint of definitions.endpoints) {
    const tree = await readQueryTree(engine, createSampleSql(endpoint));
    const read = findSourcesRead(endpoint.sql, tree, sources);
    const hash = read === undefined ? endpoint.hash : hashEndpoint(endpoint.fileHash, read);
    endpoints.push({ ...endpoint, hash });
  }
  return { ...definitions, endpoints };
}

/**
 * Returns the sources that a query can read, never too few: one counts if the query has the name of its table, even as a
 * column or an alias. `undefined` if anything else could reach a table (`findForeignTable`), such as a source of an
 * existing table, which is a view.
 */
export function findSourcesRead(sql: string, root: SyntaxNode, sources: readonly Source[]) {
  const tables = new Set(sources.filter(isManaged).map(({ table }) => table));
  return findForeignTable(root, tables) === undefined ? findSources(sql, sources) : undefined;
}

// These generate rows from their arguments.
const TABLE_FUNCTIONS = words('numbers numbers_mt zeros zeros_mt generate_series generateSeries values null');

// A name with one of these in it could forge a field.
const LABELS = ['identifier: ', 'function_name: ', 'cte_name: '];

const viewName = ({ text }: SyntaxNode) => /(?:^|, )cte_name: (\w+)(?:,|$)/.exec(text)?.[1];

interface TableScope {
  readonly tables: ReadonlySet<string>;
  /** The names of WITH. */
  readonly views: ReadonlySet<string>;
}

const TABLE_NODES = new Set(['QUERY', 'UNION', 'TABLE_FUNCTION', 'JOIN', 'CROSS JOIN', 'ARRAY_JOIN']);
const IN = /(?:^|, )function_name: (?:global)?(?:not)?(?:null)?in(?:ignoreset)?(?:,|$)/i;

// These read a table or a dictionary that a text names; passed by name to another function they are identifiers.
const READING_FUNCTION =
  /(?:^|, )(?:function_name|identifier): ((?:dict(?:Get|Has|Is)|joinGet|hasColumnInTable)\w*)(?:,|$)/i;

/**
 * Finds what a query would read beside `tables`: a function that reads more than its arguments, or else the name of a
 * table that is neither one of them nor a view of the query.
 * @param root of `readQueryTree`: before names are resolved, so that no value changes it
 */
export function findForeignTable(root: SyntaxNode, tables: ReadonlySet<string>): string | undefined {
  const nodes = [...walk(root)];
  for (const { kind, text } of nodes) {
    const [, name = 'a table function'] = /\btable_function_name: (\w+)/.exec(text) ?? [];
    if (kind === 'TABLE_FUNCTION' && !TABLE_FUNCTIONS.includes(name)) return `${name}()`;
    const [, reading] = (/^(?:FUNCTION|IDENTIFIER)$/.test(kind) && READING_FUNCTION.exec(text)) || [];
    if (reading !== undefined) return `${reading}()`;
  }
  const hasTwice = (text: string, label: string) => text.indexOf(label) !== text.lastIndexOf(label);
  const isForged = nodes.some(({ text }) => LABELS.some((label) => hasTwice(text, label)));
  if (!isForged && areTablesKnown(root, { tables, views: new Set() })) return undefined;
  const views = new Set(nodes.map(viewName));
  const places = nodes.filter(isTablePlace).flatMap(({ children }) => children);
  const named = places.flatMap(({ text }) => /\bidentifier: ([\w.]+)/.exec(text)?.[1] ?? []);
  const isForeign = (name: string) => !tables.has(name) && !views.has(name) && name !== NO_TABLE;
  return named.find(isForeign) ?? 'another table';
}

/** Whether every name and expression used as a table is known. */
function areTablesKnown(node: SyntaxNode, scope: TableScope): boolean {
  const { kind, text, children } = node;
  if (kind === 'WITH') return true; // see `enter`
  if (isTablePlace(node) && !children.every((child) => isTableKnown(child, scope))) return false;
  if (kind === 'FUNCTION' && IN.test(text) && !isRightSideKnown(node, scope)) return false;
  const inner = kind === 'QUERY' ? enter(node, scope) : scope;
  return inner !== undefined && children.every((child) => areTablesKnown(child, inner));
}

/** The scope within a query: each view sees those before it. `undefined` if a part of a view is not known. */
function enter({ children }: SyntaxNode, scope: TableScope): TableScope | undefined {
  const views = new Set(scope.views);
  const list = children.find(({ kind }) => kind === 'WITH')?.children.flatMap((one) => one.children) ?? [];
  for (const member of list) {
    const name = viewName(member);
    const isRecursive = member.text.includes('is_recursive_cte: 1');
    // Within itself a view is visible only if it is recursive.
    const own = new Set(views);
    if (name !== undefined) own[isRecursive ? 'add' : 'delete'](name);
    if (!areTablesKnown(member, { ...scope, views: own })) return undefined;
    if (name !== undefined) views.add(name);
  }
  return { ...scope, views };
}

function isTableKnown({ kind, text }: SyntaxNode, { tables, views }: TableScope): boolean {
  if (kind !== 'IDENTIFIER') return TABLE_NODES.has(kind);
  const [, name = ''] =
    /(?:^|, )identifier: ([\w.]+)(?:, (?:final|sample_size|sample_offset): .*)?$/.exec(text) ?? [];
  return tables.has(name) || views.has(name) || name === NO_TABLE;
}

/** `x IN name` reads a table, so `name` must be a known one. */
function isRightSideKnown({ children }: SyntaxNode, scope: TableScope): boolean {
  const right = children.flatMap((one) => one.children).flatMap((list) => list.children)[1];
  return right !== undefined && (right.kind !== 'IDENTIFIER' || isTableKnown(right, scope));
}

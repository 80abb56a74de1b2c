import type { Engine } from '../engine/engine.ts';
import { NO_TABLE, readQueryTree, readSyntaxTree, type SyntaxNode, walk } from '../sandbox/syntax-tree.ts';

/** Finds why a query may not be stored, for a reason that only the calling code knows; by `readQueryTree`. */
export type FindDisallowed = (tree: SyntaxNode) => string | undefined;

const NO_FILE = 'must not call file(): stored queries read tables only';

export const NO_SETTINGS = 'must not have SETTINGS: the limits are those of the service';

const NO_SYSTEM = 'must not read system tables: stored queries read the tables of sources only';
// The engine lets every user read most of `system`: queries of other callers with their values, and paths of this machine.
const SYSTEM = /^(?:system|information_schema)\./i;
// These accept a table's name as a text, which may be a system table.
const BY_TEXT = /^(?:merge|loop|mergeTreeIndex|mergeTreeProjection|dictionary)$/i;

/**
 * Finds the first part of a query that no stored query may have, by both trees: each omits parts.
 *
 * @throws as `readSyntaxTree`
 */
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

function noTableByText(name: string): string {
  return `must not call ${name}(): stored queries name the tables that they read`;
}

import { PLAIN_NAME } from '../../sql/with-list.ts';
import { type SyntaxNode, walk } from '../syntax-tree.ts';
import { refuse } from './refusal.ts';
import { aliasOf, clause, identifierOf, isSelect, isTablePlace, NO_TABLE, viewNameOf } from './tree-node.ts';

/** The aliases of one `QUERY`; other names are looked up in the `QUERY` around it. */
export interface Scope {
  readonly query: SyntaxNode;
  readonly parent: Scope | undefined;
  /** An alias that is given more than once stands for all of its expressions. */
  readonly aliases: ReadonlyMap<string, readonly SyntaxNode[]>;
}

/** The meaning of the names in a caller's SELECT. */
export interface Names {
  /** The scope of each `QUERY`. */
  readonly scopes: ReadonlyMap<SyntaxNode, Scope>;
  /** The view that each name in the place of a table reads; `undefined` for a view of the stored query. */
  readonly reads: ReadonlyMap<SyntaxNode, SyntaxNode | undefined>;
  /** The caller's own views. */
  readonly views: readonly SyntaxNode[];
  readonly parents: ReadonlyMap<SyntaxNode, SyntaxNode>;
}

/** Views that are visible at a place; `undefined` for those of the stored query. */
type Visible = ReadonlyMap<string, SyntaxNode | undefined>;

/**
 * Finds the view that each name in the place of a table reads, by the engine's rule: a view is visible after it in its own WITH, and
 * everywhere in the SELECT of that WITH. Elsewhere, and inside of the view itself, the engine would look for a table of this name. Such
 * a text is refused, whether or not the table exists, so that tables created later change nothing about an accepted text.
 *
 * @param root of EXPLAIN QUERY TREE run_passes = 0
 * @throws TailraceError `invalid_parameter` for a view out of reach
 */
export function bindNames(root: SyntaxNode, storedViews: readonly string[]): Names {
  const scopes = new Map<SyntaxNode, Scope>();
  const reads = new Map<SyntaxNode, SyntaxNode | undefined>();
  const views: SyntaxNode[] = [];

  function visit(node: SyntaxNode, visible: Visible, scope?: Scope): void {
    if (node.kind === 'QUERY') visitQuery(node, visible, scope);
    else for (const child of node.children) visitPart(child, node, { visible, scope });
  }

  function visitQuery(query: SyntaxNode, visible: Visible, parent?: Scope): void {
    const scope = { query, parent, aliases: findAliases(query) };
    scopes.set(query, scope);
    const seen = new Map(visible);
    for (const member of clause(query, 'WITH')) {
      visit(member, seen, scope);
      const name = viewNameOf(member);
      if (name === undefined) continue;
      seen.set(name, member);
      views.push(member);
    }
    for (const child of query.children)
      if (child.kind !== 'WITH') visitPart(child, query, { visible: seen, scope });
  }

  function visitPart(
    child: SyntaxNode,
    parent: SyntaxNode,
    { visible, scope }: { visible: Visible; scope: Scope | undefined },
  ): void {
    if (child.kind === 'IDENTIFIER' && isTablePlace(parent)) readTable(child, visible);
    else visit(child, visible, scope);
  }

  function readTable(table: SyntaxNode, visible: Visible): void {
    const name = identifierOf(table);
    if (name === NO_TABLE) return;
    if (!visible.has(name))
      throw refuse(
        `must not read ${name} there: a view can be read after it in its WITH and in the SELECT of that WITH, not in itself`,
      );
    reads.set(table, visible.get(name));
  }

  visit(root, new Map(storedViews.map((view) => [view, undefined])));
  return { scopes, reads, views, parents: findParents(root) };
}

/**
 * The caller's own views by name, at any depth.
 *
 * @throws TailraceError `invalid_parameter` for a name that is not plain
 */
export function findViews(root: SyntaxNode): ReadonlyMap<string, readonly SyntaxNode[]> {
  const views = new Map<string, SyntaxNode[]>();
  for (const node of walk(root)) {
    const name = isSelect(node) ? viewNameOf(node) : undefined;
    if (name === undefined) continue;
    if (!PLAIN_NAME.test(name))
      throw refuse('must have views whose names have letters, digits and underscores only');
    views.set(name, [...(views.get(name) ?? []), node]);
  }
  return views;
}

/** A tree as a text: equal for trees that mean the same in the same place. */
export function writeTree({ kind, text, children }: SyntaxNode): string {
  return `${kind} ${text}(${children.map(writeTree).join()})`;
}

/** The aliases of one QUERY: those in its expressions, and of its subqueries, but not those inside of subqueries. */
function findAliases(query: SyntaxNode): ReadonlyMap<string, readonly SyntaxNode[]> {
  const aliases = new Map<string, SyntaxNode[]>();
  const visit = (node: SyntaxNode, inTablePlace: boolean): void => {
    const alias = inTablePlace ? undefined : aliasOf(node);
    if (alias !== undefined) aliases.set(alias, [...(aliases.get(alias) ?? []), node]);
    if (isSelect(node)) return;
    for (const child of node.children) visit(child, isTablePlace(node));
  };
  for (const child of query.children) visit(child, false);
  return aliases;
}

export interface Definition {
  readonly node: SyntaxNode;
  readonly scope: Scope;
}

function findParents(root: SyntaxNode): ReadonlyMap<SyntaxNode, SyntaxNode> {
  const parents = new Map<SyntaxNode, SyntaxNode>();
  for (const node of walk(root)) for (const child of node.children) parents.set(child, node);
  return parents;
}

/**
 * The expressions that an identifier may stand for, by the innermost QUERY with such an alias; none for the name of a column.
 * In `lower(id) AS id`, `id` is the column, not the alias.
 */
export function findDefinitions(
  identifier: SyntaxNode,
  scope: Scope | undefined,
  { parents }: Names,
): readonly Definition[] {
  const isAround = (node: SyntaxNode) => {
    let at: SyntaxNode | undefined = identifier;
    while (at !== undefined && at !== node) at = parents.get(at);
    return at === node;
  };
  return identifierOf(identifier)
    .split('.')
    .flatMap((part) => {
      let at = scope;
      while (at !== undefined && !at.aliases.has(part)) at = at.parent;
      if (at === undefined) return [];
      const found = at;
      return (found.aliases.get(part) ?? [])
        .filter((node) => !isAround(node))
        .map((node) => ({ node, scope: found }));
    });
}

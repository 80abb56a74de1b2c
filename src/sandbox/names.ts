import { PLAIN_NAME } from '../sql/with-list.ts';
import { invalidSql } from './refusal.ts';
import { type SyntaxNode, walk } from './syntax-tree.ts';
import {
  aliasOf,
  clause,
  functionNameOf,
  identifierOf,
  isSelect,
  isTablePlace,
  NO_TABLE,
  viewNameOf,
} from './tree-node.ts';

/** The aliases of one `QUERY`; other names are looked up in the `QUERY` around it. */
export interface NameScope {
  readonly query: SyntaxNode;
  readonly parent: NameScope | undefined;
  /** An alias that is given more than once stands for all of its expressions. */
  readonly aliases: ReadonlyMap<string, readonly SyntaxNode[]>;
}

/** The meaning of the names in a caller's SELECT. */
export type Names = ReturnType<typeof bindNames>;

/** Views that are visible at a place; `undefined` for those of the stored query. */
type Visible = ReadonlyMap<string, SyntaxNode | undefined>;

/**
 * Finds the view that each name used as a table reads, by the engine's rule: a view is visible after it in its own WITH, and
 * everywhere in the SELECT of that WITH. Elsewhere, and inside of the view itself, the engine would look for a table of this name. Such
 * a text is rejected, whether or not the table exists, so that tables created later change nothing about an accepted text.
 *
 * @param storedViews `undefined`: of a stored query, which reads tables, too; any other name is one
 * @throws TailraceError `invalid_parameter` for a view out of reach, or a name that is given twice
 */
export function bindNames(root: SyntaxNode, storedViews: readonly string[] | undefined) {
  const scopes = new Map<SyntaxNode, NameScope>(); // of each QUERY
  const reads = new Map<SyntaxNode, SyntaxNode | undefined>(); // `undefined` for a view of the stored query
  const views: SyntaxNode[] = []; // the caller's own

  function visit(node: SyntaxNode, visible: Visible, scope?: NameScope): void {
    if (isIn(node)) readSet(clause(node, 'ARGUMENTS')[1], visible);
    if (node.kind === 'QUERY') visitQuery(node, visible, scope);
    else
      for (const child of node.children)
        if (child.kind === 'IDENTIFIER' && isTablePlace(node)) readTable(child, visible);
        else visit(child, visible, scope);
  }

  function visitQuery(query: SyntaxNode, visible: Visible, parent?: NameScope): void {
    const scope = { query, parent, aliases: findAliases(query) };
    scopes.set(query, scope);
    const seen = new Map(visible);
    const given = new Set<string>();
    for (const member of clause(query, 'WITH')) {
      visit(member, seen, scope);
      const name = viewNameOf(member);
      if (name === undefined) continue;
      if (given.has(name) && storedViews !== undefined) throw refuseName(name);
      given.add(name);
      seen.set(name, member);
      views.push(member);
    }
    for (const child of query.children) if (child.kind !== 'WITH') visit(child, seen, scope);
  }

  function readTable(table: SyntaxNode, visible: Visible): void {
    const name = identifierOf(table);
    if (name === NO_TABLE) return;
    if (!visible.has(name) && storedViews !== undefined)
      throw invalidSql(
        `must not read ${name} there: a view can be read after it in its WITH and in the SELECT of that WITH, not in itself`,
      );
    reads.set(table, visible.get(name));
  }

  /** The right side of IN, which may be the name of a view; a caller's SELECT has none there. */
  function readSet(right: SyntaxNode | undefined, visible: Visible): void {
    const view = right?.kind === 'IDENTIFIER' ? visible.get(identifierOf(right)) : undefined;
    if (right !== undefined && view !== undefined) reads.set(right, view);
  }

  visit(root, new Map((storedViews ?? []).map((view) => [view, undefined])));
  const parents = new Map<SyntaxNode, SyntaxNode>();
  for (const node of walk(root)) for (const child of node.children) parents.set(child, node);
  return { scopes, reads, views, parents };
}

function isIn(node: SyntaxNode): boolean {
  return (
    node.kind === 'FUNCTION' && /^(?:global)?(?:not)?(?:null)?in(?:ignoreset)?$/.test(functionNameOf(node))
  );
}

/** The caller's own views by name, at any depth. @throws TailraceError `invalid_parameter` for a name that is not plain */
export function findViews(root: SyntaxNode): ReadonlyMap<string, readonly SyntaxNode[]> {
  const nodes = [...walk(root)].filter((node) => isSelect(node) && viewNameOf(node) !== undefined);
  const views = Map.groupBy(nodes, (node) => viewNameOf(node) ?? '');
  if ([...views.keys()].every((name) => PLAIN_NAME.test(name))) return views;
  throw invalidSql('must have views with names of letters, digits and underscores only');
}

/** No view of a caller has the name of a stored one: inside of itself the engine would read a table of this name. */
export function assertNoShadowing(own: ReadonlyMap<string, unknown>, stored: readonly string[]): void {
  for (const name of own.keys()) if (stored.includes(name)) throw refuseName(name);
}

/**
 * Views of one name may stand beside each other, as in the SELECTs of a UNION, but none may be made of another: while the engine resolves
 * a view, it reads the view's name as a table's, at any depth.
 */
export function assertNesting(names: Names): void {
  const known = new Map<SyntaxNode, ReadonlySet<string>>();

  /** The names of all views that a view is made of. */
  function namesIn(view: SyntaxNode): ReadonlySet<string> {
    const found = known.get(view);
    if (found !== undefined) return found;
    const parts = findParts(view, names);
    const inner = new Set(parts.flatMap((part) => [viewNameOf(part) ?? '', ...namesIn(part)]));
    known.set(view, inner);
    return inner;
  }

  for (const view of names.views) {
    const name = viewNameOf(view) ?? '';
    if (namesIn(view).has(name)) throw refuseName(name);
  }
}

/** The views that a view reads or contains, without those inside of them. */
function findParts(view: SyntaxNode, { reads }: Names): SyntaxNode[] {
  const parts: SyntaxNode[] = [];
  const left = [...view.children];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    const part = viewNameOf(node) === undefined ? reads.get(node) : node;
    if (part === undefined) left.push(...node.children);
    else parts.push(part);
  }
  return parts;
}

function refuseName(name: string) {
  return invalidSql(`must not call a view ${name}: the name is taken; give each another name`);
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

/** The expressions that an identifier may stand for, by the innermost QUERY with such an alias. In `lower(id) AS id`, `id` is a column. */
export function findDefinitions(
  identifier: SyntaxNode,
  scope: NameScope | undefined,
  { parents }: Names,
): readonly { node: SyntaxNode; scope: NameScope }[] {
  const around = new Set<SyntaxNode>();
  for (let at: SyntaxNode | undefined = identifier; at !== undefined; at = parents.get(at)) around.add(at);
  return identifierOf(identifier)
    .split('.')
    .flatMap((part) => {
      let at = scope;
      while (at !== undefined && !at.aliases.has(part)) at = at.parent;
      if (at === undefined) return [];
      const found = at;
      return (found.aliases.get(part) ?? [])
        .filter((node) => !around.has(node))
        .map((node) => ({ node, scope: found }));
    });
}

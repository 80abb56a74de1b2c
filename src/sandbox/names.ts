import { PLAIN_NAME } from '../sql/with-list.ts';
import { invalidSql } from './rejection.ts';
import {
  clause,
  identifierOf,
  isSelect,
  isTablePlace,
  NO_TABLE,
  type SyntaxNode,
  viewNameOf,
  walk,
} from './syntax-tree.ts';

/** The meaning of the names in a caller's SELECT. */
export type Names = ReturnType<typeof bindNames>;

/** Views that are visible at a place; `undefined` for those of the stored query. */
type Visible = ReadonlyMap<string, SyntaxNode | undefined>;

/**
 * Finds the view that each name used as a table reads, by the engine's rule: a view is visible after it in its own
 * WITH, and everywhere in the SELECT of that WITH. Elsewhere, and inside of the view itself, the engine would look for
 * a table of this name. Such a text is rejected, whether or not the table exists, so that tables created later change
 * nothing about an accepted text.
 *
 * @param storedViews of the stored query
 * @throws TailraceError `invalid_parameter` for a view out of reach, or a name that is given twice
 */
export function bindNames(root: SyntaxNode, storedViews: readonly string[]) {
  const reads = new Map<SyntaxNode, SyntaxNode | undefined>(); // `undefined` for a view of the stored query
  const views: SyntaxNode[] = []; // the caller's own

  function visit(node: SyntaxNode, visible: Visible): void {
    if (node.kind === 'QUERY') visitQuery(node, visible);
    else
      for (const child of node.children)
        if (child.kind === 'IDENTIFIER' && isTablePlace(node)) readTable(child, visible);
        else visit(child, visible);
  }

  function visitQuery(query: SyntaxNode, visible: Visible): void {
    const seen = new Map(visible);
    const given = new Set<string>();
    for (const member of clause(query, 'WITH')) {
      visit(member, seen);
      const name = viewNameOf(member);
      if (name === undefined) continue;
      if (given.has(name)) throw rejectName(name);
      given.add(name);
      seen.set(name, member);
      views.push(member);
    }
    for (const child of query.children) if (child.kind !== 'WITH') visit(child, seen);
  }

  function readTable(table: SyntaxNode, visible: Visible): void {
    const name = identifierOf(table);
    if (name === NO_TABLE) return;
    if (!visible.has(name))
      throw invalidSql(
        `must not read ${name} there: a view can be read after it in its WITH and in the SELECT of that WITH, not in itself`,
      );
    reads.set(table, visible.get(name));
  }

  visit(root, new Map(storedViews.map((view) => [view, undefined])));
  return { reads, views };
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
  for (const name of own.keys()) if (stored.includes(name)) throw rejectName(name);
}

/**
 * Views of one name may stand beside each other, as in the SELECTs of a UNION, but none may be made of another: while
 * the engine resolves a view, it reads the view's name as a table's, at any depth.
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
    if (namesIn(view).has(name)) throw rejectName(name);
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

function rejectName(name: string) {
  return invalidSql(`must not call a view ${name}: the name is taken; give each another name`);
}

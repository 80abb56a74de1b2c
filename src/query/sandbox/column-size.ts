import type { SyntaxNode } from '../syntax-tree.ts';
import type { Names, Scope } from './names.ts';
import { aliasOf, clause, identifierOf, isSelect, isTablePlace, NO_TABLE } from './query-tree.ts';
import { largest, largestOf, sumOf, type ValueSize } from './value-size.ts';

/** A column of a view of the stored query, and what the tree does not tell more of. */
export const STORED: ValueSize = { units: 1, isConstant: false };

/** How large the columns are that a SELECT reads and gives. */
export interface ColumnSizes {
  /** A column of what a SELECT reads; where nothing there has this name, of what the SELECTs around it read. */
  ofColumn(name: string, scope: Scope | undefined): ValueSize;
  /** `*` as the arguments of a call. */
  ofEvery(scope: Scope | undefined): ValueSize;
  /** In units: as large as all columns together, since it may be one of them by its place, or a tuple of all. */
  ofAllColumns(table: SyntaxNode): number;
}

/** @param of the size of an expression of a SELECT's list */
export function createColumnSizes(
  { scopes, reads }: Names,
  of: (item: SyntaxNode, scope: Scope | undefined) => ValueSize,
): ColumnSizes {
  function ofColumn(name: string, scope: Scope | undefined): ValueSize {
    if (scope === undefined) return STORED;
    const tables = findTables(scope.query);
    const named = tables.flatMap((table) => findColumn(table, name) ?? []);
    if (named.length > 0) return largest(named);
    if (scope.parent !== undefined) return ofColumn(name, scope.parent);
    return largest(tables.map(ofAny));
  }

  /** `undefined` where a table has no column that is called so, unless by its place. */
  function findColumn(table: SyntaxNode, name: string): ValueSize | undefined {
    if (table.kind === 'IDENTIFIER') {
      const view = reads.get(table);
      return view === undefined ? STORED : (findColumn(view, name) ?? ofAny(view));
    }
    if (table.kind === 'UNION') return ofAny(table);
    const items = clause(table, 'PROJECTION');
    const isNamed = (item: SyntaxNode) =>
      aliasOf(item) === name || identifierOf(item).split('.').at(-1) === name;
    const named = items.filter(isNamed).map((item) => of(item, scopes.get(table)));
    const passed = items.some(({ kind }) => kind === 'MATCHER')
      ? findTables(table).flatMap((one) => findColumn(one, name) ?? [])
      : [];
    const found = named.length > 0 ? named : passed;
    return found.length === 0 ? undefined : largest(found);
  }

  function ofAny(table: SyntaxNode): ValueSize {
    return { units: ofAllColumns(table), isConstant: true };
  }

  function ofEvery(scope: Scope | undefined): ValueSize {
    const tables = scope === undefined ? [] : findTables(scope.query);
    return { units: sumOf(tables.map(ofAllColumns)), isConstant: true };
  }

  function ofAllColumns(table: SyntaxNode): number {
    if (table.kind === 'IDENTIFIER') {
      const view = reads.get(table);
      return view === undefined ? STORED.units : ofAllColumns(view);
    }
    if (table.kind === 'UNION') return largestOf(clause(table, 'QUERIES').map(ofAllColumns));
    const units = clause(table, 'PROJECTION').map((item) => of(item, scopes.get(table)).units);
    return sumOf(units);
  }

  return { ofColumn, ofEvery, ofAllColumns };
}

/** What one QUERY reads: names of views and subqueries. */
function findTables(query: SyntaxNode): SyntaxNode[] {
  const isTable = (node: SyntaxNode) =>
    isSelect(node) || (node.kind === 'IDENTIFIER' && identifierOf(node) !== NO_TABLE);
  const look = (node: SyntaxNode): SyntaxNode[] => {
    if (isTablePlace(node)) return node.children.flatMap((child) => (isTable(child) ? [child] : look(child)));
    return isSelect(node) ? [] : node.children.flatMap(look);
  };
  return query.children.filter(isTablePlace).flatMap(look);
}

import type { SyntaxNode } from '../syntax-tree.ts';
import type { Names, Scope } from './names.ts';
import {
  aliasOf,
  clause,
  functionNameOf,
  identifierOf,
  isSelect,
  isTablePlace,
  NO_TABLE,
} from './tree-node.ts';
import { largest, sumOf, type ValueSize } from './value-size.ts';

/** A column of a stored view, or an expression that the tree does not describe. */
export const STORED: ValueSize = { units: 1, parts: 1, isConstant: false };

/** No view of a stored query has more columns. */
const STORED_COLUMNS = 64;

/** Sizes of the columns that a SELECT reads and returns. */
export interface ColumnSizes {
  /** A column of the tables that a SELECT reads, or else of those that the SELECTs around it read. */
  ofColumn(name: string, scope: Scope | undefined): ValueSize;
  /** `*` as arguments of a call. */
  ofEvery(scope: Scope | undefined): ValueSize;
  /** All columns of a table together: a bound for one column by its place, or for a tuple of all. */
  ofAllColumns(table: SyntaxNode): ValueSize;
  /** How many columns a SELECT returns and computes with, `*` and `untuple` expanded. */
  count(select: SyntaxNode): number;
}

/** @param of the size of an expression of a SELECT's list */
export function createColumnSizes(
  { scopes, reads }: Names,
  of: (item: SyntaxNode, scope: Scope | undefined) => ValueSize,
): ColumnSizes {
  const counted = new Map<SyntaxNode, number>();

  function ofColumn(name: string, scope: Scope | undefined): ValueSize {
    if (scope === undefined) return STORED;
    const tables = findTables(scope.query);
    const named = tables.flatMap((table) => findColumn(table, name) ?? []);
    if (named.length > 0) return largest(named);
    if (scope.parent !== undefined) return ofColumn(name, scope.parent);
    return largest(tables.map(ofAllColumns));
  }

  /** `undefined` if no column of the table has this name. */
  function findColumn(table: SyntaxNode, name: string): ValueSize | undefined {
    if (table.kind === 'IDENTIFIER') {
      const view = reads.get(table);
      return view === undefined ? STORED : (findColumn(view, name) ?? ofAllColumns(view));
    }
    if (table.kind === 'UNION') return ofAllColumns(table);
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

  function ofEvery(scope: Scope | undefined): ValueSize {
    const tables = scope === undefined ? [] : findTables(scope.query);
    return together(tables.map(ofAllColumns));
  }

  function ofAllColumns(table: SyntaxNode): ValueSize {
    if (table.kind === 'IDENTIFIER') {
      const view = reads.get(table);
      return view === undefined ? { ...STORED, parts: STORED_COLUMNS } : ofAllColumns(view);
    }
    if (table.kind === 'UNION') return largest(clause(table, 'QUERIES').map(ofAllColumns));
    return together(clause(table, 'PROJECTION').map((item) => of(item, scopes.get(table))));
  }

  function count(table: SyntaxNode): number {
    const found = counted.get(table);
    if (found !== undefined) return found;
    const view = reads.get(table);
    const isStored = table.kind === 'IDENTIFIER' && view === undefined;
    const columns = isStored ? STORED_COLUMNS : view === undefined ? countOwn(table) : count(view);
    counted.set(table, columns);
    return columns;
  }

  function countOwn(select: SyntaxNode): number {
    if (select.kind === 'UNION') return Math.max(...clause(select, 'QUERIES').map(count));
    const read = findTables(select).reduce((sum, table) => sum + count(table), 0);
    const scope = scopes.get(select);
    const width = (node: SyntaxNode): number => {
      if (node.kind === 'MATCHER') return read;
      const own = functionNameOf(node) === 'untuple' ? of(node, scope).parts : 0;
      return node.children.reduce((sum, child) => sum + (isSelect(child) ? 0 : width(child)), own);
    };
    return clause(select, 'PROJECTION').length + width(select);
  }

  return { ofColumn, ofEvery, ofAllColumns, count };
}

/** The size of all of these in one. */
function together(sizes: readonly ValueSize[]): ValueSize {
  return {
    units: sumOf(sizes.map((size) => size.units)),
    parts: sizes.reduce((sum, size) => sum + size.parts, 0),
    isConstant: true,
  };
}

/** The tables that one QUERY reads: names of views, and subqueries. */
function findTables(query: SyntaxNode): SyntaxNode[] {
  const isTable = (node: SyntaxNode) =>
    isSelect(node) || (node.kind === 'IDENTIFIER' && identifierOf(node) !== NO_TABLE);
  const find = (node: SyntaxNode): SyntaxNode[] => {
    if (isTablePlace(node)) return node.children.flatMap((child) => (isTable(child) ? [child] : find(child)));
    return isSelect(node) ? [] : node.children.flatMap(find);
  };
  return query.children.filter(isTablePlace).flatMap(find);
}

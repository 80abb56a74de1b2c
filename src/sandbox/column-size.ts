import type { NameScope, Names } from './names.ts';
import type { SyntaxNode } from './syntax-tree.ts';
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

/** Sizes of the columns that a SELECT reads and returns. @param of the size of an expression of a SELECT's list */
export function createColumnSizes(
  { scopes, reads }: Names,
  of: (item: SyntaxNode, scope: NameScope | undefined) => ValueSize,
) {
  const counted = new Map<SyntaxNode, number>();

  /** A column of the tables that a SELECT reads, or else of those that the SELECTs around it read. */
  function ofColumn(name: string, scope: NameScope | undefined): ValueSize {
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
    if (named.length > 0) return largest(named);
    const passesAll = items.some(({ kind }) => kind === 'MATCHER');
    const passed = passesAll ? findTables(table).flatMap((one) => findColumn(one, name) ?? []) : [];
    return passed.length === 0 ? undefined : largest(passed);
  }

  /** `*` as arguments of a call. */
  function ofEvery(scope: NameScope | undefined): ValueSize {
    return together(scope === undefined ? [] : findTables(scope.query).map(ofAllColumns));
  }

  /** All columns of a table together: a bound for one column by its place, or for a tuple of all. */
  function ofAllColumns(table: SyntaxNode): ValueSize {
    if (table.kind === 'IDENTIFIER') {
      const view = reads.get(table);
      return view === undefined ? { ...STORED, parts: STORED_COLUMNS } : ofAllColumns(view);
    }
    if (table.kind === 'UNION') return largest(clause(table, 'QUERIES').map(ofAllColumns));
    return together(clause(table, 'PROJECTION').map((item) => of(item, scopes.get(table))));
  }

  /** How many columns a SELECT returns and computes with, `*` and `untuple` expanded. */
  function count(table: SyntaxNode): number {
    const view = reads.get(table);
    if (view !== undefined) return count(view);
    if (table.kind === 'IDENTIFIER') return STORED_COLUMNS;
    const columns = counted.get(table) ?? countOwn(table);
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

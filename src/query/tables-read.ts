import { isAllowedFunction } from './sandbox/function.ts';
import { type SyntaxNode, walk } from './syntax-tree.ts';

/**
 * The tables that a query can read, or `undefined` if that is not certain.
 *
 * Never too few: a table counts if its name occurs among the names of the query, even as a column or an alias. The result is
 * uncertain if anything else could reach a table: a name in the place of a table that is neither one of `tables` nor a view of WITH
 * in scope, a table function, a function that may not depend on its arguments alone, such as `dictGet` or `hasColumnInTable`, or an
 * unknown part of the tree.
 *
 * @param root of `readQueryTree`: before names are resolved, so that no value changes it
 * @param tables without views over other tables
 */
export function findTablesRead(root: SyntaxNode, tables: ReadonlySet<string>): string[] | undefined {
  const nodes = [...walk(root)];
  if (nodes.some(isOpaque) || !areTablesKnown(root, { tables, views: new Set() })) return undefined;
  const names = new Set(
    nodes.filter(({ kind }) => kind === 'IDENTIFIER').flatMap(({ text }) => text.split(/\W+/)),
  );
  return [...tables].filter((table) => names.has(table)).toSorted();
}

// These read no table either; callers of sandboxed endpoints may not call them for other reasons, such as their cost.
const OTHER_FUNCTIONS = new Set(
  `range repeat arraywithconstant leftpad rightpad clamp now now64 today throwif globalin globalnotin quantilesbfloat16`.split(
    ' ',
  ),
);
// These create rows from their arguments.
const TABLE_FUNCTIONS = new Set(
  'numbers numbers_mt zeros zeros_mt generate_series generateseries values null'.split(' '),
);
// Passed to another function by name, these look like columns.
const BY_NAME = /\bidentifier: (?:dict|joinGet|hasColumn)/i;

// A name with one of these in it could forge a field.
const LABELS = ['identifier: ', 'function_name: ', 'cte_name: '];

function isOpaque({ kind, text }: SyntaxNode): boolean {
  if (LABELS.some((label) => text.indexOf(label) !== text.lastIndexOf(label))) return true;
  const [, name = ''] = /(?:^|, )(?:table_)?function_name: (\w+)(?:,|$)/.exec(text) ?? [];
  const small = name.toLowerCase();
  if (kind === 'FUNCTION') return !isAllowedFunction(name) && !OTHER_FUNCTIONS.has(small);
  if (kind === 'TABLE_FUNCTION') return !TABLE_FUNCTIONS.has(small);
  return text.includes('apply_transformer_type: FUNCTION') || (kind === 'IDENTIFIER' && BY_NAME.test(text));
}

interface Scope {
  readonly tables: ReadonlySet<string>;
  /** Of WITH. */
  readonly views: ReadonlySet<string>;
}

const TABLE_PLACES = new Set([
  'JOIN TREE',
  'TABLE EXPRESSION',
  'LEFT TABLE EXPRESSION',
  'RIGHT TABLE EXPRESSION',
]);
const TABLE_NODES = new Set(['QUERY', 'UNION', 'TABLE_FUNCTION', 'JOIN', 'CROSS JOIN', 'ARRAY_JOIN']);
const IN = /(?:^|, )function_name: (?:global)?(?:not)?(?:null)?in(?:ignoreset)?(?:,|$)/i;

/** Whether every name and expression in the place of a table is known. */
function areTablesKnown(node: SyntaxNode, scope: Scope): boolean {
  const { kind, text, children } = node;
  if (kind === 'WITH') return true; // see `enter`
  if (TABLE_PLACES.has(kind) && !children.every((child) => isTableKnown(child, scope))) return false;
  if (kind === 'FUNCTION' && IN.test(text) && !isRightSideKnown(node, scope)) return false;
  const inner = kind === 'QUERY' ? enter(node, scope) : scope;
  return inner !== undefined && children.every((child) => areTablesKnown(child, inner));
}

/** The scope within a query: each view sees those before it. `undefined` if a part of a view is not known. */
function enter({ children }: SyntaxNode, scope: Scope): Scope | undefined {
  const views = new Set(scope.views);
  const list = children.find(({ kind }) => kind === 'WITH')?.children.flatMap((one) => one.children) ?? [];
  for (const member of list) {
    const [, name] = /(?:^|, )cte_name: (\w+)(?:,|$)/.exec(member.text) ?? [];
    const isRecursive = member.text.includes('is_recursive_cte: 1');
    // Within itself a view is visible only if it is recursive.
    const own = new Set(views);
    if (name !== undefined) own[isRecursive ? 'add' : 'delete'](name);
    if (!areTablesKnown(member, { ...scope, views: own })) return undefined;
    if (name !== undefined) views.add(name);
  }
  return { ...scope, views };
}

function isTableKnown({ kind, text }: SyntaxNode, { tables, views }: Scope): boolean {
  if (kind !== 'IDENTIFIER') return TABLE_NODES.has(kind);
  const [, name = ''] =
    /(?:^|, )identifier: ([\w.]+)(?:, (?:final|sample_size|sample_offset): .*)?$/.exec(text) ?? [];
  // A SELECT without FROM reads this table of one row.
  return tables.has(name) || views.has(name) || name === 'system.one';
}

/** `x IN name` reads a table, so `name` must be a known one. */
function isRightSideKnown({ children }: SyntaxNode, scope: Scope): boolean {
  const right = children.flatMap((one) => one.children).flatMap((list) => list.children)[1];
  return right !== undefined && (right.kind !== 'IDENTIFIER' || isTableKnown(right, scope));
}

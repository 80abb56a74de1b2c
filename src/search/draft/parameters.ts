import { createParameter } from '../../definitions/parameter.ts';
import type { ParameterFields } from '../../definitions/parameter-type.ts';
import type { Source } from '../../definitions/source.ts';
import { findColumn, isRowField } from '../field.ts';
import { boundOfInteger, isNumber } from '../number.ts';
import { printField, type SearchClause, type SearchOperator, type SearchTree } from '../tree.ts';
import type { FindParameter } from './condition.ts';

/** The parameters of a draft by name. */
export type DraftParameters = Readonly<Record<string, ParameterFields>>;

const VALUES_MAX = 8;
const CHARS_MAX = 256;

/** Names that the SQL, the service or a request already use. */
const TAKEN: ReadonlySet<string> = new Set('project from until step now format cursor sql'.split(' '));

const SUFFIXES: Readonly<Record<SearchOperator, readonly [suffix: string, words: string]>> = {
  '=': ['', 'Value'],
  '>=': ['_from', 'Least value'],
  '<=': ['_to', 'Greatest value'],
  '>': ['_above', 'Values above this, of'],
  '<': ['_below', 'Values below this, of'],
};

/**
 * Makes parameters of the values that every event of a search has to meet in a typed column, with the searched values
 * as their defaults. Values of other conditions stay in the SQL.
 */
export function planValues(
  tree: SearchTree | undefined,
  sources: readonly Source[],
): { readonly parameters: DraftParameters; readonly find: FindParameter } {
  const parameters: Record<string, ParameterFields> = {};
  const names = new Map<SearchClause, string>();
  for (const clause of listRequired(tree)) {
    const planned = planValue(clause, sources);
    if (planned === undefined || names.size === VALUES_MAX) continue;
    const [name, fields] = planned;
    if (TAKEN.has(name) || Object.hasOwn(parameters, name)) continue;
    parameters[name] = fields;
    names.set(clause, `@${name}`);
  }
  return { parameters, find: (clause) => names.get(clause) };
}

function listRequired(tree: SearchTree | undefined): readonly SearchClause[] {
  const items = tree?.kind === 'and' ? tree.items : tree === undefined ? [] : [tree];
  return items.filter((item): item is SearchClause => ['text', 'exists', 'compare'].includes(item.kind));
}

function planValue(clause: SearchClause, sources: readonly Source[]): [string, ParameterFields] | undefined {
  if (clause.kind !== 'compare' || clause.value.length > 1 || isRowField(clause.field)) return undefined;
  const [first, ...others] = sources.map((source) => findColumn(source, clause.field));
  if (
    first === undefined ||
    others.some((one) => one?.type !== first.type && !areTexts(one?.type, first.type))
  )
    return undefined;
  const [suffix, words] = SUFFIXES[clause.operator];
  const field = printField(clause.field);
  const value = planType(clause, first.type);
  if (value === undefined) return undefined;
  const link = suffix === '' && { search: field };
  const fields = { ...value, description: `${words} of ${field}.`.replace('of of', 'of'), ...link };
  return isValid(fields) ? [first.name + suffix, fields] : undefined;
}

const areTexts = (...types: readonly unknown[]) =>
  types.every((type) => type === 'string' || type === 'keyword');

/** Chooses the type by which `@name` is a value of the column's. */
function planType(
  clause: Extract<SearchClause, { kind: 'compare' }>,
  type: string,
): Pick<ParameterFields, 'type' | 'default'> | undefined {
  const [text] = clause.value;
  if (type === 'integer') {
    const bound = boundOfInteger(clause);
    const isSame = typeof bound === 'object' && bound.operator === clause.operator;
    if (!isSame || !Number.isSafeInteger(Number(bound.value))) return undefined;
    return { type: 'integer', default: Number(bound.value) };
  }
  if (clause.isQuoted && clause.operator === '=' && areTexts(type)) return { type: 'string', default: text };
  if (clause.isQuoted) return undefined;
  if (type === 'number') return isNumber(text) ? { type: 'number', default: Number(text) } : undefined;
  return areTexts(type) && clause.operator === '=' ? { type: 'string', default: text } : undefined;
}

/** Whether endpoint.yaml can have the value as a default: an empty one counts as not sent. */
function isValid(fields: ParameterFields): boolean {
  const { default: value } = fields;
  if (value === '' || (typeof value === 'string' && (value.length > CHARS_MAX || /\p{C}/u.test(value))))
    return false;
  try {
    return createParameter('value', fields).defaultText !== '';
  } catch {
    return false;
  }
}

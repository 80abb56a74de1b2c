import { createColumnSizes, STORED } from './column-size.ts';
import { findAggregate } from './function.ts';
import { findDefinitions, type NameScope, type Names } from './names.ts';
import type { SyntaxNode } from './syntax-tree.ts';
import { clause, constantOf, functionNameOf, identifierOf, isSelect } from './tree-node.ts';
import {
  growthOf,
  growthOfAggregate,
  largest,
  largestOf,
  membersOf,
  partsOf,
  SMALL,
  sizeOfText,
  sumOf,
  type ValueSize,
} from './value-size.ts';

export interface SizeContext {
  readonly scope: NameScope | undefined;
  /** Parameters of the lambdas around it, with the parts of their types. */
  readonly params: ReadonlyMap<string, number>;
}

export type Sizes = ReturnType<typeof createSizes>;

const NO_PARAMS: ReadonlyMap<string, number> = new Map();

/** Upper bounds for values of a caller's SELECT, only by its query tree. A name of several expressions has the size of the largest. */
export function createSizes(names: Names) {
  const columns = createColumnSizes(names, (item, scope) => of(item, { scope, params: NO_PARAMS }));
  const known = new Map<SyntaxNode, ValueSize>();
  const open = new Set<SyntaxNode>(); // being measured

  function of(node: SyntaxNode, place: SizeContext): ValueSize {
    const found = known.get(node);
    if (found !== undefined) return found;
    if (open.has(node)) return STORED; // cyclic names, which the engine rejects
    open.add(node);
    const size = measure(node, place);
    open.delete(node);
    known.set(node, size);
    return size;
  }

  function measure(node: SyntaxNode, place: SizeContext): ValueSize {
    if (isSelect(node)) return { ...columns.ofAllColumns(node), isConstant: true };
    if (node.kind === 'CONSTANT') return ofConstant(constantOf(node));
    if (node.kind === 'IDENTIFIER') return ofName(node, place);
    if (node.kind === 'MATCHER') return columns.ofEvery(place.scope);
    if (node.kind === 'FUNCTION') return ofCall(node, place);
    return STORED;
  }

  function ofCall(node: SyntaxNode, place: SizeContext): ValueSize {
    const name = functionNameOf(node);
    const all = clause(node, 'ARGUMENTS');
    const lambda = all[0]?.kind === 'LAMBDA' ? all[0] : undefined;
    const args = lambda === undefined ? all : all.slice(1);
    const sizes = args.map((arg) => of(arg, place));
    const units = sizes.map((size) => size.units);
    const allParts = sizes.map((size) => size.parts);
    const parts = partsOf(name, allParts);
    const aggregate = findAggregate(name);
    if (aggregate !== undefined)
      return { units: sizeOfAggregate(node, aggregate, units), parts, isConstant: false };
    const isConstant = sizes.every((size) => size.isConstant);
    const size = growthOf(name)(units);
    if (lambda === undefined) return { units: size, parts, isConstant };
    const [body] = clause(lambda, 'EXPRESSION');
    const member = body === undefined ? STORED : of(body, inside(lambda, args, place));
    if (!/^(?:array|map)(?:map|apply)$/.test(name)) return { units: size, parts, isConstant };
    // Each member of the lists becomes a result of the lambda.
    return {
      units: Math.max(size, membersOf(sumOf(units)) * member.units),
      parts: Math.max(parts, member.parts),
      isConstant,
    };
  }

  function ofName(node: SyntaxNode, { scope, params }: SizeContext): ValueSize {
    const name = identifierOf(node);
    const parts = params.get(name.split('.')[0] ?? '');
    if (parts !== undefined) return { units: SMALL, parts, isConstant: false };
    const definitions = findDefinitions(node, scope, names);
    if (definitions.length === 0) return columns.ofColumn(name.split('.').at(-1) ?? '', scope);
    const sizes = definitions.map((one) => {
      const ofHere = (part: SyntaxNode) => of(part, { scope: one.scope, params: NO_PARAMS });
      return isMember(node, one.node, names) ? sizeOfMember(one.node, ofHere) : ofHere(one.node);
    });
    return largest(sizes);
  }

  /** The place of the expression of a lambda that is called for the members of these lists. */
  function inside(
    lambda: SyntaxNode,
    lists: readonly SyntaxNode[],
    { scope, params }: SizeContext,
  ): SizeContext {
    const parts = Math.max(1, ...lists.map((one) => of(one, { scope, params }).parts));
    const own = clause(lambda, 'ARGUMENTS').map((param) => [identifierOf(param), parts] as const);
    return { scope, params: new Map([...params, ...own]) };
  }

  return { of, inside, countColumns: columns.count };
}

/** Whether a name stands for a member of a list in ARRAY JOIN. Within that ARRAY JOIN it stands for the list. */
function isMember(name: SyntaxNode, list: SyntaxNode, { parents }: Names): boolean {
  const items = parents.get(list);
  const lists = items && parents.get(items);
  if (lists?.kind !== 'JOIN EXPRESSIONS') return false;
  const join = parents.get(lists);
  let around = parents.get(name);
  while (around !== undefined && around !== join) around = parents.get(around);
  return around === undefined;
}

function sizeOfMember(list: SyntaxNode, of: (part: SyntaxNode) => ValueSize): ValueSize {
  const name = functionNameOf(list);
  const args = clause(list, 'ARGUMENTS');
  if (name === 'array') return largest(args.map(of));
  if (name === 'if') return largest(args.slice(1).map((arg) => sizeOfMember(arg, of)));
  const [text] = name === 'jsonextractarrayraw' ? args : [];
  return text === undefined ? of(list) : { ...of(text), isConstant: false };
}

/** @param aggregate the function's name without suffixes */
function sizeOfAggregate(node: SyntaxNode, aggregate: string, units: readonly number[]): number {
  const parameters = clause(node, 'PARAMETERS').map(constantOf);
  const sizes = [...units, ...parameters.map(sizeOfConstant)]; // a separator counts for each
  const limits = parameters.map((value) => Number(/^U?Int64_(\d+)$/.exec(value)?.[1]));
  const size = growthOfAggregate(aggregate, limits)(sizes);
  // Of a list, such as of sumForEach, a list.
  return functionNameOf(node).includes('foreach') ? Math.max(size, largestOf(units)) : size;
}

function ofConstant(value: string): ValueSize {
  const members = value.startsWith("'") || !value.includes('Tuple_') ? 1 : value.split(',').length;
  return { units: sizeOfConstant(value), parts: members, isConstant: true };
}

/** Each member of a list takes at least a number's size; a parameter's mark stands for up to 1,000 bytes. */
function sizeOfConstant(value: string): number {
  if (value.startsWith("'")) return Math.max(sizeOfText(value), value.includes('tailrace:') ? 1 : 0);
  const isList = /^(?:Array|Tuple|Map)_/.test(value);
  return isList ? Math.max(value.split(',').length * SMALL, sizeOfText(value)) : SMALL;
}

import type { SyntaxNode } from '../syntax-tree.ts';
import { createColumnSizes, STORED } from './column-size.ts';
import { findAggregate } from './function.ts';
import { findDefinitions, type Names, type Scope } from './names.ts';
import { clause, constantOf, functionNameOf, identifierOf, isSelect } from './query-tree.ts';
import {
  growthOf,
  growthOfAggregate,
  largest,
  largestOf,
  membersOf,
  SMALL,
  sizeOfText,
  sumOf,
  type ValueSize,
} from './value-size.ts';

/** Where an expression stands: what its names mean, and which of them are members of a list, inside of a lambda. */
export interface Place {
  readonly scope: Scope | undefined;
  readonly params: ReadonlySet<string>;
}

/** How large the values of a caller's SELECT may be. */
export interface Sizes {
  of(expression: SyntaxNode, place: Place): ValueSize;
  /** The names inside of a lambda's expression that are members of its lists. */
  paramsOf(lambda: SyntaxNode, place: Place): ReadonlySet<string>;
}

const MEMBER: ValueSize = { units: SMALL, isConstant: false };
const NO_PARAMS: ReadonlySet<string> = new Set();

/** Estimates from above, by the query tree alone: where a name may mean several things, it is the largest of them. */
export function createSizes(names: Names): Sizes {
  const columns = createColumnSizes(names, (item, scope) => of(item, { scope, params: NO_PARAMS }));
  const known = new Map<SyntaxNode, ValueSize>();
  const open = new Set<SyntaxNode>(); // being measured: `lower(id) AS id` is of the column id, not of itself

  function of(node: SyntaxNode, place: Place): ValueSize {
    const found = known.get(node);
    if (found !== undefined) return found;
    open.add(node);
    const size = measure(node, place);
    open.delete(node);
    known.set(node, size);
    return size;
  }

  function measure(node: SyntaxNode, place: Place): ValueSize {
    if (isSelect(node)) return { units: columns.ofAllColumns(node), isConstant: true };
    if (node.kind === 'CONSTANT') return { units: sizeOfConstant(constantOf(node)), isConstant: true };
    if (node.kind === 'IDENTIFIER') return ofName(node, place);
    if (node.kind === 'MATCHER') return columns.ofEvery(place.scope);
    if (node.kind === 'FUNCTION') return ofCall(node, place);
    return STORED;
  }

  function ofCall(node: SyntaxNode, place: Place): ValueSize {
    const [first, ...others] = clause(node, 'ARGUMENTS');
    const lambda = first?.kind === 'LAMBDA' ? first : undefined;
    const args = [...(lambda === undefined && first !== undefined ? [first] : []), ...others];
    const sizes = args.map((arg) => of(arg, place));
    const units = sizes.map((size) => size.units);
    const name = functionNameOf(node);
    const aggregate = findAggregate(name);
    if (aggregate !== undefined) return ofAggregate(node, { name, aggregate, units });
    const isConstant = sizes.every((size) => size.isConstant);
    const mapped = lambda === undefined ? 0 : ofMembers({ name, lambda, units }, place);
    return { units: Math.max(mapped, growthOf(name)(units)), isConstant };
  }

  /** What `arrayMap` and its like give: each member of the lists becomes what the lambda gives. */
  function ofMembers({ name, lambda, units }: MapCall, place: Place): number {
    if (!/^(?:array|map)(?:map|apply)$/.test(name)) return 0;
    const [body] = clause(lambda, 'EXPRESSION');
    const inner = { scope: place.scope, params: paramsOf(lambda, place) };
    const made = body === undefined ? STORED : of(body, inner);
    return membersOf(sumOf(units)) * made.units;
  }

  function ofName(node: SyntaxNode, { scope, params }: Place): ValueSize {
    const name = identifierOf(node);
    if (params.has(name.split('.')[0] ?? '')) return MEMBER;
    const definitions = findDefinitions(name, scope).filter((one) => !open.has(one.node));
    if (definitions.length === 0) return columns.ofColumn(name.split('.').at(-1) ?? '', scope);
    return largest(definitions.map((one) => of(one.node, { scope: one.scope, params: NO_PARAMS })));
  }

  function paramsOf(lambda: SyntaxNode, { params }: Place): ReadonlySet<string> {
    return new Set([...params, ...clause(lambda, 'ARGUMENTS').map(identifierOf)]);
  }

  return { of, paramsOf };
}

interface MapCall {
  readonly name: string;
  readonly lambda: SyntaxNode;
  /** Of its lists. */
  readonly units: readonly number[];
}

interface AggregateCall {
  readonly name: string;
  /** Its name without suffixes. */
  readonly aggregate: string;
  readonly units: readonly number[];
}

function ofAggregate(node: SyntaxNode, { name, aggregate, units }: AggregateCall): ValueSize {
  const parameters = clause(node, 'PARAMETERS').map(constantOf);
  const sizes = [...units, ...parameters.map(sizeOfConstant)]; // a separator stands between all
  const size = growthOfAggregate(aggregate, parameters.map(readNumber))(sizes);
  // Of a list, such as of sumForEach, a list.
  return { units: name.includes('foreach') ? Math.max(size, largestOf(units)) : size, isConstant: false };
}

/** A member of a list takes as much as a number, if it is one; a parameter's mark stands for up to 1,000 bytes. */
function sizeOfConstant(value: string): number {
  const members = /^(?:Array|Tuple|Map)_/.test(value) ? value.split(',').length * SMALL : 0;
  if (value.startsWith("'")) return Math.max(sizeOfText(value), value.includes('tailrace:') ? 1 : 0);
  return Math.max(members, members > 0 ? sizeOfText(value) : SMALL);
}

function readNumber(value: string): number {
  const digits = /^U?Int64_(\d+)$/.exec(value)?.[1];
  return digits === undefined ? Number.NaN : Number(digits);
}

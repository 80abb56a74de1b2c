import { findLikeFault, findPatternFault } from '../../sql/pattern.ts';
import { quote } from '../../sql/quote.ts';
import type { SyntaxNode } from '../syntax-tree.ts';
import { isAllowedFunction } from './function.ts';
import { refuse } from './refusal.ts';
import { mayRescan } from './rescan.ts';
import { isNoZone, type TimeZones, ZONE_HINT, ZONE_PLACES } from './time-zone.ts';
import { nameOf, textOf } from './tree-node.ts';
import { refuseType } from './type-name.ts';

export interface RuleContext {
  /** What a text in quotes stands for: a parameter, one that is a pattern, or `undefined` for a text of the caller's own. */
  readonly parameterKind: (text: string) => 'pattern' | 'value' | undefined;
  readonly zones: TimeZones;
  /** The time zones that the SELECT names; rules add to it. */
  readonly usedZones: Set<string>;
  /** Every alias of the SELECT. */
  readonly aliases: ReadonlySet<string>;
}

/** One call in EXPLAIN AST. */
interface Call {
  /** As the caller writes it. */
  readonly name: string;
  readonly args: readonly SyntaxNode[];
  readonly context: RuleContext;
}

type Rule = (call: Call) => void;

/** @throws TailraceError `invalid_parameter` if the arguments of an allowed function are not allowed */
export function checkArguments(node: SyntaxNode, context: RuleContext): void {
  const name = nameOf(node);
  const args = node.children[0]?.children ?? [];
  for (const rule of ARGUMENT_RULES.get(name.toLowerCase()) ?? []) rule({ name, args, context });
}

/** Whether calls of a function depend on its arguments. Passed by name, it would be called with any. */
export function isBoundByArguments(name: string): boolean {
  return ARGUMENT_RULES.has(name.toLowerCase());
}

/** A name by itself would be read as a table. */
const hasSet: Rule = ({ args: [, set] }) => {
  const isWritten = set?.kind === 'Function' && ['tuple', 'array'].includes(nameOf(set));
  if (set?.kind === 'Literal' || set?.kind === 'Subquery' || isWritten) return;
  throw refuse('must have a list or a SELECT after IN; for an array, call has(array, value)');
};

const hasType: Rule = ({ args: [, type], context }) => {
  for (const zone of refuseType(textOf(type), context.zones)) context.usedZones.add(zone);
};

/** From `place` on, each argument is a listed zone or cannot be a zone. */
const hasZoneAt =
  (place: number): Rule =>
  ({ name, args, context: { zones, usedZones } }) => {
    for (const argument of args.slice(place)) {
      if (isNoZone(argument)) continue;
      const zone = textOf(argument);
      if (zone === undefined) throw refuse(`must have the time zone of ${name} written out; ${ZONE_HINT}`);
      zones.check(zone);
      usedZones.add(zone);
    }
  };

/** The engine accepts the name of a function in the place of a lambda, also through an alias. */
const hasLambda: Rule = ({ name, args: [first, ...others], context: { aliases } }) => {
  if (others.length === 0 || first?.kind !== 'Identifier') return;
  const handed = nameOf(first);
  if (isAllowedFunction(handed) && !isBoundByArguments(handed) && !aliases.has(handed)) return;
  throw refuse(`must have a lambda first in ${name}(…), such as x -> x + 1, not ${handed}`);
};

/** The engine cannot be stopped while it matches a block of rows, so a pattern is a constant of bounded cost. */
const hasPattern: Rule = ({ name, args: [, pattern], context: { parameterKind } }) => {
  const text = textOf(pattern);
  const parameter = text === undefined ? undefined : parameterKind(quote(text));
  if (parameter === 'pattern') return; // the cost of its value has been checked
  if (text === undefined || parameter !== undefined)
    throw refuse(`must have the pattern of ${name} written out as a text, or in a parameter of type regex`);
  refusePattern(findPatternFault(text));
};

/** The same for functions that find all matches. */
const hasPatternOfAll: Rule = ({ name, args: [, pattern], context: { parameterKind } }) => {
  const text = textOf(pattern);
  if (text === undefined || parameterKind(quote(text)) !== undefined)
    throw refuse(`must have the pattern of ${name} written out as a text`);
  refusePattern(findPatternFault(text));
  if (!mayRescan(text)) return;
  throw refuse(
    `must not have that pattern in ${name}, which finds all matches: a part with *, + or {n,} in it is neither optional, repeated nor one of several, such as in x(.*y)? or x.*y|z`,
  );
};

const hasLikePattern: Rule = ({ name, args: [, pattern], context: { parameterKind } }) => {
  const text = textOf(pattern);
  if (text === undefined || parameterKind(quote(text)) !== undefined)
    throw refuse(
      `must have the pattern of ${name} written out as a text; position(text, @name) looks for the value of a parameter`,
    );
  refusePattern(findLikeFault(text));
};

function refusePattern(fault: string | undefined): void {
  if (fault !== undefined) throw refuse(`has a pattern that ${fault}`);
}

// As many as a parameter's value may have (sandbox.ts).
const NEEDLE_CHARS_MAX = 1_000;
const SEARCHED_MAX = 100;

/** The engine cannot be stopped inside of a call, so the text to find is a short constant. */
const hasNeedleAt =
  (place: number): Rule =>
  ({ name, args }) => {
    const text = textOf(args[place]);
    if (text === undefined)
      throw refuse(`must have the text that ${name} looks for written out, or as @name`);
    if (text.length > NEEDLE_CHARS_MAX)
      throw refuse(`must have at most ${NEEDLE_CHARS_MAX} characters in the text that ${name} looks for`);
  };

const hasSearchedList: Rule = ({ name, args: [, list] }) => {
  const members =
    list?.kind === 'Function' && nameOf(list) === 'array' ? (list.children[0]?.children ?? []) : undefined;
  const isWritten =
    list?.kind === 'Literal' || members?.every((member) => member.kind === 'Literal') === true;
  if (!isWritten) throw refuse(`must have the list that ${name} looks for written out, such as ['a', 'b']`);
  const count = members?.length ?? list?.text.split(',').length ?? 0;
  if (count > SEARCHED_MAX)
    throw refuse(`must have at most ${SEARCHED_MAX} members in the list that ${name} looks for`);
};

/** Functions and rules of their arguments, which keep the work of one call in proportion to its text. */
const RULES: readonly (readonly [names: string, rule: Rule])[] = [
  ['in notIn', hasSet],
  ['CAST', hasType],
  // Second argument: a regular expression for RE2.
  ['match extract extractGroups replaceRegexpOne', hasPattern],
  ['extractAll countMatches countMatchesCaseInsensitive replaceRegexpAll', hasPatternOfAll],
  // Second argument: a pattern that the engine turns into a regular expression.
  ['like notLike ilike notILike', hasLikePattern],
  // A text is looked for in another: the work is at worst the product of their lengths.
  [
    `position positionCaseInsensitive positionUTF8 positionCaseInsensitiveUTF8 instr countSubstrings countSubstringsCaseInsensitive
    hasToken hasTokenCaseInsensitive replaceOne replaceAll replace substringIndex`,
    hasNeedleAt(1),
  ],
  ['locate splitByString', hasNeedleAt(0)],
  // Each member of the second argument is looked for in the first.
  [
    'hasAny hasAll multiSearchAny multiSearchAnyCaseInsensitive multiSearchFirstIndex multiSearchFirstPosition',
    hasSearchedList,
  ],
  [
    `arrayMap arrayFilter arrayExists arrayAll arrayCount arrayFirst arrayFirstOrNull arrayFirstIndex arrayLast arrayLastOrNull
    arrayLastIndex arrayMin arrayMax arraySum arrayAvg arrayProduct arrayCumSum arrayDifference arrayCompact arraySort arrayReverseSort arraySplit arrayFill
    mapFilter mapApply mapSort mapExists mapAll`,
    hasLambda,
  ],
];

const ARGUMENT_RULES = new Map<string, Rule[]>();
for (const [names, rule] of RULES) for (const name of names.split(/\s+/)) addRule(name.toLowerCase(), rule);
for (const [name, place] of ZONE_PLACES) addRule(name, hasZoneAt(place));

function addRule(name: string, rule: Rule): void {
  ARGUMENT_RULES.set(name, [...(ARGUMENT_RULES.get(name) ?? []), rule]);
}

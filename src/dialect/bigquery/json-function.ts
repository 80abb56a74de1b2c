import type { Context } from './context.ts';
import { as, WrongType } from './convert.ts';
import { readJsonPath } from './json-path.ts';
import type { Expression } from './parse/tree.ts';
import { findName } from './scope.ts';
import { firstOf, type Step, writeSteps } from './steps.ts';
import { jsonValue, type Value } from './value.ts';

/** Functions of a JSON value and a path in it. `isScalar`: NULL for objects and lists, and a text without its quotes. */
export const JSON_FUNCTIONS: Readonly<Record<string, { readonly isScalar: boolean }>> = {
  json_value: { isScalar: true },
  json_extract_scalar: { isScalar: true },
  json_query: { isScalar: false },
  json_extract: { isScalar: false },
  to_json_string: { isScalar: false },
};

/** The text of what is at a path. @throws WrongType */
export function translateJson(
  { isScalar }: { readonly isScalar: boolean },
  { first, second }: { readonly first: Expression; readonly second: Expression | undefined },
  context: Context,
): Value {
  const path = second === undefined ? '$' : context.translate(second).text;
  if (path === undefined) throw new WrongType(`has no path in quotes, such as '$.status', where one belongs`);
  const { sql, json } = valueAt(first, readJsonPath(path), context);
  return { type: 'string', sql: isScalar && json !== undefined ? json.text : sql };
}

/** Below a record a typed column may have the value. A text, also one in the metadata, is read as JSON. */
function valueAt(expression: Expression, steps: readonly Step[], { scope, translate }: Context): Value {
  if (expression.kind === 'name') {
    const found = findName(expression.names, scope);
    const isRecord = typeof found === 'object' && 'origin' in found && found.steps.length === 0;
    if (isRecord && scope.grouped.size === 0) return found.origin.relation.value(found.origin, steps);
  }
  const value = translate(expression);
  const { json } = value;
  const text = json === undefined ? as(value, 'string') : `coalesce(${json.text}, ${value.sql})`;
  return jsonValue(firstOf([writeSteps(`ifNull(${text}, '')`, steps)]));
}

import type { ErrorObject } from 'ajv';
import type { TSchema } from 'typebox';
import type { Fault } from '../errors.ts';
import { expectedOf } from '../lib/schema.ts';
import { compileSchema } from '../lib/schema-check.ts';
import type { YamlFile } from './yaml-file.ts';

// Finding the line of each fault takes a time in proportion to the file.
const FAULTS_MAX = 50;
const describeMore = (file: YamlFile) =>
  file.fault([], `has more than ${FAULTS_MAX} faults; the others are left out`);

/**
 * Checks one kind of definition file against its schema: reports every unknown, missing or wrong field at once, up to
 * `FAULTS_MAX`.
 * @param options.showsValues whether messages repeat wrong values and unknown names; not in files that hold secrets
 */
export function createShapeCheck(
  schema: TSchema,
  { showsValues = true }: { readonly showsValues?: boolean } = {},
): (file: YamlFile) => Fault[] {
  const validate = compileSchema(schema);
  return (file) => {
    if (validate(file.value)) return [];
    const faults = new Map<string, Fault>();
    for (const error of validate.errors ?? []) {
      const path = pathOf(error);
      const key = JSON.stringify(path);
      if (faults.size === FAULTS_MAX && !faults.has(key)) return [...faults.values(), describeMore(file)];
      // The first error at a place is the clearest, but a union reports what it expects after each of its alternatives.
      if (!faults.has(key) || error.keyword === 'anyOf')
        faults.set(key, file.fault(path, describe(error, path, showsValues)));
      dropUnion(faults, error, key);
    }
    return [...faults.values()];
  };
}

/**
 * Drops the fault of a union if that of a value within it says more, as our annotation `prefersInner` of its schema says.
 * @param key the path of the error as JSON
 */
function dropUnion(faults: Map<string, Fault>, { keyword, parentSchema }: ErrorObject, key: string): void {
  if (keyword !== 'anyOf' || (parentSchema as Parent).prefersInner !== true) return;
  if ([...faults.keys()].some((other) => other.startsWith(`${key.slice(0, -1)},`))) faults.delete(key);
}

function pathOf(error: ErrorObject): string[] {
  const path = error.instancePath.split('/').slice(1);
  const unescaped = path.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const { additionalProperty, missingProperty } = error.params as Record<string, string | undefined>;
  const last = additionalProperty ?? missingProperty;
  return last === undefined ? unescaped : [...unescaped, last];
}

interface Parent {
  readonly properties?: object;
  readonly expected?: string;
  readonly patternProperties?: object;
  readonly prefersInner?: boolean;
  readonly gone?: Readonly<Record<string, string>>;
}

function describe(error: ErrorObject, path: readonly string[], showsValues: boolean): string {
  const name = nameOf(path);
  const parent = error.parentSchema as Parent;
  if (error.keyword === 'additionalProperties') {
    const instead = parent.gone?.[path.at(-1) ?? ''];
    if (instead !== undefined) return `${name} is gone: ${instead}`;
    return describeUnknown(parent, showsValues ? name : undefined);
  }
  if (error.keyword === 'required') {
    const needed = path.length === 1 ? (error.schema as readonly string[]) : []; // of ajv, with this keyword
    return needed.length < 2 ? `${name} is missing` : `${name} is missing; needed are ${needed.join(', ')}`;
  }
  const expected = expectedOf(parent) ?? error.message?.replace(/^must (be )?/, '') ?? 'something else';
  const given =
    error.data === undefined || !showsValues ? '' : `, not ${shorten(JSON.stringify(error.data))}`;
  return `${name} must be ${expected}${given}`;
}

/** An item of a list is named after it: `"rows[0]"`. */
function nameOf(path: readonly string[]): string {
  const [last, list] = path.toReversed();
  if (last === undefined) return 'the file';
  return JSON.stringify(/^\d+$/.test(last) && list !== undefined ? `${list}[${last}]` : last);
}

/** @param name left out of files that hold secrets: `secret:whsec_…` without a space is a name */
function describeUnknown(parent: Parent, name: string | undefined): string {
  if (parent.patternProperties !== undefined) return `${name ?? 'this'} must be ${parent.expected}`;
  const known = Object.keys(parent.properties ?? {}).join(', ');
  return `unknown field${name === undefined ? '' : ` ${name}`}; known here: ${known}`;
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

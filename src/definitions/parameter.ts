import {
  type DeclaredValue,
  type ParameterFields,
  type ReportField,
  rejectValue,
  TYPE_FIELD_NAMES,
  toText,
  type ValueRules,
  WrongValue,
} from './parameter-type.ts';
import { TYPES } from './value-type.ts';

/** A declared parameter of an endpoint, with the rules of its type. */
export type Parameter = Readonly<ReturnType<typeof createParameter>>;

/** The parameter that the service binds to the instant of the query. */
export const NOW_PARAMETER = 'now';

/** The parameter in which callers of a sandboxed endpoint send their SELECT. */
export const SQL_PARAMETER = 'sql';

/** The parameter that names a format, unless the endpoint declares one of this name for itself. */
export const FORMAT_PARAMETER = 'format';

/**
 * `@pinned_project` is the value that the caller's key pins `project` to, or empty. SQL that matches `project` as a
 * pattern compares it.
 */
export const PINNED_PREFIX = 'pinned_';

/** Creates the parameter that a checked declaration defines. */
export function createParameter(name: string, declared: ParameterFields) {
  const parameter = readParameter(name, declared, (field, message) => {
    throw new Error(`"${field}" of "${name}" ${message}`); // checkPair has called readParameter
  });
  if (parameter === undefined) throw new Error(`parameter "${name}" lacks what its type needs`);
  return parameter;
}

/** Creates the parameter that a declaration of good shape defines; `undefined` if it defines none, which is reported. */
export function readParameter(name: string, declared: ParameterFields, report: ReportField) {
  const { type, required = false, description, examples = [], search } = declared;
  for (const field of TYPE_FIELD_NAMES)
    if (declared[field] !== undefined && !TYPES[type].fields.includes(field))
      report(field, `needs type ${namesOfTypesWith(field)}, not ${type}`);
  if (required && declared.default !== undefined)
    report('default', `can never be used, since "${name}" is required; remove one of the two`);
  const rules = TYPES[type].createRules(declared, report);
  if (search !== undefined && rules?.isPattern === true)
    report('search', `needs a type with exact values, not ${type}: a search has no regular expressions`);
  if (rules === undefined) return undefined;
  for (const example of examples) readDeclared(rules, example, (message) => report('examples', message));
  const defaults = readDefault(rules, declared, report);
  const likely = rules.example ?? examples[0] ?? 'x';
  return {
    ...{ ...rules, name, type, required, description, examples, ...defaults },
    /** Field of the events that have the value; src/search/verify.ts has checked its form. */
    search,
    /** Canonical text of a value that the declaration allows. */
    sample: defaults.fallback || readDeclared(rules, likely, (message) => message),
  };
}

function namesOfTypesWith(field: (typeof TYPE_FIELD_NAMES)[number]): string {
  const types = Object.entries(TYPES).filter(([, { fields }]) => fields.includes(field));
  return types.map(([name]) => name).join(' or ');
}

/**
 * Reads the value for callers that send none or an empty one.
 * @returns `fallback`: its canonical text; `defaultText`: as a caller could send it, empty if there is none
 */
function readDefault(rules: ValueRules, { default: value }: ParameterFields, report: ReportField) {
  const { schema, sqlType, unsent, values } = rules;
  if (value === undefined || (value === '' && values.length === 0))
    return { fallback: unsent, defaultText: '', schema };
  const fallback = readDeclared(rules, value, (message) => report('default', message));
  const shown = sqlType === 'String' ? fallback : value;
  const withDefault: ValueRules['schema'] = { ...schema, default: shown };
  return { fallback, defaultText: String(shown), schema: withDefault }; // items joined by commas
}

/** Returns the canonical text of a value in endpoint.yaml; empty if it is rejected, which is reported. */
function readDeclared(rules: ValueRules, value: DeclaredValue, report: (message: string) => void): string {
  try {
    if (Array.isArray(value)) return rules.parseList?.(value.map(toText)) ?? rejectValue('must be one value');
    const isText = typeof value === 'string' || rules.sqlType !== 'String';
    return isText ? rules.parse(toText(value)) : rejectValue('must be a string; put it in quotes');
  } catch (error) {
    if (!(error instanceof WrongValue)) throw error;
    report(`${error.message}, not ${JSON.stringify(value)}`);
    return '';
  }
}

import { formatInstant, parseInstant } from '../lib/instant.ts';
import { findPatternFault } from '../sql/pattern.ts';
import {
  type ParameterFields,
  type ParameterType,
  type ParameterTypeName,
  type ReportField,
  TYPE_FIELD_NAMES,
  type ValueRules,
  WrongValue,
} from './parameter-type.ts';

/** A declared parameter of an endpoint, with the rules of its type. */
export interface Parameter extends ValueRules {
  readonly name: string;
  readonly type: ParameterTypeName;
  readonly required: boolean;
  readonly description: string;
  /** Canonical text of the value for callers that send none or an empty one. */
  readonly fallback: string;
}

/** The parameter that the service binds to the instant of the query. */
export const NOW_PARAMETER = 'now';

/** The parameter in which callers of a sandboxed endpoint send their SELECT. */
export const SQL_PARAMETER = 'sql';

/**
 * `@pinned_project` is bound by the service: the value that the caller's key pins `project` to, empty if it pins none. SQL
 * that matches loosely by a parameter uses it to return only rows of a pinned key.
 */
export const PINNED_PREFIX = 'pinned_';

const TEXT: ValueRules = {
  parse: (text) => text,
  toSql: (text) => text,
  values: [],
  otherwise: undefined,
  isPattern: false,
  example: undefined,
  schema: { type: 'string' },
  control: 'text',
};

const STRING: ParameterType = { fields: [], createRules: () => TEXT };

const ENUM: ParameterType = {
  fields: ['values', 'otherwise'],
  createRules({ values, otherwise }, report) {
    if (values === undefined) {
      report('values', 'is missing: an enum lists what is allowed');
      return undefined;
    }
    const message = `must be one of ${values.join(', ')}`;
    if (otherwise !== undefined && !values.includes(otherwise))
      report('otherwise', `${message}, not ${JSON.stringify(otherwise)}`);
    return {
      ...TEXT,
      parse: (text) => (values.includes(text) ? text : refuse(message)),
      values,
      otherwise,
      example: values[0],
      // With `otherwise` callers may send any text.
      schema: { type: 'string', ...(otherwise === undefined ? { enum: values } : { examples: values }) },
      control: 'choice',
    };
  },
};

const TIMESTAMP_EXAMPLE = '2026-11-20T07:00:00Z';

const TIMESTAMP: ParameterType = {
  fields: [],
  createRules: () => ({
    ...TEXT,
    parse(text) {
      const micros = parseInstant(text);
      if (micros === undefined) return refuse(`must be an ISO 8601 timestamp, such as ${TIMESTAMP_EXAMPLE}`);
      return formatInstant(micros);
    },
    example: TIMESTAMP_EXAMPLE,
    schema: { type: 'string', description: `ISO 8601, such as ${TIMESTAMP_EXAMPLE}.` },
    control: 'time',
  }),
};

/** Its patterns are checked for their cost here; the engine checks their syntax (query/run.ts). */
const REGEX: ParameterType = {
  fields: [],
  createRules: () => ({
    ...TEXT,
    parse(text) {
      const fault = findPatternFault(text);
      return fault === undefined ? text : refuse(fault);
    },
    isPattern: true,
    schema: { type: 'string', description: 'A pattern in RE2’s syntax.' },
  }),
};

const TYPES: Readonly<Record<ParameterTypeName, ParameterType>> = {
  string: STRING,
  enum: ENUM,
  timestamp: TIMESTAMP,
  regex: REGEX,
};

function refuse(message: string): never {
  throw new WrongValue(message);
}

/** The parameter that a checked declaration defines. */
export function createParameter(name: string, declared: ParameterFields): Parameter {
  const parameter = readParameter(name, declared, (field, message) => {
    throw new Error(`"${field}" of "${name}" ${message}`); // readDefinitions has called checkParameters
  });
  if (parameter === undefined) throw new Error(`parameter "${name}" lacks what its type needs`);
  return parameter;
}

/** The parameter that a declaration of good shape defines; `undefined` if it defines none, which is reported. */
export function readParameter(
  name: string,
  declared: ParameterFields,
  report: ReportField,
): Parameter | undefined {
  const { type, required = false, description } = declared;
  for (const field of TYPE_FIELD_NAMES)
    if (declared[field] !== undefined && !TYPES[type].fields.includes(field))
      report(field, `needs type ${namesOfTypesWith(field)}, not ${type}`);
  if (required && declared.default !== undefined)
    report('default', `can never be used, since "${name}" is required; remove one of the two`);
  const rules = TYPES[type].createRules(declared, report);
  if (rules === undefined) return undefined;
  return { ...rules, name, type, required, description, fallback: readDefault(declared, rules, report) };
}

function namesOfTypesWith(field: (typeof TYPE_FIELD_NAMES)[number]): string {
  const types = Object.entries(TYPES).filter(([, { fields }]) => fields.includes(field));
  return types.map(([name]) => name).join(' or ');
}

function readDefault({ default: text }: ParameterFields, rules: ValueRules, report: ReportField): string {
  if (text === undefined || (text === '' && rules.values.length === 0)) return '';
  try {
    return rules.parse(text);
  } catch (error) {
    if (!(error instanceof WrongValue)) throw error;
    report('default', `${error.message}, not ${JSON.stringify(text)}`);
    return '';
  }
}

import { formatInstant, parseInstant } from '../lib/instant.ts';
import { createMatcher, findPatternFault } from '../sql/pattern.ts';
import { writeValue } from '../sql/sql.ts';
import {
  LIST_MEMBERS,
  type ParameterFields,
  type ParameterType,
  type ParameterTypeName,
  type ReportField,
  rejectValue,
  type ValueRules,
  WrongValue,
} from './parameter-type.ts';

/** The rules of any text; each type adds its own. */
const TEXT: ValueRules = {
  parse: (text) => text,
  sqlType: 'String',
  unsent: '',
  values: [],
  otherwise: undefined,
  isPattern: false,
  example: undefined,
  jsonType: 'string',
  schema: { type: 'string' },
  control: 'text',
};

/** Creates a type whose declarations say nothing of its values. */
function fixed(rules: Partial<ValueRules>): ParameterType {
  return { fields: [], createRules: () => ({ ...TEXT, ...rules }) };
}

// Bounds the time of a match.
const MATCHED_CHARS_MAX = 1_000;

const STRING: ParameterType = {
  fields: ['max_length', 'pattern'],
  createRules({ max_length: length, pattern }, report) {
    const found = pattern === undefined ? undefined : (findPatternFault(pattern) ?? createMatcher(pattern));
    const matcher = typeof found === 'string' ? undefined : found;
    if (typeof found === 'string') report('pattern', found);
    const maxLength = length ?? (pattern === undefined ? Number.POSITIVE_INFINITY : MATCHED_CHARS_MAX);
    return {
      ...TEXT,
      parse(text) {
        const isShort = text.length <= maxLength || [...text].length <= maxLength;
        if (!isShort)
          return rejectValue(`must have at most ${maxLength} characters, and has ${[...text].length}`);
        return matcher?.matches(text) === false ? rejectValue(`must match ${pattern}`) : text;
      },
      schema: {
        type: 'string',
        ...(Number.isFinite(maxLength) && { maxLength }),
        ...(matcher?.isOfJavaScript === true && { pattern }),
      },
    };
  },
};

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
      parse: (text) => (values.includes(text) ? text : rejectValue(message)),
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

const TIMESTAMP = fixed({
  parse(text) {
    const micros = parseInstant(text);
    if (micros !== undefined) return formatInstant(micros);
    return rejectValue(`must be an ISO 8601 timestamp, such as ${TIMESTAMP_EXAMPLE}`);
  },
  example: TIMESTAMP_EXAMPLE,
  schema: { type: 'string', description: `ISO 8601, such as ${TIMESTAMP_EXAMPLE}.` },
  control: 'time',
});

/** The type of patterns: their cost is checked here, their syntax by the engine (query/run.ts). */
const REGEX = fixed({
  parse(text) {
    const fault = findPatternFault(text);
    return fault === undefined ? text : rejectValue(fault);
  },
  isPattern: true,
  schema: { type: 'string', description: 'A pattern in RE2’s syntax.' },
});

// Bounds the time of BigInt and Number.
const DIGITS_MAX = 400;

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

const INTEGER: ParameterType = {
  fields: ['min', 'max'],
  createRules(declared, report) {
    for (const field of ['min', 'max'] as const)
      if (!Number.isSafeInteger(declared[field] ?? 0)) report(field, 'must be a whole number');
    const { min = INT64_MIN, max = INT64_MAX } = declared;
    const rules = numericRules(declared, 1, report);
    return {
      ...rules,
      sqlType: 'Int64',
      parse(text) {
        if (text.length > DIGITS_MAX || !/^-?\d+$/.test(text))
          return rejectValue(`must be a whole number, such as ${rules.example}`);
        const value = BigInt(text);
        return value < min || value > max ? rejectValue(`must be from ${min} to ${max}`) : String(value);
      },
      schema: { type: 'integer', format: 'int64', ...rules.schema },
    };
  },
};

const NUMBER: ParameterType = {
  fields: ['min', 'max'],
  createRules(declared, report) {
    const { min = -Infinity, max = Infinity } = declared;
    const rules = numericRules(declared, 0.5, report);
    return {
      ...rules,
      sqlType: 'Float64',
      parse(text) {
        const isNumber = text.length <= DIGITS_MAX && /^-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text);
        const value = isNumber ? Number(text) : Number.NaN;
        if (!Number.isFinite(value)) return rejectValue(`must be a finite number, such as ${rules.example}`);
        if (value < min || value > max) return rejectValue(describeRange(declared));
        return Object.is(value, -0) ? '-0' : String(value); // the engine distinguishes them, too
      },
      schema: { type: 'number', format: 'double', ...rules.schema },
    };
  },
};

function describeRange({ min, max }: ParameterFields): string {
  if (min === undefined) return `must be at most ${max}`;
  return max === undefined ? `must be at least ${min}` : `must be from ${min} to ${max}`;
}

/** The rules that both kinds of numbers have. @param usual an example, if it is in the range */
function numericRules({ min, max }: ParameterFields, usual: number, report: ReportField) {
  if (min !== undefined && max !== undefined && min > max)
    report('min', `must be at most "max", which is ${max}`);
  const example = Math.min(Math.max(usual, min ?? usual), max ?? usual);
  const schema = { ...(min !== undefined && { minimum: min }), ...(max !== undefined && { maximum: max }) };
  return { ...TEXT, jsonType: 'number', example, schema, control: 'number' } as const;
}

const BOOLEANS = new Map(Object.entries({ true: 'true', false: 'false', 1: 'true', 0: 'false' }));

const BOOLEAN = fixed({
  sqlType: 'Bool',
  jsonType: 'boolean',
  parse: (text) => BOOLEANS.get(text) ?? rejectValue('must be true or false'),
  values: ['true', 'false'],
  example: true,
  schema: { type: 'boolean' },
  control: 'choice',
});

const DAY_MIN = '1970-01-01';
const DAY_MAX = '2149-06-06'; // of the engine's Date

const DATE = fixed({
  sqlType: 'Date',
  parse(text) {
    const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
    const isDay = !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
    if (!isDay) return rejectValue('must be a date, such as 2026-11-20');
    return text < DAY_MIN || text > DAY_MAX ? rejectValue(`must be from ${DAY_MIN} to ${DAY_MAX}`) : text;
  },
  example: '2026-11-20',
  schema: { type: 'string', format: 'date' },
  control: 'date',
});

const UUID_EXAMPLE = '7f0c3a52-5f0b-4a57-9b1c-2f6f3f2b9d10';
const UUID_FORM = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

const UUID = fixed({
  sqlType: 'UUID',
  parse: (text) =>
    UUID_FORM.test(text) ? text.toLowerCase() : rejectValue(`must be a UUID, such as ${UUID_EXAMPLE}`),
  example: UUID_EXAMPLE,
  schema: { type: 'string', format: 'uuid' },
});

/** The types that the items of a list may have. */
const MEMBERS: Readonly<Record<(typeof LIST_MEMBERS)[number], ParameterType>> = {
  string: STRING,
  enum: ENUM,
  integer: INTEGER,
  number: NUMBER,
  date: DATE,
  uuid: UUID,
};

const ITEMS_MAX = 100;
const MEMBER_FIELDS = ['values', 'min', 'max', 'max_length', 'pattern'] as const;

/**
 * The type of lists, sent as `a=1&a=2`, `a=1,2` or a JSON array. The canonical text is an array in the engine's text
 * form.
 */
const LIST: ParameterType = {
  fields: ['of', 'max_items', ...MEMBER_FIELDS],
  createRules(declared, report) {
    const { of, max_items: itemsMax = ITEMS_MAX } = declared;
    if (of === undefined) {
      report('of', `is missing: a list has items of one type: ${LIST_MEMBERS.join(', ')}`);
      return undefined;
    }
    for (const field of MEMBER_FIELDS)
      if (declared[field] !== undefined && !MEMBERS[of].fields.includes(field))
        report(field, `is not for items of type ${of}`);
    const member = MEMBERS[of].createRules(declared, report);
    if (member === undefined) return undefined;
    const isText = member.schema['type'] === 'string';
    const parseItem = (item: string) => {
      try {
        const text = member.parse(item);
        return isText ? writeValue(text) : text;
      } catch (error) {
        if (!(error instanceof WrongValue)) throw error;
        return rejectValue(`has ${JSON.stringify(item.slice(0, 60))}, which ${error.message}`);
      }
    };
    const parseList = (items: readonly string[]) => {
      if (items.length > itemsMax)
        return rejectValue(`must have at most ${itemsMax} items, and has ${items.length}`);
      return `[${items.map(parseItem).join(',')}]`;
    };
    const { example = 'x' } = member;
    return {
      ...member,
      parse: (text) => parseList(text.split(',')),
      parseList,
      sqlType: `Array(${member.sqlType})`,
      unsent: '[]',
      values: [],
      otherwise: undefined,
      example: Array.isArray(example) ? example : [example], // no member is a list, which the type cannot say
      schema: { type: 'array', items: member.schema, maxItems: itemsMax },
      control: 'list',
    };
  },
};

export const TYPES: Readonly<Record<ParameterTypeName, ParameterType>> = {
  ...MEMBERS,
  timestamp: TIMESTAMP,
  regex: REGEX,
  boolean: BOOLEAN,
  list: LIST,
};

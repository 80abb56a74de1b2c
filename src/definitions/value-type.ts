import { writeValue } from '../sql/sql.ts';
import {
  LIST_MEMBERS,
  type ParameterFields,
  type ParameterType,
  type ReportField,
  rejectValue,
  WrongValue,
} from './parameter-type.ts';
import { TEXT, TEXT_TYPES } from './text-type.ts';

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
    checkRange(declared, report);
    const example = exampleWithin(declared, 1);
    return {
      ...TEXT,
      sqlType: 'Int64',
      jsonType: 'number',
      parse(text) {
        if (text.length > DIGITS_MAX || !/^-?\d+$/.test(text))
          return rejectValue(`must be a whole number, such as ${example}`);
        const value = BigInt(text);
        return value < min || value > max ? rejectValue(`must be from ${min} to ${max}`) : String(value);
      },
      example,
      schema: { type: 'integer', format: 'int64', ...rangeSchema(declared) },
      control: 'number',
    };
  },
};

const NUMBER: ParameterType = {
  fields: ['min', 'max'],
  createRules(declared, report) {
    const { min = -Infinity, max = Infinity } = declared;
    checkRange(declared, report);
    const example = exampleWithin(declared, 0.5);
    return {
      ...TEXT,
      sqlType: 'Float64',
      jsonType: 'number',
      parse(text) {
        const isNumber = text.length <= DIGITS_MAX && /^-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text);
        const value = isNumber ? Number(text) : Number.NaN;
        if (!Number.isFinite(value)) return rejectValue(`must be a finite number, such as ${example}`);
        if (value < min || value > max) return rejectValue(describeRange(declared));
        return Object.is(value, -0) ? '-0' : String(value); // the engine distinguishes them, too
      },
      example,
      schema: { type: 'number', format: 'double', ...rangeSchema(declared) },
      control: 'number',
    };
  },
};

function checkRange({ min, max }: ParameterFields, report: ReportField): void {
  if (min !== undefined && max !== undefined && min > max)
    report('min', `must be at most "max", which is ${max}`);
}

function describeRange({ min, max }: ParameterFields): string {
  if (min === undefined) return `must be at most ${max}`;
  return max === undefined ? `must be at least ${min}` : `must be from ${min} to ${max}`;
}

function rangeSchema({ min, max }: ParameterFields): Readonly<Record<string, number>> {
  return { ...(min !== undefined && { minimum: min }), ...(max !== undefined && { maximum: max }) };
}

function exampleWithin({ min, max }: ParameterFields, usual: number): number {
  return Math.min(Math.max(usual, min ?? usual), max ?? usual);
}

const BOOLEANS: Readonly<Record<string, string>> = { true: 'true', false: 'false', 1: 'true', 0: 'false' };

const BOOLEAN: ParameterType = {
  fields: [],
  createRules: () => ({
    ...TEXT,
    sqlType: 'Bool',
    jsonType: 'boolean',
    parse: (text) =>
      (Object.hasOwn(BOOLEANS, text) && BOOLEANS[text]) || rejectValue('must be true or false'),
    values: ['true', 'false'],
    example: true,
    schema: { type: 'boolean' },
    control: 'choice',
  }),
};

const DAY_MIN = '1970-01-01';
const DAY_MAX = '2149-06-06'; // of the engine's Date

const DATE: ParameterType = {
  fields: [],
  createRules: () => ({
    ...TEXT,
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
  }),
};

const UUID_EXAMPLE = '7f0c3a52-5f0b-4a57-9b1c-2f6f3f2b9d10';

const UUID: ParameterType = {
  fields: [],
  createRules: () => ({
    ...TEXT,
    sqlType: 'UUID',
    parse: (text) =>
      /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text)
        ? text.toLowerCase()
        : rejectValue(`must be a UUID, such as ${UUID_EXAMPLE}`),
    example: UUID_EXAMPLE,
    schema: { type: 'string', format: 'uuid' },
  }),
};

const SCALAR_TYPES = { integer: INTEGER, number: NUMBER, date: DATE, uuid: UUID };
/** The types that the items of a list may have. */
const MEMBERS: Readonly<Record<(typeof LIST_MEMBERS)[number], ParameterType>> = {
  ...{ string: TEXT_TYPES.string, enum: TEXT_TYPES.enum },
  ...SCALAR_TYPES,
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
    const parseItem = (item: string) => {
      try {
        return member.parse(item);
      } catch (error) {
        throw error instanceof WrongValue
          ? new WrongValue(`has ${JSON.stringify(item.slice(0, 60))}, which ${error.message}`)
          : error;
      }
    };
    const isText = member.schema['type'] === 'string';
    const parseList = (items: readonly string[]) => {
      if (items.length > itemsMax)
        return rejectValue(`must have at most ${itemsMax} items, and has ${items.length}`);
      const texts = items.map(parseItem);
      return `[${(isText ? texts.map(writeValue) : texts).join(',')}]`;
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

/** The types that are not Strings in the SQL. */
export const VALUE_TYPES = { ...SCALAR_TYPES, boolean: BOOLEAN, list: LIST };

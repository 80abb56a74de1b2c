import { formatInstant, parseInstant } from '../lib/instant.ts';
import { createMatcher, findPatternFault, type Matcher } from '../sql/pattern.ts';
import { type ParameterType, type ReportField, rejectValue, type ValueRules } from './parameter-type.ts';

/** The rules of any text; each type adds its own. */
export const TEXT: ValueRules = {
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

// Bounds the time of a match.
const MATCHED_CHARS_MAX = 1_000;

const STRING: ParameterType = {
  fields: ['max_length', 'pattern'],
  createRules({ max_length: length, pattern }, report) {
    const matcher = pattern === undefined ? undefined : readPattern(pattern, report);
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

/** @returns `undefined` for a pattern that is rejected, which is reported */
function readPattern(pattern: string, report: ReportField): Matcher | undefined {
  const matcher = findPatternFault(pattern) ?? createMatcher(pattern);
  if (typeof matcher !== 'string') return matcher;
  report('pattern', matcher);
  return undefined;
}

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

const TIMESTAMP: ParameterType = {
  fields: [],
  createRules: () => ({
    ...TEXT,
    parse(text) {
      const micros = parseInstant(text);
      if (micros !== undefined) return formatInstant(micros);
      return rejectValue(`must be an ISO 8601 timestamp, such as ${TIMESTAMP_EXAMPLE}`);
    },
    example: TIMESTAMP_EXAMPLE,
    schema: { type: 'string', description: `ISO 8601, such as ${TIMESTAMP_EXAMPLE}.` },
    control: 'time',
  }),
};

/** The type of patterns: their cost is checked here, their syntax by the engine (query/run.ts). */
const REGEX: ParameterType = {
  fields: [],
  createRules: () => ({
    ...TEXT,
    parse(text) {
      const fault = findPatternFault(text);
      return fault === undefined ? text : rejectValue(fault);
    },
    isPattern: true,
    schema: { type: 'string', description: 'A pattern in RE2’s syntax.' },
  }),
};

/** Types that are Strings in the SQL. */
export const TEXT_TYPES = { string: STRING, enum: ENUM, timestamp: TIMESTAMP, regex: REGEX };

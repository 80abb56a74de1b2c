import { type Static, Type } from 'typebox';
import { closed, oneOf, optional, shortText, wholeNumber } from '../lib/schema.ts';

// Imports nothing of the service: management/view.ts uses the names, and the console imports that file.

/** Every type of a parameter; each has a row in value-type.ts. */
export const PARAMETER_TYPES = [
  'string',
  'enum',
  'timestamp',
  'regex',
  'integer',
  'number',
  'boolean',
  'date',
  'uuid',
  'list',
] as const;

export type ParameterTypeName = (typeof PARAMETER_TYPES)[number];

/** The types that the items of a list may have. */
export const LIST_MEMBERS = ['string', 'enum', 'integer', 'number', 'date', 'uuid'] as const;

const TEXT = Type.String({ expected: 'a string; put it in quotes' });
/** A search, or the name of a field in it. */
export const SEARCH_TEXT = shortText(1_000, {
  expected: 'a string of 1 to 1,000 characters (see docs/search.md); put it in quotes',
});

/** The fields that endpoint.yaml may declare only for parameters of some types; the row of a type names its own. */
const TYPE_FIELDS = optional({
  values: Type.Array(TEXT, { minItems: 1, maxItems: 1000, expected: 'a list of texts' }),
  otherwise: TEXT,
  max_length: Type.Integer({ minimum: 1, unit: 'characters' }),
  pattern: Type.String({ minLength: 1, expected: 'a pattern of RE2; put it in quotes' }),
  min: Type.Number(),
  max: Type.Number(),
  of: oneOf(LIST_MEMBERS),
  max_items: wholeNumber(1_000),
});

type TypeField = keyof typeof TYPE_FIELDS;
export const TYPE_FIELD_NAMES = Object.keys(TYPE_FIELDS) as readonly TypeField[]; // a constant has no other keys

export const SCALAR = Type.Union([Type.String(), Type.Number(), Type.Boolean()], {
  expected: 'a string, a number, true or false',
});
const VALUE = Type.Union([SCALAR, Type.Array(SCALAR)], { expected: 'a value, or a list of values' });

/** One member of `parameters` in endpoint.yaml. */
export const PARAMETER_FIELDS = closed({
  type: oneOf(PARAMETER_TYPES),
  required: Type.Optional(Type.Boolean()),
  description: Type.String(),
  ...optional({
    default: VALUE,
    examples: Type.Array(VALUE, { minItems: 1, maxItems: 100, expected: 'a list of values' }),
    search: SEARCH_TEXT,
  }),
  ...TYPE_FIELDS,
});

export type ParameterFields = Static<typeof PARAMETER_FIELDS>;

/** A value in endpoint.yaml, or in a JSON body. */
export type DeclaredValue = Static<typeof VALUE>;

// Values are kept in plain objects, in which `__proto__` cannot be a member.
export const PARAMETER_NAME = Type.String({ pattern: '^(?!__proto__$)[A-Za-z_][A-Za-z0-9_]{0,62}$' });

/** Values for the parameters of an endpoint, by name, in the file of an alert or a dashboard. */
export const CALL_VALUES = Type.Record(
  PARAMETER_NAME,
  Type.Union([SCALAR, Type.Array(SCALAR, { maxItems: 1_000 })], {
    expected: 'the value of a parameter, or a list of values',
  }),
  { additionalProperties: false, expected: 'a map of parameters' },
);

/** Such values as texts, as in a query string. */
export type CallTexts = Readonly<Record<string, string | string[]>>;

export function toCallTexts(values: Static<typeof CALL_VALUES> = {}): CallTexts {
  const texts = Object.entries(values).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.map(String) : String(value),
  ]);
  return Object.fromEntries(texts);
}

/** How a form shows a parameter. */
export const CONTROLS = ['text', 'choice', 'time', 'number', 'date', 'list'] as const;

/** How values of one declared parameter are read, checked, bound and shown. */
export interface ValueRules {
  /**
   * Returns the canonical form of a text that is not empty: one for all spellings, in the cache key and for the engine.
   * @throws WrongValue
   */
  readonly parse: (text: string) => string;
  /** The same for the texts of a name that was sent several times, or of a JSON array; only lists accept those. */
  readonly parseList?: (texts: readonly string[]) => string;
  /** The engine's type of `@name`. */
  readonly sqlType: string;
  /** Canonical text for a parameter without a default that was not sent. Empty: NULL, or the empty text of a String. */
  readonly unsent: string;
  /** The only values; empty if there are others. */
  readonly values: readonly string[];
  /** The value that replaces one that `parse` rejects; without it such a value is rejected. */
  readonly otherwise: string | undefined;
  /**
   * Whether the SQL matches by the value as a pattern. A key pins a plain text, so the pin is escaped before it is
   * bound.
   */
  readonly isPattern: boolean;
  /** A value that a caller could send; `undefined` if any text is one. */
  readonly example: DeclaredValue | undefined;
  /** Type of a JSON value that a body may have instead of a text; the type of each item if it is a list. */
  readonly jsonType: 'string' | 'number' | 'boolean';
  /** JSON Schema of what a caller sends. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly control: (typeof CONTROLS)[number];
}

/** Reports a fault of one field of a declaration. @param message the end of the sentence that begins with the field */
export type ReportField = (field: keyof ParameterFields, message: string) => void;

/** One type of parameters. */
export interface ParameterType {
  readonly fields: readonly TypeField[];
  /** @returns `undefined` if the declaration lacks what the type needs, which is reported */
  readonly createRules: (declared: ParameterFields, report: ReportField) => ValueRules | undefined;
}

/**
 * The error of a value that a type rejects. The message is the end of the sentence that begins with the parameter's
 * name.
 */
export class WrongValue extends Error {
  override readonly name = 'WrongValue';
}

export function rejectValue(message: string): never {
  throw new WrongValue(message);
}

/**
 * Returns the text of a scalar in YAML or JSON. Integers that a double may have rounded are in a form that `integer`
 * rejects.
 */
export function toText(value: string | number | bigint | boolean): string {
  if (Object.is(value, -0)) return '-0';
  const isRounded = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
  return isRounded ? value.toExponential() : String(value);
}

import { type Static, Type } from 'typebox';

// Imports nothing of the service: http/view.ts uses the names, and the console imports that file.

/** Every type of a parameter; each has a row in text-type.ts or value-type.ts. */
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
export const SEARCH_TEXT = Type.String({
  minLength: 1,
  maxLength: 1000,
  expected: 'a string of 1 to 1,000 characters (see docs/search.md); put it in quotes',
});
const NUMBER = Type.Number({ expected: 'a number' });
const ITEMS_MAX = 1_000;

/** The fields that endpoint.yaml may declare only for parameters of some types; the row of a type names its own. */
const TYPE_FIELDS = {
  values: Type.Optional(Type.Array(TEXT, { minItems: 1, maxItems: 1000, expected: 'a list of texts' })),
  otherwise: Type.Optional(TEXT),
  max_length: Type.Optional(
    Type.Integer({ minimum: 1, expected: 'a whole number of characters, at least 1' }),
  ),
  pattern: Type.Optional(Type.String({ minLength: 1, expected: 'a pattern of RE2; put it in quotes' })),
  min: Type.Optional(NUMBER),
  max: Type.Optional(NUMBER),
  of: Type.Optional(Type.Enum([...LIST_MEMBERS], { expected: `one of ${LIST_MEMBERS.join(', ')}` })),
  max_items: Type.Optional(
    Type.Integer({ minimum: 1, maximum: ITEMS_MAX, expected: `a whole number from 1 to ${ITEMS_MAX}` }),
  ),
};

type TypeField = keyof typeof TYPE_FIELDS;
export const TYPE_FIELD_NAMES = Object.keys(TYPE_FIELDS) as readonly TypeField[]; // a constant has no other keys

const SCALAR = Type.Union([Type.String(), Type.Number(), Type.Boolean()]);
const VALUE = Type.Union([SCALAR, Type.Array(SCALAR)], { expected: 'a value, or a list of values' });

/** One member of `parameters` in endpoint.yaml. */
export const PARAMETER_FIELDS = Type.Object(
  {
    type: Type.Enum([...PARAMETER_TYPES], { expected: `one of ${PARAMETER_TYPES.join(', ')}` }),
    required: Type.Optional(Type.Boolean({ expected: 'true or false' })),
    description: Type.String({ expected: 'a string' }),
    default: Type.Optional(VALUE),
    examples: Type.Optional(Type.Array(VALUE, { minItems: 1, maxItems: 100, expected: 'a list of values' })),
    search: Type.Optional(SEARCH_TEXT),
    ...TYPE_FIELDS,
  },
  { additionalProperties: false, expected: 'a map of fields' },
);

export type ParameterFields = Static<typeof PARAMETER_FIELDS>;

/** A value in endpoint.yaml, or in a JSON body. */
export type DeclaredValue = Static<typeof VALUE>;

/** How a form shows a parameter. */
export const CONTROLS = ['text', 'choice', 'time', 'number', 'date', 'list'] as const;

/** How values of one declared parameter are read, checked, bound and shown. */
export interface ValueRules {
  /**
   * Returns the canonical form of a text that is not empty: one for all spellings, in the cache key and for the engine.
   *
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

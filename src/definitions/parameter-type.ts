import { type Static, Type } from 'typebox';

// Imports nothing of the service: http/view.ts uses the names, and the console imports that file.

/** Every type of a parameter; each has a row in parameter.ts. */
export const PARAMETER_TYPES = ['string', 'enum', 'timestamp', 'regex'] as const;

export type ParameterTypeName = (typeof PARAMETER_TYPES)[number];

const TEXT = Type.String({ expected: 'a text; put it in quotes' });

/** What endpoint.yaml may declare for parameters of some types only; the row of a type names those that it takes. */
const TYPE_FIELDS = {
  values: Type.Optional(Type.Array(TEXT, { minItems: 1, maxItems: 1000, expected: 'a list of texts' })),
  otherwise: Type.Optional(TEXT),
};

type TypeField = keyof typeof TYPE_FIELDS;
export const TYPE_FIELD_NAMES = Object.keys(TYPE_FIELDS) as readonly TypeField[]; // a constant has no other keys

/** One member of `parameters` in endpoint.yaml. */
export const PARAMETER_FIELDS = Type.Object(
  {
    type: Type.Enum([...PARAMETER_TYPES], { expected: `one of ${PARAMETER_TYPES.join(', ')}` }),
    required: Type.Optional(Type.Boolean({ expected: 'true or false' })),
    description: Type.String({ expected: 'a text' }),
    default: Type.Optional(TEXT),
    ...TYPE_FIELDS,
  },
  { additionalProperties: false, expected: 'a map of fields' },
);

export type ParameterFields = Static<typeof PARAMETER_FIELDS>;

/** How a form shows a parameter. */
export const CONTROLS = ['text', 'choice', 'time'] as const;

/** How values of one declared parameter are read, checked, bound and shown. */
export interface ValueRules {
  /**
   * The canonical text of a value: one text for all spellings of it, which the cache key holds and the SQL receives.
   *
   * @param text not empty
   * @throws WrongValue
   */
  readonly parse: (text: string) => string;
  /** SQL of the value. @param text SQL of its canonical text: `@name`, or a text in quotes by sql/quote.ts */
  readonly toSql: (text: string) => string;
  /** The only values; empty if there are others. */
  readonly values: readonly string[];
  /** What a value that `parse` refuses behaves as; without it such a value is refused. */
  readonly otherwise: string | undefined;
  /** Whether the SQL matches by the value as a pattern. A key pins a plain text, so the pin is escaped before it is bound. */
  readonly isPattern: boolean;
  /** A value that a caller could send; `undefined` if any text is one. */
  readonly example: string | undefined;
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

/** A value that a type refuses. The message is the end of the sentence that begins with the parameter's name. */
export class WrongValue extends Error {
  override readonly name = 'WrongValue';
}

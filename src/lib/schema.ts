import { type TEnum, type TObject, type TProperties, type TSchema, type TSchemaOptions, Type } from 'typebox';

// Words of schemas. The console reads schemas that are made of them, so this file must not import the service.

/** Returns the schema of an object without other members. @param options such as `expected` */
export function closed<T extends TProperties>(properties: T, options: object = {}): TObject<T> {
  return Type.Object(properties, { additionalProperties: false, ...options });
}

/** Returns the schema of one of the texts. */
export function oneOf<const T extends readonly string[]>(
  values: T,
  options: TSchemaOptions = {},
): TEnum<[...T]> {
  return Type.Enum<[...T]>([...values], options);
}

/** Returns the schema of an integer from 1. @param unit such as `seconds`, or other options */
export function wholeNumber(maximum: number, unit: string | object = {}) {
  return Type.Integer({ minimum: 1, maximum, ...(typeof unit === 'string' ? { unit } : unit) });
}

/** Returns the schema of a text that is not empty. */
export function shortText(maxLength: number, options: object = {}) {
  return Type.String({ minLength: 1, maxLength, ...options });
}

/** Returns the schema of a list. @param unit what it has, such as `rows`; `different …` if no two may be equal */
export function listOf<T extends TSchema>(
  items: T,
  [minItems, maxItems]: readonly [number, number],
  unit: string,
) {
  const isSet = unit.startsWith('different ');
  const bounds = { ...(minItems > 0 && { minItems }), maxItems, ...(isSet && { uniqueItems: true }) };
  return Type.Array(items, { ...bounds, unit });
}

/** Returns the properties as those that an object may lack. */
export function optional<T extends TProperties>(properties: T) {
  return Type.Partial(Type.Object(properties)).properties;
}

// Schemas of responses.

const described = (description: string | undefined) => (description === undefined ? {} : { description });
export const text = (description?: string) => Type.String(described(description));
export const texts = (description?: string) => Type.Array(Type.String(), described(description));
export const flag = (description?: string) => Type.Boolean(described(description));
export const count = (description: string) => Type.Integer({ minimum: 0, description });
export const instant = (description?: string) =>
  Type.String({ format: 'date-time', ...described(description) });
export const list = <T extends TSchema>(items: T, description?: string) =>
  Type.Array(items, described(description));
export const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
export const textOrNull = (description?: string) => orNull(text(description));
export const instantOrNull = (description: string) => orNull(instant(description));
export const UUID = Type.String({ format: 'uuid' });

/** Our own annotations: `expected` is the end of the sentence "must be …", `unit` what an integer or a list counts. */
interface Described
  extends Partial<Record<'expected' | 'unit' | 'pattern', string>>,
    Partial<Record<Bound, number>> {
  readonly type?: unknown;
  readonly enum?: readonly unknown[];
  readonly additionalProperties?: unknown;
  readonly properties?: object;
}
type Bound = 'minimum' | 'maximum' | 'minLength' | 'maxLength' | 'minItems' | 'maxItems';

/** Describes the values that a schema accepts, as the end of "must be …"; `undefined` if it does not say it. */
export function expectedOf(schema: object): string | undefined {
  const { expected, type, pattern, maxLength, properties, additionalProperties, ...rest }: Described = schema;
  if (typeof expected === 'string') return expected;
  if (Array.isArray(rest.enum)) return `one of ${rest.enum.join(', ')}`;
  if (type === 'boolean') return 'true or false';
  if (type === 'integer') return describeInteger(rest);
  if (type === 'array') return describeList(rest);
  if (type === 'number' && rest.minimum === undefined && rest.maximum === undefined) return 'a number';
  if (type === 'object' && properties !== undefined && additionalProperties === false)
    return 'a map of fields';
  if (type !== 'string' || pattern !== undefined) return undefined;
  if (maxLength === undefined) return 'a string';
  const from = rest.minLength === undefined ? 'at most ' : `${rest.minLength} to `;
  return `a string of ${from}${maxLength} characters`;
}

function describeInteger({ unit, minimum, maximum }: Described): string {
  const counted = `a whole number${unit === undefined ? '' : ` of ${unit}`}`;
  if (minimum === undefined) return counted;
  return maximum === undefined
    ? `${counted}, at least ${minimum}`
    : `${counted} from ${minimum} to ${maximum}`;
}

function describeList({ unit, minItems, maxItems }: Described): string | undefined {
  if (unit === undefined) return undefined;
  return `a list of ${minItems === undefined ? 'at most ' : `${minItems} to `}${maxItems} ${unit}`;
}

import { LEVELS, NUMBERS_PER_LEVEL } from '../../definitions/level.ts';

/** OTLP's AnyValue in its JSON encoding. Protobuf is read into the same shape. */
export type AnyValue = Readonly<Record<string, unknown>>;

export interface KeyValue {
  readonly key?: string;
  readonly value?: AnyValue;
}

// Deeper than the event rules allow: what is cut off here belongs to an event that they reject, with the reason.
const DEPTH_MAX = 100;

/** Writes an AnyValue that `checkRequest` accepts as JSON text, exactly: a 64-bit integer keeps all its digits. */
export function anyValueText(value: AnyValue | undefined, depth = 0): string {
  if (depth > DEPTH_MAX || value === undefined || value === null) return 'null';
  if (value['stringValue'] !== undefined) return JSON.stringify(value['stringValue']);
  if (value['boolValue'] !== undefined) return JSON.stringify(value['boolValue']);
  if (value['intValue'] !== undefined) return String(value['intValue']);
  // JSON cannot write NaN and the infinities; OTLP's JSON writes them as texts, and so do we.
  if (value['doubleValue'] !== undefined) return doubleText(value['doubleValue']);
  if (value['bytesValue'] !== undefined) return JSON.stringify(value['bytesValue']);
  if (value['arrayValue'] !== undefined) {
    const items = listOf<AnyValue>(value['arrayValue']).map((item) => anyValueText(item, depth + 1));
    return `[${items.join(',')}]`;
  }
  if (value['kvlistValue'] !== undefined)
    return attributesText(listOf<KeyValue>(value['kvlistValue']), depth + 1);
  return 'null';
}

/** Writes a list of attributes as the JSON text of one object, in their order. */
export function attributesText(attributes: readonly KeyValue[] | undefined, depth = 0): string {
  const members = (attributes ?? []).map(
    ({ key, value }) => `${JSON.stringify(key ?? '')}:${anyValueText(value, depth)}`,
  );
  return `{${members.join(',')}}`;
}

/** Returns the text of an attribute; `undefined` if it is of another type, or empty. */
export function findText(attributes: readonly KeyValue[] | undefined, key: string): string | undefined {
  const value = attributes?.findLast((attribute) => attribute.key === key)?.value?.['stringValue'];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function listOf<T>(value: unknown): readonly T[] {
  return (value as { values?: readonly T[] }).values ?? []; // an ArrayValue or KeyValueList: see `checkRequest`
}

function doubleText(value: unknown): string {
  const double = Number(value);
  return JSON.stringify(Number.isFinite(double) ? double : String(value));
}

export const SEVERITY_NAME = /^SEVERITY_NUMBER_(?:UNSPECIFIED|(TRACE|DEBUG|INFO|WARN|ERROR|FATAL)([234]?))$/;

/** Reads a severity number, which may be written by its name; 0 if unspecified. */
export function severityNumber(value: string | number = 0): number {
  const [all, name = '', step] = SEVERITY_NAME.exec(String(value)) ?? [];
  if (all === undefined) return Number(value);
  const names: readonly string[] = LEVELS;
  return name === '' ? 0 : names.indexOf(name.toLowerCase()) * NUMBERS_PER_LEVEL + Number(step || 1);
}

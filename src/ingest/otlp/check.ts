import { TailraceError } from '../../errors.ts';
import { isObject } from '../json/value.ts';
import type { OtlpRequest } from './events.ts';
import { MESSAGES, ONEOFS } from './schema.ts';
import { SEVERITY_NAME } from './value.ts';

const INTEGER = /^-?(?:0|[1-9]\d{0,19})$/;
const DOUBLE = /^(?:-?(?:\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|Infinity)|NaN)$/;

interface Scalar {
  readonly expected: string;
  readonly accepts: (value: unknown) => boolean;
}

const TEXT: Scalar = { expected: 'a string', accepts: (value) => typeof value === 'string' };
const NUMBER = ofForm('an integer', INTEGER);

/** How OTLP's JSON writes the types of its fields. */
const SCALARS: Readonly<Record<string, Scalar>> = {
  string: TEXT,
  bytes: TEXT,
  bool: { expected: 'true or false', accepts: (value) => typeof value === 'boolean' },
  double: ofForm('a number', DOUBLE),
  int32: NUMBER,
  int64: NUMBER,
  uint32: NUMBER,
  fixed32: NUMBER,
  // A time that is not a number costs its record only: the rules of events reject it.
  fixed64: ofForm('an integer', /^/),
};

// Libraries that write protobuf as JSON write bytes in base64, and names of numbers.
const FORMS: Readonly<Record<string, Scalar>> = {
  traceId: ofForm('32 hexadecimal digits', /^(?:|[0-9a-fA-F]{32}|[\w+/-]{22}==)$/),
  spanId: ofForm('16 hexadecimal digits', /^(?:|[0-9a-fA-F]{16}|[\w+/-]{11}=)$/),
  severityNumber: ofForm('an integer, such as 17', new RegExp(`${SEVERITY_NAME.source}|${INTEGER.source}`)),
};

function ofForm(expected: string, form: RegExp): Scalar {
  return {
    expected,
    accepts: (value) => (typeof value === 'string' || typeof value === 'number') && form.test(String(value)),
  };
}

// An AnyValue within another adds up to four steps. Those beyond belong to an event that is rejected, since it is nested too deep.
const STEPS_MAX = 500;

/**
 * Checks an OTLP request in JSON: what is not understood would be stored as nothing. Fields of later versions are ignored, but not a
 * message that has no others. A field that is null becomes a missing one.
 *
 * @throws TailraceError `invalid_request` with the place
 */
export function checkRequest(request: unknown): OtlpRequest {
  const place: (string | number)[] = [];
  checkMessage(request, 'ExportLogsServiceRequest');
  return request as OtlpRequest; // just checked

  function checkMessage(message: unknown, type: string): void {
    if (!isObject(message)) throw refuse('must be an object of the type', type);
    if (place.length > STEPS_MAX) return;
    const fields = fieldsOf(type);
    const names = Object.keys(message);
    const known = names.filter((name) => fields.has(name));
    if (names.length > 0 && known.length === 0) throw refuse('has no field of', type);
    for (const name of known) checkField(message, name, fields.get(name) ?? '');
    const isChoice = Object.hasOwn(ONEOFS, type);
    if (isChoice && known.filter((name) => message[name] !== undefined).length > 1)
      throw refuse('must have one value only, as an', type);
  }

  function checkField(message: Record<string, unknown>, name: string, type: string): void {
    const value = message[name] ?? undefined;
    message[name] = value;
    if (value === undefined) return;
    place.push(name);
    if (!type.startsWith(REPEATED)) checkValue(value, FORMS[name] ?? SCALARS[type] ?? type);
    else if (Array.isArray(value)) checkItems(value, type.slice(REPEATED.length));
    else throw refuse('must be an array');
    place.pop();
  }

  function checkItems(items: readonly unknown[], type: string): void {
    for (const [i, item] of items.entries()) {
      place.push(i);
      if (item !== null || type !== 'AnyValue') checkMessage(item, type);
      place.pop();
    }
  }

  function checkValue(value: unknown, type: Scalar | string): void {
    if (typeof type === 'string') checkMessage(value, type);
    else if (!type.accepts(value)) throw refuse(`must be ${type.expected}`);
  }

  function refuse(what: string, type = ''): TailraceError {
    const path = place.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
    const where = path === '' ? 'it' : path.slice(1, PLACE_CHARS_MAX);
    const expected =
      `${what} ${type}${type === 'AnyValue' ? ', such as {"stringValue": "text"}' : ''}`.trim();
    const message = `the body is not an OTLP ExportLogsServiceRequest: ${where} ${expected}`;
    return new TailraceError('invalid_request', message);
  }
}

const REPEATED = 'repeated ';
const PLACE_CHARS_MAX = 500;

const FIELDS = new Map(
  Object.entries(MESSAGES).map(([message, fields]) => [
    message,
    new Map(Object.entries(fields).map(([name, [, type]]) => [name, type])),
  ]),
);
const fieldsOf = (type: string): ReadonlyMap<string, string> => FIELDS.get(type) ?? new Map();

import { type Endpoint, type Parameter, PINNED_PREFIX } from '../definitions/endpoint.ts';
import { type ParameterFault, TailraceError } from '../errors.ts';
import { formatInstant, parseInstant } from '../lib/instant.ts';
import { findPatternFault } from './pattern.ts';

/** What a caller sent, by name; a list where the name came more than once. */
export type RawParameters = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The value of every declared parameter, ready to be bound: the same for all requests that mean the same. */
export type ParameterValues = Readonly<Record<string, string>>;

class WrongValue extends Error {}

/**
 * Resolves what a caller sent against what the endpoint declares. Undeclared names are ignored; a missing or empty
 * optional one takes its default; an enum with `otherwise` takes any value (spec 4.1 `interval`, 4.2 `project_tier`).
 *
 * A pattern of type regex is checked for what it costs (pattern.ts); whether it is one at all, the engine says: see run.ts.
 *
 * @param bytesMax longest value, in UTF-8 bytes
 * @throws TailraceError `invalid_parameter` naming every wrong parameter at once
 */
export function parseParameters(endpoint: Endpoint, raw: RawParameters, bytesMax: number): ParameterValues {
  const values: Record<string, string> = {};
  const errors: ParameterFault[] = [];
  for (const parameter of endpoint.parameters) {
    try {
      values[parameter.name] = parseParameter(parameter, raw[parameter.name], bytesMax);
    } catch (error) {
      if (!(error instanceof WrongValue)) throw error;
      errors.push({ parameter: parameter.name, message: error.message });
    }
  }
  if (errors.length > 0) throw invalidParameters(errors);
  for (const name of endpoint.pinned) values[PINNED_PREFIX + name] = ''; // src/query/pins.ts knows better
  return values;
}

/** What one text that a caller sent comes to; `undefined` where it would be refused. */
export function findParameterValue(parameter: Parameter, text: string, bytesMax: number): string | undefined {
  try {
    return parseParameter(parameter, text, bytesMax);
  } catch (error) {
    if (error instanceof WrongValue) return undefined;
    throw error;
  }
}

/** The error of one or more wrong parameters. */
export function invalidParameters(errors: readonly ParameterFault[], cause?: unknown): TailraceError {
  const message = errors.map((error) => `${error.parameter} ${error.message}`).join('; ');
  return new TailraceError('invalid_parameter', message, { errors, cause });
}

function parseParameter(parameter: Parameter, raw: RawParameters[string], bytesMax: number): string {
  if (raw !== undefined && typeof raw !== 'string')
    throw new WrongValue(`was sent ${raw.length} times; send it once`);
  if (raw === undefined || raw === '') {
    if (parameter.required) throw new WrongValue(missingMessage(parameter));
    return parameter.fallback;
  }
  if (Buffer.byteLength(raw) > bytesMax) throw new WrongValue(`must be at most ${bytesMax} bytes long`);
  const value = raw.toWellFormed();
  if (parameter.type === 'enum') return parseEnum(parameter, value);
  if (parameter.type === 'timestamp') return parseTimestamp(value);
  if (parameter.type === 'regex') return parsePattern(value);
  return value;
}

function parseEnum(parameter: Parameter, value: string): string {
  if (parameter.values.includes(value)) return value;
  if (parameter.otherwise !== undefined) return parameter.otherwise;
  throw new WrongValue(`must be one of ${parameter.values.join(', ')}`);
}

function parseTimestamp(value: string): string {
  const micros = parseInstant(value);
  if (micros === undefined)
    throw new WrongValue('must be an ISO 8601 timestamp, such as 2026-11-20T07:00:00Z');
  return formatInstant(micros);
}

function parsePattern(value: string): string {
  const fault = findPatternFault(value);
  if (fault === undefined) return value;
  throw new WrongValue(fault);
}

function missingMessage(parameter: Parameter): string {
  return parameter.type === 'enum' ? `is required: one of ${parameter.values.join(', ')}` : 'is required';
}

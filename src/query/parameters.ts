import type { Endpoint } from '../definitions/endpoint.ts';
import { CURSOR_PARAMETER } from '../definitions/pages.ts';
import { FORMAT_PARAMETER, type Parameter, PINNED_PREFIX, SQL_PARAMETER } from '../definitions/parameter.ts';
import { rejectValue, WrongValue } from '../definitions/parameter-type.ts';
import type { FieldFault } from '../definitions/yaml-file.ts';
import { type ParameterFault, TailraceError } from '../errors.ts';
import { describeNearest } from '../lib/nearest.ts';
import { bindPosition } from './position.ts';

/** Longest value of a parameter in UTF-8 bytes, else 400: longer than any filter, and a fraction of the longest URL. */
const PARAMETER_BYTES_MAX = 65_536;

/** The texts of a request by parameter name; a list if the name was sent more than once. */
export type RawParameters = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The canonical text of each declared parameter's value: requests that mean the same have the same texts. */
export type ParameterValues = Readonly<Record<string, string>>;

/**
 * Checks what a caller sent against the declarations of an endpoint. Undeclared names are ignored unless it is strict;
 * a missing or empty optional parameter has its default; `otherwise` replaces a value that its type rejects (spec 4.1
 * `interval`, 4.2 `project_tier`).
 *
 * @param bytesMax longest value, in UTF-8 bytes, if it is not that of stored queries
 * @throws TailraceError `invalid_parameter` that names every wrong parameter
 */
export function parseParameters(
  endpoint: Endpoint,
  raw: RawParameters,
  bytesMax = PARAMETER_BYTES_MAX,
): ParameterValues {
  const values: Record<string, string> = {};
  const known = endpoint.strict ? listKnown(endpoint) : [];
  const errors = endpoint.strict ? describeUndeclared(findUndeclared(known, raw), known) : [];
  for (const parameter of endpoint.parameters) {
    try {
      values[parameter.name] = parseValue(parameter, raw[parameter.name], bytesMax);
    } catch (error) {
      if (!(error instanceof WrongValue)) throw error;
      errors.push({ parameter: parameter.name, message: error.message });
    }
  }
  if (errors.length > 0) throw invalidParameters(errors);
  for (const name of endpoint.pinned) values[PINNED_PREFIX + name] = ''; // pins.ts sets those of a key
  if (endpoint.pages === undefined) return values;
  return { ...values, ...bindPosition(endpoint.pages) }; // the first page
}

/** Finds parameters of a call, in the file of an alert or a dashboard, that the endpoint does not have or rejects. */
export function findParameterFaults(
  { parameters }: { readonly parameters: RawParameters },
  endpoint: Endpoint,
): FieldFault[] {
  const known = endpoint.parameters.map(({ name }) => name);
  const unknown = findUndeclared(known, parameters).map(
    (name): FieldFault => [
      ['parameters', name],
      `${endpoint.name} has no parameter "${name}"; it has ${known.join(', ') || 'none'}`,
    ],
  );
  try {
    parseParameters({ ...endpoint, strict: false }, parameters, Number.POSITIVE_INFINITY);
    return unknown;
  } catch (error) {
    if (!(error instanceof TailraceError)) throw error;
    const wrong = error.errors.map(
      ({ parameter, message }): FieldFault => [['parameters', parameter], `"${parameter}" ${message}`],
    );
    return [...unknown, ...wrong];
  }
}

/** Every name that a request to an endpoint may send: its parameters, and those of the service. */
export function listKnown({ parameters, sandboxing, pages }: Endpoint): string[] {
  const names = [
    ...parameters.map(({ name }) => name),
    ...(sandboxing ? [SQL_PARAMETER] : []),
    ...(pages === undefined ? [] : [CURSOR_PARAMETER]),
    FORMAT_PARAMETER,
  ];
  return [...new Set(names)];
}

/** The names that a request sends and its endpoint does not read. */
export function findUndeclared(known: readonly string[], raw: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(raw).filter((name) => name !== '' && !known.includes(name));
}

/** The canonical text of one value; `undefined` if it is rejected. */
export function findParameterValue(
  parameter: Parameter,
  raw: RawParameters[string],
  bytesMax?: number,
): string | undefined {
  try {
    return parseValue(parameter, raw, bytesMax);
  } catch (error) {
    if (error instanceof WrongValue) return undefined;
    throw error;
  }
}

/** The error of one or more wrong parameters. */
export function invalidParameters(errors: readonly ParameterFault[], cause?: unknown): TailraceError {
  return new TailraceError('invalid_parameter', joinFaults(errors), { errors, cause });
}

export function rejectParameter(parameter: string, message: string, cause?: unknown): TailraceError {
  return invalidParameters([{ parameter, message }], cause);
}

/** One message for several parameters. */
export function joinFaults(errors: readonly ParameterFault[]): string {
  return errors.map(({ parameter, message }) => `${parameter} ${message}`).join('; ');
}

/** @param raw a list if the name was sent several times, or of a JSON array */
function parseValue(
  parameter: Parameter,
  raw: RawParameters[string],
  bytesMax = PARAMETER_BYTES_MAX,
): string {
  const { required, values, otherwise, fallback, parse } = parameter;
  if (raw === undefined || raw.length === 0) {
    if (!required) return fallback;
    throw new WrongValue(values.length > 0 ? `is required: one of ${values.join(', ')}` : 'is required');
  }
  if (Buffer.byteLength(String(raw)) > bytesMax)
    throw new WrongValue(`must be at most ${bytesMax} bytes long`);
  if (typeof raw !== 'string') return parseTexts(parameter, raw);
  try {
    return parse(raw.toWellFormed());
  } catch (error) {
    if (!(error instanceof WrongValue)) throw error;
    return otherwise ?? rejectValue(nameGiven(error.message, raw));
  }
}

function parseTexts({ parseList }: Parameter, texts: readonly string[]): string {
  if (parseList !== undefined) return parseList(texts.map((text) => text.toWellFormed()));
  throw new WrongValue(
    texts.length > 1 ? `was sent ${texts.length} times; send it once` : 'must be one value, not a list',
  );
}

/** With the text that came, unless the message has already said what is wrong with it. */
function nameGiven(message: string, text: string): string {
  return /^must (?:be|match) /.test(message) ? `${message}, not ${shorten(text)}` : message;
}

const SHOWN_CHARS_MAX = 60;

/** A text of a caller for a message. */
export function shorten(text: string): string {
  return JSON.stringify(text.length > SHOWN_CHARS_MAX ? `${text.slice(0, SHOWN_CHARS_MAX)}…` : text);
}

// A request may send a thousand.
const NAMED_MAX = 5;
const NAME_CHARS_MAX = 60;
const KEY_NAME = 'api_key';

/** A fault of each undeclared name, with what was probably meant. */
export function describeUndeclared(names: readonly string[], known: readonly string[]): ParameterFault[] {
  return names.slice(0, NAMED_MAX).map((name) => {
    const message = `is not known${describeNearest(name, known) || ';'} known here: ${known.join(', ') || 'none'}`;
    return { parameter: shortenName(name), message };
  });
}

/** Names that the response reports as ignored. */
export const IGNORED_HEADER = 'x-ignored-parameters';
const HEADER_NAMES_MAX = 10;
const HEADER_CHARS_MAX = 1_000;

/** Joins names, cut and percent-encoded so that no text of a caller is read as a header. `+12` at the end: as many more. */
export function writeIgnored(names: readonly string[]): string {
  const shown: string[] = [];
  let chars = 0;
  for (const name of names.slice(0, HEADER_NAMES_MAX)) {
    const encoded = encodeURIComponent(shortenName(name));
    chars += encoded.length;
    if (chars > HEADER_CHARS_MAX) break;
    shown.push(encoded);
  }
  const more = names.length - shown.length;
  return [...shown, ...(more > 0 ? [`+${more}`] : [])].join(', ');
}

/** The names of a header; those beyond its bound are left out. */
export function parseIgnored(header: string): string[] {
  const parts = header.split(',').map((part) => part.trim());
  return parts.filter((part) => part !== '' && !part.startsWith('+')).map(decode);
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // something between has changed it
  }
}

/** Cuts a name; of `api_key…` it leaves only the start, since without its `=` the key itself follows. */
function shortenName(name: string): string {
  if (name.startsWith(KEY_NAME) && name !== KEY_NAME) return `${KEY_NAME}…`;
  const text = name.toWellFormed();
  return text.length > NAME_CHARS_MAX ? `${text.slice(0, NAME_CHARS_MAX).toWellFormed()}…` : text;
}

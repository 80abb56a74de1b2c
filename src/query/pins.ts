import type { Endpoint } from '../definitions/endpoint.ts';
import { type Parameter, PINNED_PREFIX } from '../definitions/parameter.ts';
import { type ParameterFault, TailraceError } from '../errors.ts';
import { escapePattern } from '../sql/pattern.ts';
import {
  findParameterValue,
  joinFaults,
  type ParameterValues,
  parseParameters,
  type RawParameters,
} from './parameters.ts';

/** Parameters by name with the one value that a key allows. */
export type Pins = Readonly<Record<string, string>>;

/** The parameter, and the field of events, that names the project. */
export const OWNER = 'project';

/**
 * `parseParameters` for a caller with a key that pins some of them: a pin takes the place of a parameter that was not
 * sent. Values are compared in their canonical texts. The pin of a pattern is a plain text: it may be sent as it is or
 * escaped, and is bound escaped.
 *
 * @throws TailraceError `forbidden` that names each parameter with another value than its pin, or if the pins do not
 *   restrict this endpoint; `invalid_parameter` as `parseParameters`
 */
export function parsePinnedParameters(
  endpoint: Endpoint,
  raw: RawParameters,
  { pins, bytesMax }: { readonly pins: Pins; readonly bytesMax?: number },
): ParameterValues {
  const names = Object.keys(pins);
  if (names.length === 0) return parseParameters(endpoint, raw, bytesMax);
  const pinned = endpoint.parameters.filter(({ name }) => Object.hasOwn(pins, name));
  rejectVoidPins(endpoint, names, pinned);
  rejectLoosePins(endpoint, pinned);
  const filled: Record<string, RawParameters[string]> = { ...raw };
  const errors: ParameterFault[] = [];
  for (const parameter of pinned) {
    const { name } = parameter;
    const [pin = '', sent = ''] = [pins[name], raw[name]];
    if (typeof sent === 'object' && parameter.parseList === undefined) continue; // parseParameters rejects it
    const value = findPinValue(parameter, pin, bytesMax);
    const keepsTo =
      sent.length === 0 || sent === pin || findParameterValue(parameter, sent, bytesMax) === value;
    if (value === undefined || !keepsTo)
      errors.push({ parameter: name, message: `is pinned to ${JSON.stringify(pin)} by the key` });
    filled[name] = toSendable(parameter, pin);
  }
  if (errors.length > 0) throw rejectPin(joinFaults(errors), errors);
  const values = parseParameters(endpoint, filled, bytesMax);
  const read = endpoint.pinned.filter((name) => Object.hasOwn(pins, name));
  return { ...values, ...Object.fromEntries(read.map((name) => [PINNED_PREFIX + name, pins[name] ?? ''])) };
}

/**
 * The project that a request asks for; `undefined` for none, or for a pattern that no key pins. Depends only on the
 * values, so that requests with the same ones can share an answer.
 */
export function findOwner({ parameters, pinned }: Endpoint, values: ParameterValues): string | undefined {
  const parameter = parameters.find(({ name }) => name === OWNER);
  if (parameter?.isPattern) return (pinned.includes(OWNER) && values[PINNED_PREFIX + OWNER]) || undefined;
  return (parameter && values[OWNER]) || undefined;
}

/** Whether the endpoint can keep to the pins: with others it rejects every request. @param raw may lack parameters */
export function keepsPins(endpoint: Endpoint, pins: Pins, raw: RawParameters = {}): boolean {
  try {
    parsePinnedParameters(endpoint, raw, { pins });
    return true;
  } catch (error) {
    if (!(error instanceof TailraceError)) throw error;
    return error.code !== 'forbidden'; // a required parameter is missing
  }
}

/** Whether a parameter can have the pin as its value. `otherwise` does not count: it would replace the pin. */
export function isPossiblePin(parameter: Parameter, pin: string, bytesMax: number): boolean {
  return findPinValue(parameter, pin, bytesMax) !== undefined;
}

/** A pin of a parameter that is not declared restricts nothing. With several pins, that of the project counts. */
function rejectVoidPins(endpoint: Endpoint, names: readonly string[], pinned: readonly Parameter[]): void {
  const owner = names.includes(OWNER) ? [OWNER] : names;
  if (pinned.some(({ name }) => owner.includes(name))) return;
  const message = `is pinned by the key, and ${endpoint.name} has no such parameter`;
  throw rejectPin(
    `the key pins ${owner.join(', ')}, which ${endpoint.name} has no parameter for; it cannot keep to it`,
    owner.map((parameter) => ({ parameter, message })),
  );
}

/** A pattern may match rows of other projects, unless the SQL also compares their project with the pin. */
function rejectLoosePins(endpoint: Endpoint, pinned: readonly Parameter[]): void {
  const isPattern = pinned.some((parameter) => parameter.name === OWNER && parameter.isPattern);
  if (!isPattern || endpoint.pinned.includes(OWNER)) return;
  const message =
    `is pinned by the key, and ${endpoint.name} matches it as a pattern without reading ` +
    `@${PINNED_PREFIX}${OWNER}`;
  throw rejectPin(`${OWNER} ${message}; it cannot keep to it`, [{ parameter: OWNER, message }]);
}

function rejectPin(message: string, errors: readonly ParameterFault[]): TailraceError {
  return new TailraceError('forbidden', message, { errors, rejectReason: 'pin' });
}

/** The canonical text of a pin; `undefined` if it is rejected. */
function findPinValue(parameter: Parameter, pin: string, bytesMax?: number): string | undefined {
  return findParameterValue({ ...parameter, otherwise: undefined }, toSendable(parameter, pin), bytesMax);
}

function toSendable({ isPattern }: Parameter, pin: string): string {
  return isPattern ? escapePattern(pin) : pin;
}

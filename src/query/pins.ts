import { type Endpoint, type Parameter, PINNED_PREFIX } from '../definitions/endpoint.ts';
import { type ParameterFault, TailraceError } from '../errors.ts';
import {
  findParameterValue,
  type ParameterValues,
  parseParameters,
  type RawParameters,
} from './parameters.ts';
import { escapePattern } from './pattern.ts';

/** Parameters by name with the one value that a key lets each have. */
export type Pins = Readonly<Record<string, string>>;

/** Says whose rows and events are meant: where it is not taken, nothing can keep to those of a key that pins it. */
export const OWNER = 'project';

/**
 * `parseParameters` for a caller whose key pins some of them: the pinned value stands where none was sent. Values are compared
 * after both are resolved, so what means the same is the same. For a parameter of type regex the pin is a plain text: the
 * caller may send the text or its escaped form, and the escaped form is bound.
 *
 * @throws TailraceError `forbidden` naming each parameter that was sent with another value, or when the pins mean nothing to
 * this endpoint; `invalid_parameter` as `parseParameters`
 */
export function parsePinnedParameters(
  endpoint: Endpoint,
  raw: RawParameters,
  { pins, bytesMax }: { readonly pins: Pins; readonly bytesMax: number },
): ParameterValues {
  const names = Object.keys(pins);
  if (names.length === 0) return parseParameters(endpoint, raw, bytesMax);
  const pinned = endpoint.parameters.filter(({ name }) => Object.hasOwn(pins, name));
  refuseVoidPins(endpoint, names, pinned);
  refuseLoosePins(endpoint, pinned);
  const filled: Record<string, RawParameters[string]> = { ...raw };
  const errors: ParameterFault[] = [];
  for (const parameter of pinned) {
    const { name } = parameter;
    const pin = pins[name] ?? '';
    const sent = raw[name];
    const isList = sent !== undefined && typeof sent !== 'string'; // refused as malformed, below
    if (!isList && !isPin(parameter, { pin, sent, bytesMax })) {
      errors.push({ parameter: name, message: `is pinned to ${JSON.stringify(pin)} by the key` });
    }
    if (!isList) filled[name] = toSendable(parameter, pin);
  }
  if (errors.length > 0) {
    const message = errors.map((error) => `${error.parameter} ${error.message}`).join('; ');
    throw new TailraceError('forbidden', message, { errors, refusal: 'pin' });
  }
  const values: Record<string, string> = { ...parseParameters(endpoint, filled, bytesMax) };
  for (const name of endpoint.pinned)
    if (Object.hasOwn(pins, name)) values[PINNED_PREFIX + name] = pins[name] ?? '';
  return values;
}

/**
 * The project that a request asks for; `undefined` where it names none, or its endpoint matches the name as a pattern and the
 * key pins none. The same for all requests with the same values, so that they can share an answer.
 */
export function findOwner({ parameters, pinned }: Endpoint, values: ParameterValues): string | undefined {
  const parameter = parameters.find(({ name }) => name === OWNER);
  if (parameter?.type === 'regex')
    return (pinned.includes(OWNER) && values[PINNED_PREFIX + OWNER]) || undefined;
  return (parameter && values[OWNER]) || undefined;
}

/** Whether a pin can be had at all: an enum may have lost the value since the key was made, and `otherwise` is no pin. */
export function isPossiblePin(parameter: Parameter, pin: string, bytesMax: number): boolean {
  if (parameter.type === 'enum') return parameter.values.includes(pin);
  return findParameterValue(parameter, toSendable(parameter, pin), bytesMax) !== undefined;
}

/** A pin that an endpoint does not declare restricts nothing there: nobody may take the one for a restriction of the other. */
function refuseVoidPins(endpoint: Endpoint, names: readonly string[], pinned: readonly Parameter[]): void {
  const owner = names.includes(OWNER) ? [OWNER] : names;
  if (pinned.some(({ name }) => owner.includes(name))) return;
  const errors = owner.map((parameter) => ({
    parameter,
    message: `is pinned by the key, and ${endpoint.name} has no such parameter`,
  }));
  throw new TailraceError(
    'forbidden',
    `the key pins ${owner.join(', ')}, which ${endpoint.name} has no parameter for; it cannot keep to it`,
    { errors, refusal: 'pin' },
  );
}

/** A pattern matches wherever it is found, in the rows of others too, unless the SQL asks whose they are. */
function refuseLoosePins(endpoint: Endpoint, pinned: readonly Parameter[]): void {
  const loose = pinned.find(
    ({ name, type }) => name === OWNER && type === 'regex' && !endpoint.pinned.includes(name),
  );
  if (loose === undefined) return;
  const message = `is pinned by the key, and ${endpoint.name} matches it as a pattern without reading @${PINNED_PREFIX}${loose.name}`;
  throw new TailraceError('forbidden', `${loose.name} ${message}; it cannot keep to it`, {
    errors: [{ parameter: loose.name, message }],
    refusal: 'pin',
  });
}

function isPin(
  parameter: Parameter,
  { pin, sent, bytesMax }: { pin: string; sent: string | undefined; bytesMax: number },
): boolean {
  if (!isPossiblePin(parameter, pin, bytesMax)) return false;
  if (sent === undefined || sent === '') return true;
  const bound = toSendable(parameter, pin);
  if (parameter.type === 'regex') return sent === pin || sent === bound;
  const value = findParameterValue(parameter, sent, bytesMax);
  return value !== undefined && value === findParameterValue(parameter, bound, bytesMax);
}

function toSendable({ type }: Parameter, pin: string): string {
  return type === 'regex' ? escapePattern(pin) : pin;
}

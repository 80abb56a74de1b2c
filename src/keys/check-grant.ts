import type { Definitions } from '../definitions/read.ts';
import type { ParameterFault } from '../errors.ts';
import type { Rate } from '../lib/token-bucket.ts';
import { isPossiblePin, OWNER } from '../query/pins.ts';
import { type Grant, isListed } from './grant.ts';

export const LISTED_MAX = 1_000;
export const PINS_MAX = 32;
const PIN_CHARS_MAX = 256;
export const PER_SECOND_MAX = 1_000_000;
export const NAME_CHARS_MAX = 100;
export const DESCRIPTION_CHARS_MAX = 1_000;

const CONTROL = /\p{Cc}/u;

/** @param burst requests at once; by default twice the rate, so that a client may catch up after a pause */
export function createRate(perSecond: number, burst?: number): Rate {
  const twice = Math.max(1, Math.ceil(perSecond * 2));
  return { perSecond, burst: burst ?? Math.min(PER_SECOND_MAX, twice) };
}

/** Finds the faults of a grant by itself: no part of it may be silently ignored. */
export function checkGrant(grant: Grant): ParameterFault[] {
  const { scopes, endpoints, sources, pins } = grant;
  const faults: ParameterFault[] = [];
  const report = (parameter: string, message: string) => faults.push({ parameter, message });
  if (scopes.length === 0) report('scopes', 'must name at least one');
  if (endpoints?.length === 0) report('endpoints', 'must name at least one; leave it out for all');
  if (sources?.length === 0) report('sources', 'must name at least one; leave it out for all');
  if (Object.keys(pins).length > PINS_MAX) report('pins', `must be at most ${PINS_MAX}`);
  for (const [name, value] of Object.entries(pins)) {
    if (!isPinText(value))
      report(`pins.${name}`, `must have 1 to ${PIN_CHARS_MAX} characters and no control characters`);
  }
  const hasPins = Object.keys(pins).length > 0;
  if (hasPins && scopes.includes('ingest') && !Object.hasOwn(pins, OWNER))
    report('pins', `must have ${OWNER} with the scope ingest: it is the only pin that applies to events`);
  return faults;
}

export function isPinText(text: string): boolean {
  return text !== '' && text.length <= PIN_CHARS_MAX && !CONTROL.test(text) && text.isWellFormed();
}

/**
 * Finds names in a grant that the definitions do not have; each fault lists the existing ones.
 *
 * @param open names of pins whose values are not known yet
 */
export function checkAgainst(
  { endpoints, sources }: Definitions,
  grant: Grant,
  open: readonly string[] = [],
): ParameterFault[] {
  const reachable = endpoints.filter((endpoint) => isListed(grant.endpoints, endpoint));
  const declared = reachable.flatMap((endpoint) =>
    endpoint.parameters.map((parameter) => ({ endpoint, parameter })),
  );
  return [
    ...checkNames('endpoints', grant.endpoints, endpoints),
    ...checkNames('sources', grant.sources, sources),
    ...[...Object.entries(grant.pins), ...open.map((name) => [name] as const)].flatMap(([name, pin]) => {
      if (pin !== undefined && !isPinText(pin)) return []; // reported by checkGrant
      const same = declared.filter(({ parameter }) => parameter.name === name);
      const unfit = same.find(
        ({ parameter }) => pin !== undefined && !isPossiblePin(parameter, pin, PIN_BYTES_MAX),
      );
      if (unfit !== undefined) {
        const { type, values } = unfit.parameter;
        const right = values.length > 0 ? `one of ${values.join(', ')}` : `of the type ${type}`;
        return [{ parameter: `pins.${name}`, message: `must be ${right} for ${unfit.endpoint.name}` }];
      }
      // The pin of a key that only sends events is a field of the event.
      if (same.length > 0 || (name === OWNER && !grant.scopes.includes('query'))) return [];
      if (reachable.length === 0) return []; // none of the grant's endpoints exists, which is reported above
      const known = [...new Set(declared.map(({ parameter }) => parameter.name))];
      return [
        { parameter: `pins.${name}`, message: `is not a parameter; there are ${known.join(', ') || 'none'}` },
      ];
    }),
  ];
}

const PIN_BYTES_MAX = 4 * PIN_CHARS_MAX;

function checkNames(
  parameter: string,
  given: readonly string[] | undefined,
  items: readonly { readonly id: string; readonly name: string }[],
): ParameterFault[] {
  const unknown = given?.filter((text) => !items.some((item) => isListed([text], item))) ?? [];
  if (unknown.length === 0) return [];
  const known = items.map((item) => item.name).join(', ') || 'none';
  return [{ parameter, message: `has no ${unknown.join(', ')}; there are ${known}` }];
}

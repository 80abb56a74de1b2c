import { type Static, Type } from 'typebox';
import { invalidRequest, TailraceError } from '../errors.ts';
import { createRate, isNarrower, toListed } from '../keys/grant.ts';
import type { Caller } from '../keys/keyring.ts';
import { TOKEN_SCOPES, type TokenGrant } from '../keys/token.ts';
import { isoTimeOrNull } from '../lib/instant.ts';
import { closed, oneOf, optional, wholeNumber } from '../lib/schema.ts';
import type { Rate } from '../lib/token-bucket.ts';
import { FIELDS, toGrantView } from './key-view.ts';
import { findGrantFaults, type KeyParts } from './keys.ts';

// A token travels in a header of every request.
const GRANT_CHARS_MAX = 4_096;
const TTL_SECONDS_MIN = 60;
const TTL_SECONDS_MAX = 86_400;
const TTL_SECONDS = 3_600;

const { endpoints, sources, pins, rate } = FIELDS;
export const NEW_TOKEN = closed({
  ...optional({
    scopes: Type.Array(oneOf(TOKEN_SCOPES), {
      ...{ minItems: 1, maxItems: TOKEN_SCOPES.length, uniqueItems: true },
      expected: `a list of ${TOKEN_SCOPES.join(', ')}`,
    }),
    ttl_seconds: wholeNumber(TTL_SECONDS_MAX, { minimum: TTL_SECONDS_MIN, unit: 'seconds' }),
  }),
  ...{ endpoints, sources, pins, rate },
});

type NewToken = Static<typeof NEW_TOKEN>;

/**
 * Creates a signed token for a front end: valid for minutes to hours, no wider than the key of the request, and
 * invalid as soon as that key is revoked.
 * @throws TailraceError `invalid_request` with every fault of the grant; `forbidden` if it is wider than the key's
 */
export async function mintToken({ keyring, registry, now }: KeyParts, caller: Caller, body: NewToken) {
  const grant = toGrant(body, caller, now());
  const faults = findGrantFaults(registry, caller, grant);
  if (JSON.stringify(grant).length > GRANT_CHARS_MAX)
    faults.push({
      parameter: 'body',
      message: 'makes the token too long for a header; name fewer endpoints, sources or pins',
    });
  if (faults.length > 0) throw invalidRequest(faults);
  const reason = isNarrower(grant, caller);
  if (reason !== undefined) throw reject(`a token cannot do more than its key: ${reason}`);
  const { token, id } = await keyring.mint(caller, grant);
  return { token, id, ...toGrantView(grant), expires_at: isoTimeOrNull(grant.expiresMs) };
}

/** @throws TailraceError `forbidden` for a caller without a key: a signed token, or a person */
export function requireKey({ token, person }: Caller): void {
  // A token ends with its key, and a person has none.
  if (person !== undefined) throw reject('a person cannot sign a token; create a key, and sign it with that');
  if (token !== undefined) throw reject('a token cannot create another; send the key itself');
}

/** Fills in members that the body leaves out with those of the key. */
function toGrant(body: NewToken, caller: Caller, nowMs: number): TokenGrant {
  const expiresMs = nowMs + (body.ttl_seconds ?? TTL_SECONDS) * 1000;
  return {
    scopes: body.scopes ?? TOKEN_SCOPES.filter((scope) => scope === 'query'),
    endpoints: body.endpoints ? toListed(body.endpoints) : caller.endpoints,
    sources: body.sources ? toListed(body.sources) : caller.sources,
    pins: { ...caller.pins, ...body.pins },
    rate: body.rate ? toRate(body.rate, caller.rate) : caller.rate,
    // A token holds whole seconds.
    expiresMs: Math.floor(Math.min(expiresMs, caller.expiresMs ?? expiresMs) / 1000) * 1000,
  };
}

/**
 * Fills in a missing burst: the usual one, but at most that of the key, so that the token is not rejected for a
 * member that the body does not name.
 */
function toRate(
  { per_second: perSecond, burst }: NonNullable<NewToken['rate']>,
  keyRate: Caller['rate'],
): Rate {
  const rate = createRate(perSecond, burst);
  if (burst !== undefined || keyRate === undefined) return rate;
  return { perSecond, burst: Math.min(rate.burst, keyRate.burst) };
}

function reject(message: string): TailraceError {
  return new TailraceError('forbidden', message, { rejectReason: 'wider' });
}

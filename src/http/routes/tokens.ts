import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import { TailraceError } from '../../errors.ts';
import { checkAgainst, checkGrant, createRate } from '../../keys/check-grant.ts';
import { isNarrower, toListed } from '../../keys/grant.ts';
import type { Caller } from '../../keys/keyring.ts';
import { TOKEN_SCOPES, type TokenGrant } from '../../keys/token-grant.ts';
import type { Rate } from '../../lib/token-bucket.ts';
import type { HttpContext } from '../context.ts';
import { createAuth, getCaller } from '../plugins/auth.ts';
import { createBodyParser, invalidBody } from '../plugins/json-body.ts';
import { FIELDS, isoTime, toGrantView } from './key-body.ts';

export const TOKENS_PATH = '/api/tokens';

const BODY_BYTES_MAX = 64 * 1024;
// A token travels in a header of every request.
const GRANT_CHARS_MAX = 4_096;
const TTL_SECONDS_MIN = 60;
const TTL_SECONDS_MAX = 86_400;
const TTL_SECONDS = 3_600;

const { endpoints, sources, pins, rate } = FIELDS;
export const NEW_TOKEN = Type.Object(
  {
    scopes: Type.Optional(
      Type.Array(Type.Enum([...TOKEN_SCOPES], { expected: `one of ${TOKEN_SCOPES.join(', ')}` }), {
        minItems: 1,
        maxItems: TOKEN_SCOPES.length,
        uniqueItems: true,
        expected: `a list of ${TOKEN_SCOPES.join(', ')}`,
      }),
    ),
    ttl_seconds: Type.Optional(
      Type.Integer({
        minimum: TTL_SECONDS_MIN,
        maximum: TTL_SECONDS_MAX,
        expected: `a whole number of seconds from ${TTL_SECONDS_MIN} to ${TTL_SECONDS_MAX}`,
      }),
    ),
    endpoints,
    sources,
    pins,
    rate,
  },
  { additionalProperties: false, expected: 'an object' },
);

type AskedRate = NonNullable<Static<typeof NEW_TOKEN>['rate']>;

const parseNew = createBodyParser(NEW_TOKEN);

/**
 * Makes signed tokens for front ends: good for minutes to hours, for no more than the key that asks for one, and for nothing
 * any more when that key is revoked.
 */
export function tokenRoute(app: FastifyInstance, { keyring, registry, now }: HttpContext): void {
  const options = { onRequest: createAuth(keyring, 'query', 'manage'), bodyLimit: BODY_BYTES_MAX };
  app.post(TOKENS_PATH, options, async (request, reply) => {
    const caller = getCaller(request);
    if (caller.token !== undefined) throw refuse('a token cannot make another; ask with the key itself');
    const grant = toGrant(request.body, caller, now());
    const faults = [...checkGrant(grant), ...checkAgainst(registry, grant)];
    if (JSON.stringify(grant).length > GRANT_CHARS_MAX) {
      faults.push({ parameter: 'body', message: 'names so much that the token would not fit into a header' });
    }
    if (faults.length > 0) throw invalidBody(faults);
    const reason = isNarrower(grant, caller);
    if (reason !== undefined) throw refuse(`a token cannot do more than its key: ${reason}`);
    const { token, id } = await keyring.mint(caller, grant);
    return reply
      .code(201)
      .header('cache-control', 'no-store')
      .send({ token, id, ...toGrantView(grant), expires_at: isoTime(grant.expiresMs) });
  });
}

/** What was asked for; whatever the body leaves out is as the key has it. */
function toGrant(body: unknown, caller: Caller, nowMs: number): TokenGrant {
  const asked = parseNew(body ?? {});
  const expiresMs = nowMs + (asked.ttl_seconds ?? TTL_SECONDS) * 1000;
  return {
    scopes: asked.scopes ?? TOKEN_SCOPES.filter((scope) => scope === 'query'),
    endpoints: asked.endpoints ? toListed(asked.endpoints) : caller.endpoints,
    sources: asked.sources ? toListed(asked.sources) : caller.sources,
    pins: { ...caller.pins, ...asked.pins },
    rate: asked.rate ? toRate(asked.rate, caller.rate) : caller.rate,
    // A token says whole seconds.
    expiresMs: Math.floor(Math.min(expiresMs, caller.expiresMs ?? expiresMs) / 1000) * 1000,
  };
}

/** Without a burst of its own a token has the usual one, and no more than its key: it is not refused for what it did not ask. */
function toRate({ per_second: perSecond, burst }: AskedRate, own: Caller['rate']): Rate {
  const rate = createRate(perSecond, burst);
  if (burst !== undefined || own === undefined) return rate;
  return { perSecond, burst: Math.min(rate.burst, own.burst) };
}

function refuse(message: string): TailraceError {
  return new TailraceError('forbidden', message, { refusal: 'wider' });
}

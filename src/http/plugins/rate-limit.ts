import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { TailraceError } from '../../errors.ts';
import type { Caller } from '../../keys/keyring.ts';
import { type Bucket, type Rate, type Taken, takeToken } from '../../lib/token-bucket.ts';
import type { HttpContext } from '../context.ts';
import { createFailedKeys } from '../failed-keys.ts';
import { addHead, type Head } from '../head.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether the request has been held against the limits: once, however it ends. */
    rateChecked: boolean;
  }
}

/** What a failed request is answered with: its own error, or that there were too many. */
export type JudgeFailure = <E extends Error>(
  error: E,
  request: FastifyRequest,
  reply: FastifyReply,
) => E | TailraceError;

export interface RateLimit {
  /** Adds the hook to an app. @returns to be asked about every failure, since those of the key check come before the hook */
  register(app: FastifyInstance): JudgeFailure;
  /**
   * Lets a caller pass who is within the limits. @returns the headers that tell; `undefined` where
   * the caller is to be refused, for which nothing is counted or taken: whoever refuses has to ask again
   */
  pass(caller: Caller, address: string): Head | undefined;
}

const NO_HEADERS: Head = [];

type Limits = Pick<HttpContext, 'config' | 'metrics' | 'now'>;

/**
 * Holds each key to its rate, on every path that asks for a key, and each address to a number of refused keys. It comes
 * after the key check and before the body is read.
 */
export function createRateLimit({ config, metrics, now }: Limits): RateLimit {
  const takeOf = createKeyBuckets(config, now);
  const failedKeys = createFailedKeys(config.authFailuresPerMinuteMax, now);

  function refuse(reason: 'key' | 'address', message: string, retryAfterSeconds: number): TailraceError {
    metrics.rateLimited(reason);
    return new TailraceError('rate_limited', `${message}; ask again in ${retryAfterSeconds} s`, {
      retryAfterSeconds,
    });
  }

  function refuseAddress(request: FastifyRequest, retryAfterSeconds: number): TailraceError {
    request.quiet = true; // a line for each would let anyone fill the disk
    const message = 'too many requests with a missing or wrong key came from this address';
    return refuse('address', message, retryAfterSeconds);
  }

  function check(request: FastifyRequest, reply: FastifyReply): TailraceError | undefined {
    const { caller } = request;
    if (caller === undefined || request.rateChecked) return undefined;
    request.rateChecked = true;
    const waitSeconds = failedKeys.enter(request.ip, caller.keyId);
    if (waitSeconds !== undefined) return refuseAddress(request, waitSeconds);
    const limited = takeOf(caller);
    if (limited === undefined) return undefined;
    const { rate, taken } = limited;
    addHead(reply, describeLimit(limited));
    if (taken.passed) return undefined;
    const message = `this key may send ${rate.perSecond} requests a second, and ${rate.burst} at once`;
    return refuse('key', message, taken.retryAfterSeconds);
  }

  return {
    pass(caller, address) {
      if (failedKeys.enter(address, caller.keyId) !== undefined) return undefined;
      const limited = takeOf(caller);
      if (limited === undefined) return NO_HEADERS;
      return limited.taken.passed ? describeLimit(limited) : undefined;
    },
    register(app) {
      app.decorateRequest('rateChecked', false);
      app.addHook('preParsing', (request, reply, payload, done) => {
        const refusal = check(request, reply);
        if (refusal === undefined) done(null, payload);
        else done(refusal);
      });
      return (error, request, reply) => {
        if (error instanceof TailraceError && error.code === 'unauthorized') {
          const waitSeconds = failedKeys.fail(request.ip);
          return waitSeconds === undefined ? error : refuseAddress(request, waitSeconds);
        }
        return check(request, reply) ?? error;
      };
    },
  };
}

function describeLimit({ rate, taken }: Limited): Head {
  return [
    'ratelimit-limit',
    String(rate.burst),
    'ratelimit-remaining',
    String(taken.remaining),
    'ratelimit-reset',
    String(taken.resetSeconds),
  ];
}

// The key least recently used is forgotten beyond it, which fills its bucket. About 2 MB.
const BUCKETS_MAX = 10_000;

interface Limited {
  readonly rate: Rate;
  readonly taken: Taken;
}

/**
 * Takes a token for a caller; `undefined` for one without a limit. A signed token counts for its key too, so that many of them
 * have no more than the key; where it has a rate of its own, whichever leaves less is told.
 */
function createKeyBuckets({ ratePerSecond, rateBurst }: HttpContext['config'], now: () => number) {
  const fallback: Rate | undefined =
    ratePerSecond === 0 ? undefined : { perSecond: ratePerSecond, burst: rateBurst || ratePerSecond };
  const buckets = new LRUCache<string, Bucket>({ max: BUCKETS_MAX });

  function take(name: string, rate: Rate | undefined): Limited | undefined {
    if (rate === undefined) return undefined;
    const taken = takeToken(buckets.get(name), rate, now());
    buckets.set(name, taken.bucket);
    return { rate, taken };
  }

  return ({ keyId, rate = fallback, token }: Caller): Limited | undefined => {
    const own = token && take(token.id, token.rate);
    if (own?.taken.passed === false) return own;
    const ofKey = take(keyId, rate);
    if (own === undefined || ofKey === undefined) return own ?? ofKey;
    return ofKey.taken.passed && own.taken.remaining < ofKey.taken.remaining ? own : ofKey;
  };
}

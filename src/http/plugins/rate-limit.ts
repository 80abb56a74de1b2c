import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../config/config.ts';
import { TailraceError } from '../../errors.ts';
import type { Caller } from '../../keys/keyring.ts';
import { createFailedKeys } from '../failed-keys.ts';
import { addHead, type Head } from '../head.ts';
import type { Metrics } from '../metrics.ts';
import { createFindRates, createLocalRates, findTightest, type Limited, type NamedRate } from '../rates.ts';
import type { SharedRates } from '../shared-rates.ts';

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
) => Promise<E | TailraceError>;

export interface RateLimit {
  /** Adds the hook to an app. @returns to be asked about every failure, since those of the key check come before the hook */
  register(app: FastifyInstance): JudgeFailure;
  /**
   * Lets a caller pass who is within the limits. @returns the headers that tell; `undefined` where
   * the caller is to be refused, or other replicas have to be asked, for which nothing is counted or taken: whoever does has to ask again
   */
  pass(caller: Caller, address: string): Head | undefined;
}

const NO_HEADERS: Head = [];

/** Why a request is refused, if it is. */
type Checked = TailraceError | undefined;

export interface RateLimitOptions {
  readonly config: Config;
  readonly metrics: Metrics;
  /** Rates that hold over all replicas; `undefined`: each replica counts its own. */
  readonly sharedRates: SharedRates | undefined;
  /** ms since the epoch. */
  readonly now: () => number;
}

/**
 * Holds each key to its rate, on every path that asks for a key, and each address to a number of refused keys. It comes
 * after the key check and before the body is read.
 */
export function createRateLimit({ config, metrics, now, sharedRates }: RateLimitOptions): RateLimit {
  const findRates = createFindRates(config);
  const takeLocally = createLocalRates(now);
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

  /** From the buckets that all replicas share, as long as they are there. */
  async function takeShared(shared: SharedRates, rates: readonly NamedRate[]): Promise<Limited> {
    const taken = await shared.take(rates);
    if (taken === undefined) metrics.rateHeldLocally();
    return findTightest(taken ?? takeLocally(rates));
  }

  function check(request: FastifyRequest, reply: FastifyReply): Checked | Promise<Checked> {
    const { caller } = request;
    if (caller === undefined || request.rateChecked) return undefined;
    request.rateChecked = true;
    const waitSeconds = failedKeys.enter(request.ip, caller.keyId);
    if (waitSeconds !== undefined) return refuseAddress(request, waitSeconds);
    const rates = findRates(caller);
    if (rates.length === 0) return undefined;
    if (sharedRates === undefined) return tell(findTightest(takeLocally(rates)), reply);
    return takeShared(sharedRates, rates).then((limited) => tell(limited, reply));
  }

  function tell(limited: Limited, reply: FastifyReply): Checked {
    const { rate, standing } = limited;
    addHead(reply, describeLimit(limited));
    if (standing.passed) return undefined;
    const message = `this key may send ${rate.perSecond} requests a second, and ${rate.burst} at once`;
    return refuse('key', message, standing.retryAfterSeconds);
  }

  return {
    pass(caller, address) {
      if (failedKeys.enter(address, caller.keyId) !== undefined) return undefined;
      const rates = findRates(caller);
      if (rates.length === 0) return NO_HEADERS;
      if (sharedRates?.isUp === true) return undefined;
      const limited = findTightest(takeLocally(rates));
      if (!limited.standing.passed) return undefined;
      if (sharedRates !== undefined) metrics.rateHeldLocally();
      return describeLimit(limited);
    },
    register(app) {
      app.decorateRequest('rateChecked', false);
      app.addHook('preParsing', (request, reply, payload, done) => {
        const settle = (refusal: Checked) => (refusal === undefined ? done(null, payload) : done(refusal));
        const checked = check(request, reply);
        if (checked instanceof Promise) checked.then(settle, done);
        else settle(checked);
      });
      return async (error, request, reply) => {
        if (error instanceof TailraceError && error.code === 'unauthorized') {
          const waitSeconds = failedKeys.fail(request.ip);
          return waitSeconds === undefined ? error : refuseAddress(request, waitSeconds);
        }
        return (await check(request, reply)) ?? error;
      };
    },
  };
}

function describeLimit({ rate, standing }: Limited): Head {
  return [
    'ratelimit-limit',
    String(rate.burst),
    'ratelimit-remaining',
    String(standing.remaining),
    'ratelimit-reset',
    String(standing.resetSeconds),
  ];
}

import type { IncomingHttpHeaders } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { Config } from '../config/config.ts';
import { TailraceError } from '../errors.ts';
import type { Caller } from '../keys/keyring.ts';
import { createNames, deriveSecret } from '../lib/hash.ts';
import { headerOf, networkOf as parseNetwork } from '../lib/network.ts';
import type { Redis } from '../lib/redis.ts';
import {
  BUCKETS_MAX,
  createBuckets,
  decideRate,
  type Rate,
  type RateDecision,
  ROUNDING_TOKENS,
} from '../lib/token-bucket.ts';
import type { Authenticate, Credential } from '../people/credential.ts';

/** Headers of a response, names and values alternating: Node writes this form with the least work. */
export type Head = readonly string[];

/** The sender of a request, and whether the request is admitted. */
export interface Admission {
  /** `undefined`: the key is missing or was not accepted. */
  readonly caller: Caller | undefined;
  /** The `ratelimit-*` headers of the response; empty for a caller without a rate. */
  readonly head: Head;
  /** The error of a rejected request. */
  readonly error?: TailraceError;
  /** Whether the rejection is neither logged nor recorded: a line for each would let anyone fill the disk. */
  readonly isQuiet?: boolean;
}

/**
 * The first step of every request that sends a key: checks the key, signed token or session (spec 5), bounds the
 * rejected keys from an address, and takes a token of each rate. Call it once for each request, before its body is
 * read.
 *
 * Rejects with the error of the control store; then the request has not been counted.
 */
export type Admit = (sent: Credential, address: string) => Admission | Promise<Admission>;

export interface AdmitOptions {
  readonly limits: Pick<Config, 'ratePerSecond' | 'authFailuresPerMinuteMax'>;
  readonly authenticate: Authenticate;
  /** Rates of all replicas; `undefined` if each has its own. */
  readonly sharedRates: SharedRates | undefined;
  /** ms since the epoch. */
  readonly now: () => number;
  readonly onLimited: (reason: 'key' | 'address') => void;
  /** Called if the shared rates are unavailable: only the rate of this replica counts then. */
  readonly onLocalRate: () => void;
}

const NO_HEAD: Head = [];
// More requests with a missing or wrong key from one address get 429: far below what guessing needs, and above what a
// few misconfigured clients behind one address send.
const AUTH_FAILURES_PER_MINUTE_MAX = 600;

export function createAdmit(options: AdmitOptions): Admit {
  const { limits, authenticate, sharedRates, now, onLimited, onLocalRate } = options;
  const ratesOf = createRatesOf(limits);
  const buckets = createBuckets(now);
  const { authFailuresPerMinuteMax: failuresMax = AUTH_FAILURES_PER_MINUTE_MAX } = limits;
  const failedKeys = createFailedKeys(failuresMax, now);
  const endedSessions = createFailedKeys(failuresMax, now);

  function limited(reason: 'key' | 'address', message: string, retryAfterSeconds: number): TailraceError {
    onLimited(reason);
    return new TailraceError('rate_limited', `${message}; try again in ${retryAfterSeconds} s`, {
      retryAfterSeconds,
    });
  }

  function rejectAddress(caller: Caller | undefined, waitSeconds: number): Admission {
    const message = 'too many requests with a missing or wrong key came from this address';
    return { caller, head: NO_HEAD, error: limited('address', message, waitSeconds), isQuiet: true };
  }

  function reject(error: unknown, sent: Credential, address: string): Admission {
    if (!(error instanceof TailraceError) || error.code !== 'unauthorized') throw error;
    const rejected = { caller: undefined, head: NO_HEAD, error };
    // A browser sends the cookie of an ended session by itself, from every open page, and nobody can guess one: it does
    // not count as a key that is tried. The answer stays 401, by which a page knows that it has to sign in.
    if (typeof sent === 'object' && sent.kind === 'session')
      return { ...rejected, isQuiet: endedSessions.fail(address) !== undefined };
    const waitSeconds = failedKeys.fail(address);
    return waitSeconds === undefined ? rejected : rejectAddress(undefined, waitSeconds);
  }

  function limit(caller: Caller, all: readonly Limited[]): Admission {
    const { rate, standing } = findTightest(all);
    const { passed, remaining, resetSeconds, retryAfterSeconds } = standing;
    const [most, left, reset] = [String(rate.burst), String(remaining), String(resetSeconds)];
    const head = ['ratelimit-limit', most, 'ratelimit-remaining', left, 'ratelimit-reset', reset];
    if (passed) return { caller, head };
    const message = `this key may send ${rate.perSecond} requests a second, and ${rate.burst} at once`;
    return { caller, head, error: limited('key', message, retryAfterSeconds) };
  }

  /** Takes a token from each bucket, up to the first that is empty, only in this process. */
  function limitLocally(caller: Caller, rates: readonly NamedRate[]): Admission {
    if (sharedRates !== undefined) onLocalRate();
    const all: Limited[] = [];
    for (const { name, rate } of rates) {
      const standing = buckets.take(name, rate);
      all.push({ rate, standing });
      if (!standing.passed) break;
    }
    return limit(caller, all);
  }

  function accept(caller: Caller, address: string): Admission | Promise<Admission> {
    const waitSeconds = failedKeys.enter(address, caller.keyId);
    if (waitSeconds !== undefined) return rejectAddress(caller, waitSeconds);
    const rates = ratesOf(caller);
    if (rates.length === 0) return { caller, head: NO_HEAD };
    if (sharedRates?.isUp !== true) return limitLocally(caller, rates);
    return sharedRates
      .take(rates)
      .then((taken) => (taken === undefined ? limitLocally(caller, rates) : limit(caller, taken)));
  }

  return (sent, address) => {
    const caller = authenticate(sent, address);
    if (!(caller instanceof Promise)) return accept(caller, address);
    return caller.then(
      (found) => accept(found, address),
      (error) => reject(error, sent, address),
    );
  };
}

/** Reads the key: `X-API-KEY`, else `Authorization: Bearer`. @throws TailraceError as `headerOf` */
export function readKey(headers: IncomingHttpHeaders): string | undefined {
  const header = headerOf({ headers }, 'x-api-key');
  if (header !== undefined) return header.trim();
  return /^Bearer +(\S+) *$/i.exec(headerOf({ headers }, 'authorization') ?? '')?.[1];
}

/** The token bucket of a key or of a signed token, by its id. */
interface NamedRate {
  readonly name: string;
  readonly rate: Rate;
}

interface Limited {
  readonly rate: Rate;
  readonly standing: RateDecision;
}

/** Token buckets that all replicas share. */
export interface SharedRates {
  readonly isUp: boolean;
  /** Takes a token from each bucket, up to the first that is empty. @returns `undefined` if the buckets are unavailable */
  take(rates: readonly NamedRate[]): Promise<Limited[] | undefined>;
}

const NO_RATES: readonly NamedRate[] = [];

/**
 * Returns the rates that a request counts for. A signed token counts for its key, too, so that many tokens together
 * cannot send more than their key. Keys without a rate have that of the settings, if any.
 */
function createRatesOf({ ratePerSecond }: AdmitOptions['limits']) {
  const fallback: Rate | undefined =
    ratePerSecond === 0 ? undefined : { perSecond: ratePerSecond, burst: ratePerSecond };
  return ({ keyId, rate = fallback, token }: Caller): readonly NamedRate[] => {
    const ofKey = rate === undefined ? NO_RATES : [{ name: keyId, rate }];
    return token?.rate === undefined ? ofKey : [{ name: token.id, rate: token.rate }, ...ofKey];
  };
}

/** Returns the rate to describe: the one that rejects, else the one that leaves less; of equals the last, the key's. */
function findTightest(all: readonly Limited[]): Limited {
  const rejecting = all.find(({ standing }) => !standing.passed);
  return rejecting ?? all.reduce((a, b) => (a.standing.remaining < b.standing.remaining ? a : b));
}

/** Bounds how fast keys can be tried from one address. */
function createFailedKeys(perMinuteMax: number, now: () => number) {
  const rate = { perSecond: perMinuteMax / 60, burst: perMinuteMax };
  const buckets = createBuckets(now);
  const accepted = new LRUCache<string, true>({ max: BUCKETS_MAX });
  // Cached, since every request needs it: parsing an address costs more than all the rest here.
  const networks = new LRUCache<string, string>({ max: BUCKETS_MAX, memoMethod: parseNetwork });
  const waitOf = ({ passed, retryAfterSeconds }: RateDecision) => (passed ? undefined : retryAfterSeconds);
  return {
    /** Counts a request with a rejected key. @returns seconds to wait if there were too many */
    fail: (address: string) => waitOf(buckets.take(networks.memo(address), rate)),
    /**
     * Admits an accepted key. If too many keys have failed, it admits only keys that were accepted from the same
     * address before: an attacker does not learn which key is right, and other callers behind the same proxy are still
     * served.
     *
     * @returns seconds to wait, as many as for a wrong key; `undefined` if the key is admitted
     */
    enter(address: string, keyId: string): number | undefined {
      const network = networks.memo(address);
      const pair = `${network} ${keyId}`;
      if (accepted.get(pair) === true) return undefined;
      const wait = waitOf(buckets.probe(network, rate));
      if (wait === undefined) accepted.set(pair, true);
      return wait;
    },
  };
}

/**
 * `takeToken` of src/lib/token-bucket.ts, by the clock of Redis; test/http/shared-rates.timed.test.ts compares the
 * two. A bucket expires when it would be full again. A value that is not a bucket counts as a full one.
 *
 * KEYS the buckets; ARGV the rate and the burst of each. Returns, for each, whether there was a token and what is left.
 */
const TAKE = `
local time = redis.call('TIME')
local nowMs = time[1] * 1000 + math.floor(time[2] / 1000)
local all = {}
for i, key in ipairs(KEYS) do
  local perSecond, burst = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
  local kept = redis.pcall('GET', key)
  local tokens, atMs = string.match(type(kept) == 'string' and kept or '', '^(%S+) (%d+)$')
  tokens, atMs = tonumber(tokens or burst), tonumber(atMs or nowMs)
  if not (tokens and tokens >= 0) then tokens = burst end
  tokens = math.min(burst, tokens + math.max(0, nowMs - atMs) * perSecond / 1000)
  local passed = tokens >= 1 - ${ROUNDING_TOKENS}
  local left = passed and math.max(0, tokens - 1) or tokens
  local fullMs = math.min(1e13, math.ceil((burst - left) / perSecond * 1000) + 1000)
  redis.call('SET', key, string.format('%.17g %.0f', left, nowMs), 'PX', string.format('%.0f', fullMs))
  all[i] = {passed and 1 or 0, string.format('%.17g', left)}
  if not passed then break end
end
return all
`;

/** @param secret shared by all replicas: Redis has the ids of keys only as hashes under it */
export function createSharedRates(redis: Redis, secret: Uint8Array): SharedRates {
  const nameOf = createNames(deriveSecret(secret, 'tailrace rates'), 'tailrace:1:rate:');
  return {
    get isUp() {
      return redis.isUp;
    },
    async take(rates) {
      const keys = rates.map(({ name }) => nameOf(name));
      const args = rates.flatMap(({ rate }) => [String(rate.perSecond), String(rate.burst)]);
      const all = await redis.send(['EVAL', TAKE, String(keys.length), ...keys, ...args]);
      if (!Array.isArray(all)) return undefined;
      return all.map(([passed, left], i): Limited => {
        const { rate } = rates[i] as NamedRate; // the script returns one standing for each, or fewer
        return { rate, standing: decideRate(Number(left), passed === 1, rate) };
      });
    },
  };
}

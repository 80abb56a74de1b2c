import { LRUCache } from 'lru-cache';
import type { ErrorCode, RejectReason, TailraceError } from '../errors.ts';

/** Requests that were rejected for one reason, from one key and address to one route. Times are ms since the epoch. */
export interface RejectedRequests {
  readonly code: ErrorCode;
  readonly status: number;
  /** Why the key was rejected; `undefined` for other reasons. */
  readonly reason: RejectReason | undefined;
  readonly method: string;
  readonly route: string;
  /** `undefined`: without an accepted key. */
  readonly keyId: string | undefined;
  readonly address: string;
  readonly count: number;
  readonly firstMs: number;
  readonly lastMs: number;
  /** The last message: it may hold values that the caller sent. */
  readonly message: string;
}

export interface RejectedRequest extends Pick<RejectedRequests, 'method' | 'route' | 'keyId' | 'address'> {
  readonly error: TailraceError;
}

/** Codes of requests that are rejected for key, rate, size or content: other failures say nothing about the caller. */
const CODES: readonly ErrorCode[] = [
  'invalid_parameter',
  'invalid_request',
  'unauthorized',
  'forbidden',
  'body_too_large',
  'uri_too_long',
  'unsupported_media_type',
  'rate_limited',
  'overloaded',
];

// For each code: wrong keys from ever new addresses drop no other kind. With the longest messages about 3 MB in all.
const KINDS_PER_CODE_MAX = 200;
const MESSAGE_CHARS_MAX = 500;

/** Keeps the requests that were rejected since the start, by reason, route, key and address. */
export type RejectedRequestLog = ReturnType<typeof createRejectedRequestLog>;

/** @param now ms since the epoch */
export function createRejectedRequestLog(now: () => number) {
  const codes = new Map(
    CODES.map((code) => [code, new LRUCache<string, RejectedRequests>({ max: KINDS_PER_CODE_MAX })]),
  );
  return {
    add({ error, method, route, keyId, address }: RejectedRequest): void {
      const { code, status, rejectReason: reason } = error;
      const kinds = codes.get(code);
      if (kinds === undefined) return;
      const name = JSON.stringify([reason ?? null, method, route, keyId ?? null, address]);
      const known = kinds.get(name);
      kinds.set(name, {
        ...{ code, status, reason, method, route, keyId, address },
        count: 1 + (known?.count ?? 0),
        firstMs: known?.firstMs ?? now(),
        lastMs: now(),
        message: error.message.slice(0, MESSAGE_CHARS_MAX),
      });
    },
    /** The kind that was seen last comes first. */
    list: (): RejectedRequests[] =>
      [...codes.values()].flatMap((kinds) => [...kinds.values()]).toSorted((a, b) => b.lastMs - a.lastMs),
  };
}

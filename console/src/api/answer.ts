import { notUnderstood, parseAnswer, type RawAnswer } from './client.ts';

export type Row = Readonly<Record<string, unknown>>;

/** An answer of an endpoint, with facts from its headers. */
export type Answer = ReturnType<typeof toAnswer>;

export type CacheState = 'hit' | 'miss' | 'collapsed' | 'stale' | 'bypass';

/** @throws ApiError if it is not an answer of the service */
export function toAnswer(raw: RawAnswer) {
  const { blob, headers, ms } = raw;
  const { result } = parseAnswer<{ result: readonly Row[] }>(raw, ['result'], parseJson);
  if (result.some((row) => typeof row !== 'object' || row === null)) throw notUnderstood(raw.status);
  const ageSeconds = Number(headers.get('age') ?? 0);
  const sentMs = Date.parse(headers.get('date') ?? '');
  return {
    rows: result,
    /** Round trip. */
    ms,
    cache: parseCacheStatus(headers.get('cache-status') ?? ''),
    ageSeconds,
    /** Instant of its query, ms since the epoch: by the clock of the service, within a second. */
    atMs: (Number.isNaN(sentMs) ? Date.now() : sentMs) - ageSeconds * 1000,
    /** Time in the engine for this request. */
    engineMs: Number(/dur=([\d.]+)/.exec(headers.get('server-timing') ?? '')?.[1] ?? 0),
    /** Bytes of the body before compression. */
    bytes: blob.size,
    /** The cursor of the next page, if there is one. */
    next: findNext(headers),
    /** Names the answer to the next request for it. */
    etag: headers.get('etag') ?? undefined,
  };
}

export function findNext(headers: Headers): string | undefined {
  const [, url] = /<([^>]*)>;\s*rel="next"/.exec(headers.get('link') ?? '') ?? [];
  if (url === undefined) return undefined;
  return new URL(url, 'http://localhost').searchParams.get('cursor') ?? undefined;
}

/** Parses Cache-Status (RFC 9211); docs/api.md lists the values. */
export function parseCacheStatus(header: string): CacheState {
  if (/fwd=stale/.test(header)) return 'stale';
  if (/;\s*hit/.test(header)) return 'hit';
  if (/collapsed/.test(header)) return 'collapsed';
  return /fwd=miss/.test(header) ? 'miss' : 'bypass';
}

/** Parses JSON; integers beyond 2^53 become bigints, so they stay exact. */
export function parseJson(text: string): unknown {
  const exact = (_key: string, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' &&
    Number.isInteger(value) &&
    !Number.isSafeInteger(value) &&
    /^-?\d+$/.test(context?.source ?? '')
      ? BigInt(context?.source ?? '')
      : value;
  return JSON.parse(text, exact as Parameters<typeof JSON.parse>[1]);
}

/** Indented JSON, with bigints as numbers. */
export function formatJson(value: unknown, indent = 2): string {
  const { rawJSON } = JSON as { readonly rawJSON?: (text: string) => unknown };
  const plain = (_key: string, one: unknown) =>
    typeof one !== 'bigint' ? one : (rawJSON?.(String(one)) ?? String(one));
  return JSON.stringify(value, plain, indent) ?? ''; // of `undefined`, which has no JSON
}

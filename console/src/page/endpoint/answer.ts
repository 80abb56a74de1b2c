import { parseAnswer, type RawAnswer } from '../../api/client.ts';

export type Row = Readonly<Record<string, unknown>>;

/** An answer of an endpoint, and what its headers say of it. */
export interface Answer {
  readonly rows: readonly Row[];
  readonly text: string;
  /** From here and back, ms. */
  readonly ms: number;
  readonly cache: CacheState;
  readonly ageSeconds: number;
  /** Inside the engine for this request, ms. */
  readonly engineMs: number;
  /** Of the body, before compression. */
  readonly bytes: number;
}

export type CacheState = 'hit' | 'miss' | 'collapsed' | 'stale' | 'bypass';

/** @throws ApiError where it is no answer of the service */
export function toAnswer(raw: RawAnswer): Answer {
  const { text, headers, ms } = raw;
  const { result } = parseAnswer<{ result: Row[] }>(raw, parseJson);
  return {
    rows: result,
    text,
    ms,
    cache: parseCacheStatus(headers.get('cache-status') ?? ''),
    ageSeconds: Number(headers.get('age') ?? 0),
    engineMs: Number(/dur=([\d.]+)/.exec(headers.get('server-timing') ?? '')?.[1] ?? 0),
    bytes: new TextEncoder().encode(text).length,
  };
}

/** RFC 9211, as docs/api.md lists what there is. */
export function parseCacheStatus(header: string): CacheState {
  if (/fwd=stale/.test(header)) return 'stale';
  if (/;\s*hit/.test(header)) return 'hit';
  if (/collapsed/.test(header)) return 'collapsed';
  return /fwd=miss/.test(header) ? 'miss' : 'bypass';
}

/** JSON whose integers beyond 2^53 stay exact: they become bigints. */
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

/** JSON in lines, with bigints as the numbers that they are. */
export function formatJson(value: unknown, indent = 2): string {
  const { rawJSON } = JSON as { readonly rawJSON?: (text: string) => unknown };
  const plain = (_key: string, one: unknown) =>
    typeof one !== 'bigint' ? one : (rawJSON?.(String(one)) ?? String(one));
  return JSON.stringify(value, plain, indent);
}

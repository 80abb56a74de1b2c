import { LRUCache } from 'lru-cache';
import type { ParameterValues } from '../query/parameters.ts';
import type { Answer } from '../query/run.ts';
import { KEPT_SHARES_MAX, TEXTS_BYTES_MAX } from './representation.ts';

/** A kept answer and what the warmer needs to know of it. */
export interface CacheEntry {
  readonly endpointId: string;
  readonly endpointHash: string;
  readonly values: ParameterValues;
  readonly answer: Answer;
  /** When a caller last asked for it, ms since the epoch. */
  lastAskedMs: number;
  /** When it should next be refreshed, ms since the epoch; Infinity where it is not kept warm. */
  dueMs: number;
}

export interface CacheStore {
  get(key: string): CacheEntry | undefined;
  /** Like `get`, but no use: an answer does not stay longer for it. */
  peek(key: string): CacheEntry | undefined;
  set(key: string, entry: CacheEntry): void;
  delete(key: string): void;
  entries(): Iterable<readonly [string, CacheEntry]>;
  readonly size: number;
  readonly bytes: number;
}

const ENTRY_OVERHEAD_BYTES = 512;

/**
 * In this process's memory.
 *
 * @param bytesMax of the answers with their compressed forms; beyond it the answers least recently used leave; an answer larger than all of it is not kept
 */
export function createMemoryStore(bytesMax: number): CacheStore {
  const cache = new LRUCache<string, CacheEntry>({
    maxSize: bytesMax,
    sizeCalculation: ({ answer }, key) => {
      const forms = Math.ceil(answer.body.length * (1 + KEPT_SHARES_MAX));
      const texts = Math.min(forms, TEXTS_BYTES_MAX);
      return forms + texts + (answer.rowStarts?.byteLength ?? 0) + 2 * key.length + ENTRY_OVERHEAD_BYTES;
    },
  });
  return {
    get: (key) => cache.get(key),
    peek: (key) => cache.peek(key),
    set: (key, entry) => void cache.set(key, entry),
    delete: (key) => void cache.delete(key),
    entries: () => cache.entries() as Iterable<readonly [string, CacheEntry]>,
    get size() {
      return cache.size;
    },
    get bytes() {
      return cache.calculatedSize;
    },
  };
}

import { LRUCache } from 'lru-cache';
import type { Endpoint } from '../definitions/endpoint.ts';
import type { Question } from '../query/question.ts';
import type { Answer, RunOptions } from '../query/run.ts';

/** An answer kept with its times. */
export interface CacheEntry {
  readonly question: Question;
  readonly answer: Answer;
  /** When a caller last asked for it, ms since the epoch. */
  lastAskedMs: number;
  /** When it is due for a refresh, ms since the epoch; Infinity if it is not kept warm. */
  dueMs: number;
}

/** The entries by their questions' keys. */
export type CacheStore = LRUCache<string, CacheEntry>;

const ENTRY_OVERHEAD_BYTES = 512;

/**
 * Bytes that may be kept beside an answer, counted as though they were stored: three compressed forms of at most this
 * share of the body each, and each form as a text if that is short.
 */
export const COMPRESSED_SHARE_MAX = 0.25;
const COMPRESSED_FORMS_MAX = 3;
/** Node copies longer texts once more on their way to the socket. */
export const TEXT_BYTES_MAX = 16_000;

/**
 * Cache entries in the memory of this process.
 * @param bytesMax of the answers with their compressed forms. Beyond it the least recently used entries are dropped;
 *   an answer larger than all of it is not kept.
 */
export function createMemoryStore(bytesMax: number): CacheStore {
  return new LRUCache({
    maxSize: bytesMax,
    sizeCalculation: ({ answer }, key) => {
      const forms = Math.ceil(answer.body.length * (1 + COMPRESSED_FORMS_MAX * COMPRESSED_SHARE_MAX));
      const texts = Math.min(forms, (1 + COMPRESSED_FORMS_MAX) * TEXT_BYTES_MAX);
      return forms + texts + 2 * key.length + ENTRY_OVERHEAD_BYTES;
    },
  });
}

/**
 * `miss`: nothing young enough was kept, so the answer was computed. `shared`: the same here, but another replica had it.
 * `collapsed`: joined the flight of an identical question. `stale`: kept for longer than the endpoint's caching, and served
 * because the engine was unavailable. `bypass`: the endpoint is not cached, or the caller requested an answer that
 * is not kept.
 */
export type CacheOutcome = 'hit' | 'miss' | 'shared' | 'collapsed' | 'stale' | 'bypass';

export interface Served {
  readonly answer: Answer;
  readonly outcome: CacheOutcome;
  /** Whole seconds since the instant of the answer's query. */
  readonly ageSeconds: number;
}

/** What a request demands of the cache (RFC 9111 5.2.1). */
export interface CacheDirectives {
  /** Oldest answer that the caller accepts, if that is less than the endpoint's caching; 0 asks for a new query. */
  readonly maxAgeSeconds?: number | undefined;
  /** The answer is computed only for this caller and not kept. */
  readonly noStore?: boolean;
  /** No query is run: if no kept answer is young enough, the call fails with `not_cached`. */
  readonly onlyIfCached?: boolean;
}

/** A caller of the cache: what it demands, and how its query is run. */
export interface CallerOptions extends CacheDirectives, Omit<RunOptions, 'onJoin' | 'part'> {}

export interface KeptOptions {
  readonly store: CacheStore;
  /** ms since the epoch. */
  readonly now: () => number;
  /** From 0 up to 1; spreads the refreshes of answers that were computed together. */
  readonly random: () => number;
  /** Starts a refresh that the warmer has not started in time, and puts the entry's next one off. */
  readonly onOverdue: (entry: CacheEntry) => void;
}

export type Kept = ReturnType<typeof createKept>;

// Beyond it the least recently requested answer is not kept warm: at one refresh a second, more would not get their turn.
const WARM_KEYS_MAX = 1_000;
// A refresh comes up to a tenth of the interval early, never late.
const JITTER = 0.1;

/** The answers that this process keeps, by age. */
export function createKept({ store, now, random, onOverdue }: KeptOptions) {
  // In the order of requests. The order of the store would not do: a refresh is a use there.
  const warm = new Set<string>();

  /** Counts as a use that keeps the entry of a question warm. */
  function noteUse({ key, endpoint }: Question): void {
    if (endpoint.warmingSeconds === undefined) return;
    warm.delete(key);
    warm.add(key);
    if (warm.size <= WARM_KEYS_MAX) return;
    const [oldest = key] = warm;
    warm.delete(oldest);
  }

  return {
    noteUse,
    /** Returns the keys of answers to be kept warm, the most recently requested first. */
    warmKeys: () => [...warm].reverse(),
    /** Finds an answer that is young enough. This counts as a use: it stays, and is refreshed if that is overdue. */
    find(question: Question, directives?: CacheDirectives): Served | undefined {
      const entry = directives?.noStore === true ? undefined : store.get(question.key);
      if (entry === undefined) return undefined;
      const nowMs = now();
      entry.lastAskedMs = nowMs;
      const { answer } = entry;
      if (!isYounger(answer, acceptedSeconds(question.endpoint, directives), nowMs)) return undefined;
      noteUse(question);
      // The warmer has skipped the entry or not reached it yet. The caller does not wait.
      const { warmingSeconds = Number.POSITIVE_INFINITY } = question.endpoint;
      if (entry.dueMs <= nowMs && !isYounger(answer, warmingSeconds, nowMs)) onOverdue(entry);
      return { answer, outcome: 'hit', ageSeconds: ageSeconds(answer, nowMs) };
    },
    /** Keeps an answer, unless a later one is kept. @returns the answer */
    keep(question: Question, answer: Answer, lastAskedMs: number): Answer {
      const { key, endpoint } = question;
      const before = store.get(key);
      if (isOlder(answer, before?.answer, now())) return answer;
      const { warmingSeconds = Number.POSITIVE_INFINITY } = endpoint;
      const dueMs = answer.instantMs + warmingSeconds * 1000 * (1 - JITTER * random());
      store.set(key, { question, answer, lastAskedMs: before?.lastAskedMs ?? lastAskedMs, dueMs });
      return answer;
    },
  };
}

/** Whether an answer is younger than so many seconds. One from the future is not: the clock was set back. */
export function isYounger({ instantMs }: Answer, seconds: number, nowMs: number): boolean {
  return nowMs >= instantMs && nowMs - instantMs < seconds * 1000;
}

/** Whole seconds since the instant of the answer's query. */
export function ageSeconds({ instantMs }: Answer, nowMs: number): number {
  return Math.max(0, Math.floor((nowMs - instantMs) / 1000));
}

/** Returns how old an answer may be for a caller. */
export function acceptedSeconds({ cachingSeconds = 0 }: Endpoint, directives: CacheDirectives = {}): number {
  return Math.min(cachingSeconds, directives.maxAgeSeconds ?? Number.POSITIVE_INFINITY);
}

/** Whether a later answer is kept. A refresh can end after a query that began later; it must not replace that answer. */
function isOlder({ instantMs }: Answer, kept: Answer | undefined, nowMs: number): boolean {
  return kept !== undefined && kept.instantMs > instantMs && kept.instantMs <= nowMs;
}

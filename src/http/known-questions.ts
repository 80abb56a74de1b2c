import { LRUCache } from 'lru-cache';
import { cacheKey } from '../cache/key.ts';
import type { Endpoint } from '../definitions/endpoint.ts';
import type { Registry } from '../definitions/registry.ts';
import type { Caller } from '../keys/keyring.ts';
import type { ParameterValues } from '../query/parameters.ts';

/** What a URL asks for: a stored endpoint that its caller may read, with checked values. */
export interface Question {
  readonly endpoint: Endpoint;
  /** In the cache. */
  readonly key: string;
}

/** What URLs came to. Clients send the same ones again and again, and reading one costs more than finding its answer. */
export interface KnownQuestions {
  /** What this URL asks for when this caller sends it; `undefined` where that is to be read anew. */
  find(url: string, caller: Caller): Question | undefined;
  /** @param asked what the URL came to, everything of it checked, whoever else may ask it */
  remember(url: string, caller: Caller, asked: { endpoint: Endpoint; values: ParameterValues }): void;
}

// Those least recently asked are read anew beyond it. Twice as many bytes, since a text has up to two for each character.
const KNOWN_CHARS_MAX = 4 * 1024 * 1024;
const OVERHEAD_CHARS = 200;

interface Known extends Question {
  readonly endpoints: Registry['endpoints'];
  readonly allowed: Caller['endpoints'];
  readonly pins: Caller['pins'];
}

/**
 * What is known holds for the definitions and for the reach of the key that it was read with: both are compared by identity,
 * since a reload and a changed key bring new objects, and so what came before is never used after them.
 */
export function createKnownQuestions(registry: Registry): KnownQuestions {
  const known = new LRUCache<string, Known>({
    maxSize: KNOWN_CHARS_MAX,
    sizeCalculation: ({ key }, name) => name.length + key.length + OVERHEAD_CHARS,
  });
  const nameOf = (url: string, { keyId }: Caller) => `${keyId} ${url}`;
  return {
    find(url, caller) {
      // A token's reach is made anew with each request. It is another than its key's.
      if (caller.token !== undefined) return undefined;
      const question = known.get(nameOf(url, caller));
      if (question === undefined || question.endpoints !== registry.endpoints) return undefined;
      return question.allowed === caller.endpoints && question.pins === caller.pins ? question : undefined;
    },
    remember(url, caller, { endpoint, values }) {
      // A caller's own SELECT makes another endpoint of a sandboxed one.
      if (caller.token !== undefined || endpoint.sandboxing || endpoint.cachingSeconds === undefined) return;
      known.set(nameOf(url, caller), {
        endpoint,
        key: cacheKey(endpoint, values),
        endpoints: registry.endpoints,
        allowed: caller.endpoints,
        pins: caller.pins,
      });
    },
  };
}

import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';

// Clients send one of a few dozen texts.
const TEXTS_MAX = 1_000;
const TEXT_CHARS_MAX = 200;

/** Reads a header by `read`, each text of it once: negotiating costs more than the rest of a cached answer. */
export function createHeaderReader<T extends NonNullable<unknown>>(
  header: keyof IncomingHttpHeaders & string,
  read: (request: FastifyRequest) => T,
): (request: FastifyRequest) => T {
  const known = new LRUCache<string, T>({ max: TEXTS_MAX });
  let without: T | undefined;
  return (request) => {
    const text = request.headers[header];
    if (text === undefined) {
      without ??= read(request);
      return without;
    }
    if (typeof text !== 'string' || text.length > TEXT_CHARS_MAX) return read(request);
    const found = known.get(text) ?? read(request);
    known.set(text, found);
    return found;
  };
}

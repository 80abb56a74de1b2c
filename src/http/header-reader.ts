import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';

// Clients send one of a few dozen texts.
const TEXTS_MAX = 1_000;
const TEXT_CHARS_MAX = 200;

export interface HeaderReader<T> {
  read(request: FastifyRequest): T;
  /** What was read of the same text before; `undefined` where it is to be read. */
  find(headers: IncomingHttpHeaders): T | undefined;
}

/** Reads a header by `read`, each text of it once: negotiating costs more than the rest of a cached answer. */
export function createHeaderReader<T extends NonNullable<unknown>>(
  header: keyof IncomingHttpHeaders & string,
  read: (request: FastifyRequest) => T,
): HeaderReader<T> {
  const known = new LRUCache<string, T>({ max: TEXTS_MAX });
  let without: T | undefined;
  const find = (headers: IncomingHttpHeaders) => {
    const text = headers[header];
    if (text === undefined) return without;
    return typeof text === 'string' ? known.get(text) : undefined;
  };
  return {
    find,
    read(request) {
      const found = find(request.headers);
      if (found !== undefined) return found;
      const made = read(request);
      const text = request.headers[header];
      if (text === undefined) without = made;
      else if (typeof text === 'string' && text.length <= TEXT_CHARS_MAX) known.set(text, made);
      return made;
    },
  };
}

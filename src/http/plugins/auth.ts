import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import { TailraceError } from '../../errors.ts';
import { SCOPES } from '../../keys/grant.ts';
import { type Caller, type Keyring, requireScope } from '../../keys/keyring.ts';
import { type Admit, type Head, readKey } from '../../serve/admit.ts';
import type { Route } from '../route.ts';

declare module 'fastify' {
  interface FastifyInstance {
    admissions: Admissions;
  }
}

/** Admits requests that send a key, each once. */
export interface Admissions {
  readonly admit: Admit;
  /** Admissions of requests that the listener has passed to the framework. */
  readonly handedOn: WeakMap<IncomingMessage, ReturnType<Admit>>;
}

/**
 * Admits the callers of a route before anything else of the request is read (spec 5). If the key is optional, a request without
 * one has no caller, and a wrong key is rejected.
 *
 * Senders of events may also send the key in the query string as `api_key`, as existing configurations for Logflare do. URLs end
 * up in logs, so docs/ingest.md recommends a key with only that scope.
 */
export function createAuth({
  scopes,
  keyInQuery,
}: Pick<Route, 'scopes' | 'keyInQuery'>): onRequestAsyncHookHandler[] {
  if (scopes === 'none') return [];
  return [
    async (request, reply) => {
      const key = readKey(request.headers) ?? (keyInQuery === true ? findKeyInQuery(request) : undefined);
      if (scopes === 'optional' && key === undefined) return;
      const { admit, handedOn } = request.server.admissions;
      const { caller, head, refusal, isQuiet } = await (handedOn.get(request.raw) ?? admit(key, request.ip));
      request.caller = caller;
      request.keyId = caller?.keyId;
      if (isQuiet === true) request.quiet = true;
      addHead(reply, head);
      if (refusal !== undefined) throw refusal;
      requireScope(getCaller(request), ...(scopes === 'optional' ? SCOPES : scopes));
    },
  ];
}

function findKeyInQuery({ query }: FastifyRequest): string | undefined {
  const { api_key: key } = query as Record<string, unknown>; // parseQueryString returns an object
  return typeof key === 'string' ? key : undefined;
}

/** Returns the caller of a request, on a path that needs a key. */
export function getCaller({ caller }: FastifyRequest): Caller {
  if (caller !== undefined) return caller;
  throw new Error('this path needs no key');
}

/** Counts requests of an accepted key that are rejected; the keyring itself counts the keys that it does not accept. */
export function noteRefusal(error: unknown, request: FastifyRequest, keyring: Keyring): void {
  if (!(error instanceof TailraceError) || error.refusal === undefined || request.keyId === undefined) return;
  keyring.refused(request.keyId, error.refusal, request.ip);
}

/** Adds headers to those that the framework writes. */
export function addHead(reply: FastifyReply, head: Head): void {
  for (let at = 0; at < head.length; at += 2) reply.header(head[at] ?? '', head[at + 1]);
}

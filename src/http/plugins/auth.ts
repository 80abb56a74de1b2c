import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import { TailraceError } from '../../errors.ts';
import { SCOPES, type Scope } from '../../keys/grant.ts';
import { type Caller, type Keyring, requireScope } from '../../keys/keyring.ts';
import { type Admission, type Admit, type Head, readKey } from '../../serve/admit.ts';

declare module 'fastify' {
  interface FastifyInstance {
    admissions: Admissions;
  }
  interface FastifyRequest {
    /** Set for an accepted key; see `getCaller`. */
    caller: Caller | undefined;
  }
}

/** Admits requests that send a key, each once. */
export interface Admissions {
  readonly admit: Admit;
  /** Of requests that the listener has admitted and handed on to the framework. */
  readonly handedOn: WeakMap<IncomingMessage, ReturnType<Admit>>;
}

export function registerAdmissions(app: FastifyInstance, admit: Admit): Admissions {
  const admissions: Admissions = { admit, handedOn: new WeakMap() };
  app.decorate('admissions', admissions);
  return admissions;
}

/** A hook that admits only keys with one of `scopes`, before anything else of the request is read (spec 5). */
export function createAuth(_keyring: Keyring, ...scopes: readonly Scope[]): onRequestAsyncHookHandler {
  return async (request, reply) => enter(request, reply, { key: readKey(request.headers), scopes });
}

/** The same for a path that needs no key: a request without one has no caller, a wrong key is refused. */
export function createOptionalAuth(_keyring: Keyring): onRequestAsyncHookHandler {
  return async (request, reply) => {
    const key = readKey(request.headers);
    if (key !== undefined) await enter(request, reply, { key, scopes: SCOPES });
  };
}

/**
 * The same for senders of events, which may also send the key in the query string as `api_key`, as existing configurations for
 * Logflare do. URLs end up in logs, so docs/ingest.md recommends a key of that scope alone.
 */
export function createIngestAuth(_keyring: Keyring): onRequestAsyncHookHandler {
  return async (request, reply) => {
    const { api_key: inQuery } = request.query as Record<string, unknown>; // parseQueryString returns an object
    const key = readKey(request.headers) ?? (typeof inQuery === 'string' ? inQuery : undefined);
    await enter(request, reply, { key, scopes: ['ingest'] });
  };
}

async function enter(
  request: FastifyRequest,
  reply: FastifyReply,
  { key, scopes }: { readonly key: string | undefined; readonly scopes: readonly Scope[] },
): Promise<void> {
  const { admit, handedOn } = request.server.admissions;
  const admission: Admission = await (handedOn.get(request.raw) ?? admit(key, request.ip));
  const { caller, head, refusal, isQuiet } = admission;
  request.caller = caller;
  request.keyId = caller?.keyId;
  if (isQuiet === true) request.quiet = true;
  addHead(reply, head);
  if (refusal !== undefined) throw refusal;
  requireScope(getCaller(request), ...scopes);
}

/** The caller of a request, on a path that needs a key. */
export function getCaller({ caller }: FastifyRequest): Caller {
  if (caller !== undefined) return caller;
  throw new Error('this path needs no key');
}

/** Counts what is refused to an accepted key; the keyring itself counts the keys that it does not accept. */
export function noteRefusal(error: unknown, request: FastifyRequest, keyring: Keyring): void {
  if (!(error instanceof TailraceError) || error.refusal === undefined || request.keyId === undefined) return;
  keyring.refused(request.keyId, error.refusal);
}

/** Adds headers to those that the framework writes. */
export function addHead(reply: FastifyReply, head: Head): void {
  for (let at = 0; at < head.length; at += 2) reply.header(head[at] ?? '', head[at + 1]);
}

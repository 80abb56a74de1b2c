import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import { TailraceError } from '../../errors.ts';
import { SCOPES, type Scope } from '../../keys/grant.ts';
import { type Caller, type Keyring, requireScope } from '../../keys/keyring.ts';
import { looksLikeToken } from '../../keys/token.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whoever stands behind the accepted key; see `getCaller`. */
    caller: Caller | undefined;
  }
}

/** A hook that lets in only keys with one of `scopes`, before anything of the request is looked at (spec 5). */
export function createAuth(keyring: Keyring, ...scopes: readonly Scope[]): onRequestHookHandler {
  return (request, _reply, done) => admit(request, keyring, { key: readKey(request.headers), scopes, done });
}

/** The same where a key is not asked for: without one the request comes from nobody, a wrong one is refused. */
export function createOptionalAuth(keyring: Keyring): onRequestHookHandler {
  return (request, _reply, done) => {
    const key = readKey(request.headers);
    if (key === undefined) done();
    else admit(request, keyring, { key, scopes: SCOPES, done });
  };
}

/**
 * The same for senders of events, whose key may also stand in the query string as `api_key`: so do the configurations that
 * people have for Logflare. A URL is easily written down somewhere, so docs/ingest.md asks for a key of that scope alone.
 */
export function createIngestAuth(keyring: Keyring): onRequestHookHandler {
  return (request, _reply, done) => {
    const { api_key: inQuery } = request.query as Record<string, unknown>;
    const key = readKey(request.headers) ?? (typeof inQuery === 'string' ? inQuery : undefined);
    admit(request, keyring, { key, scopes: ['ingest'], done });
  };
}

interface Wanted {
  readonly key: string | undefined;
  readonly scopes: readonly Scope[];
  readonly done: (error?: Error) => void;
}

/** A key that was not seen lately may have to be asked for; a token's signature takes a moment when it is first seen. */
function admit(request: FastifyRequest, keyring: Keyring, { key, scopes, done }: Wanted): void {
  const isToken = key !== undefined && looksLikeToken(key);
  const found = isToken ? keyring.authenticateToken(key) : keyring.authenticate(key);
  found
    .then((caller) => {
      request.keyId = caller.keyId;
      request.caller = caller;
      requireScope(caller, ...scopes);
    })
    .then(() => done(), done);
}

/** Who sent a request, on a path that asks for a key. */
export function getCaller({ caller }: FastifyRequest): Caller {
  if (caller !== undefined) return caller;
  throw new Error('this path asks for no key');
}

/** Counts what is refused to an accepted key; the keyring itself counts the keys that it does not accept. */
export function noteRefusal(error: unknown, request: FastifyRequest, keyring: Keyring): void {
  if (!(error instanceof TailraceError) || error.refusal === undefined || request.keyId === undefined) return;
  keyring.refused(request.keyId, error.refusal);
}

/** `X-API-KEY` first; `Authorization: Bearer` for clients that can only send that. */
export function readKey(headers: IncomingHttpHeaders): string | undefined {
  const header = headers['x-api-key'];
  if (typeof header === 'string' && header !== '') return header.trim();
  return /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
}

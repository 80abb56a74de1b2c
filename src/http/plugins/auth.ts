import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import { type Keyring, requireScope } from '../../keys/keyring.ts';
import type { Scope } from '../../keys/scope.ts';

/** A hook that lets in only keys with `scope`, before anything of the request is looked at (spec 5). */
export function createAuth(keyring: Keyring, scope: Scope): onRequestHookHandler {
  return (request, _reply, done) => {
    admit(request, keyring, { key: readKey(request), scope });
    done();
  };
}

/**
 * The same for senders of events, whose key may also stand in the query string as `api_key`: so do the configurations that
 * people have for Logflare. A URL is easily written down somewhere, so docs/ingest.md asks for a key of that scope alone.
 */
export function createIngestAuth(keyring: Keyring): onRequestHookHandler {
  return (request, _reply, done) => {
    const { api_key: inQuery } = request.query as Record<string, unknown>;
    const key = readKey(request) ?? (typeof inQuery === 'string' ? inQuery : undefined);
    admit(request, keyring, { key, scope: 'ingest' });
    done();
  };
}

function admit(
  request: FastifyRequest,
  keyring: Keyring,
  wanted: { key: string | undefined; scope: Scope },
): void {
  const caller = keyring.authenticate(wanted.key);
  request.keyId = caller.keyId;
  request.caller = caller;
  requireScope(caller, wanted.scope);
}

/** `X-API-KEY` first; `Authorization: Bearer` for clients that can only send that. */
function readKey(request: FastifyRequest): string | undefined {
  const header = request.headers['x-api-key'];
  if (typeof header === 'string' && header !== '') return header.trim();
  return /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1];
}

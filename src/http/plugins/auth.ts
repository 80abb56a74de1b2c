import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import { type Keyring, requireScope } from '../../keys/keyring.ts';
import type { Scope } from '../../keys/scope.ts';

/** A hook that lets in only keys with `scope`, before anything of the request is looked at (spec 5). */
export function createAuth(keyring: Keyring, scope: Scope): onRequestHookHandler {
  return (request, _reply, done) => {
    const caller = keyring.authenticate(readKey(request));
    request.keyId = caller.keyId;
    requireScope(caller, scope);
    done();
  };
}

/** `X-API-KEY` first; `Authorization: Bearer` for clients that can only send that. */
function readKey(request: FastifyRequest): string | undefined {
  const header = request.headers['x-api-key'];
  if (typeof header === 'string' && header !== '') return header.trim();
  return /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1];
}

import type { Scope } from '../../keys/grant.ts';
import type { Schema } from './schema.ts';

export const SECURITY_SCHEMES: Readonly<Record<string, Schema>> = {
  key: { type: 'apiKey', in: 'header', name: 'X-API-KEY', description: 'A key or a token.' },
  bearer: { type: 'http', scheme: 'bearer', description: 'The same in `Authorization`.' },
};

/** That a key with one of these scopes is asked for; each is enough. */
export function keyWith(...scopes: readonly Scope[]): Schema[] {
  return scopes.flatMap((scope) => Object.keys(SECURITY_SCHEMES).map((name) => ({ [name]: [scope] })));
}

/** That no key is asked for; one that is sent counts. */
export const NO_KEY: readonly Schema[] = [{}];

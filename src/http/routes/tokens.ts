import type { KeyParts } from '../../management/keys.ts';
import { mintToken, NEW_TOKEN, requireKey } from '../../management/tokens.ts';
import { TOKEN } from '../../management/view.ts';
import { getCaller } from '../plugins/auth.ts';
import { defineRoute, json, jsonBody, type RouteGroup } from '../route.ts';

/** Signed tokens for front ends. */
export const tokenRoutes: RouteGroup<KeyParts> = {
  bodyBytesMax: () => 64 * 1024,
  routes: [
    defineRoute({
      method: 'POST',
      path: '/api/tokens',
      scopes: ['query', 'manage'],
      summary: 'Make a signed token for a front end',
      operation: { id: 'make_token', tag: 'keys' },
      body: jsonBody(NEW_TOKEN, {
        example: { ttl_seconds: 900, pins: { project: 'aurora' } },
        required: false,
      }),
      answer: { 201: json('The token.', TOKEN) },
      refuse: requireKey,
      handle: (parts: KeyParts, request) => mintToken(parts, getCaller(request), request.body),
    }),
  ],
};

import { Type } from 'typebox';
import { oneOf } from '../../lib/schema.ts';
import { KEY_CHANGE, NEW_KEY, ROTATION, toEntryView } from '../../management/key-view.ts';
import {
  changeKey,
  createKey,
  KEY_STATES,
  listKeys,
  readKey,
  requireUnrestricted,
  revokeKey,
  rotateKey,
} from '../../management/keys.ts';
import { mintToken, NEW_TOKEN, requireKey } from '../../management/tokens.ts';
import { CREATED_KEY, KEY, KEY_ENTRY, TOKEN } from '../../management/view.ts';
import { list, object } from '../openapi/schema.ts';
import { getCaller } from '../plugins/auth.ts';
import { defineRoute, json, jsonBody, pageQuery, type RouteGroup } from '../route.ts';

const KEYS_QUERY = Type.Object({
  ...pageQuery({ maxLength: 100, expected: 'the id of the last one seen' }),
  state: oneOf(KEY_STATES, {
    ...{ type: 'string', default: 'all' },
    description: '`active`: neither revoked nor expired; `ended`: the others.',
  }),
});
const LOG_QUERY = Type.Object(pageQuery({ pattern: '^[1-9]\\d{0,14}$', expected: 'the id of an entry' }));

/** Keys, for callers with the scope `manage`: src/management/keys.ts. */
export const keyRoutes: RouteGroup = {
  bodyBytesMax: 256 * 1024, // far above a key with every list as long as it may be
  routes: [
    defineRoute('GET /api/keys', ['manage'], {
      summary: 'List keys, newest first',
      operation: { id: 'list_keys', tag: 'keys' },
      query: KEYS_QUERY,
      answer: { 200: json('Keys.', object({ result: list(KEY) })) },
      handle: async (parts, request) => ({
        result: await listKeys(parts, getCaller(request), request.query),
      }),
    }),
    defineRoute('POST /api/keys', ['manage'], {
      summary: 'Create a key',
      operation: { id: 'make_key', tag: 'keys' },
      body: jsonBody(NEW_KEY, {
        example: { name: 'dashboard', scopes: ['query'], pins: { project: 'aurora' } },
      }),
      answer: { 201: json('The key, shown only once.', CREATED_KEY) },
      handle: (parts, request) => createKey(parts, getCaller(request), request.body),
    }),
    defineRoute('GET /api/keys/:id', ['manage'], {
      summary: 'One key',
      operation: { id: 'get_key', tag: 'keys' },
      answer: { 200: json('The key.', KEY) },
      errors: ['not_found'],
      handle: (parts, request) => readKey(parts, getCaller(request), request.params.id),
    }),
    defineRoute('PATCH /api/keys/:id', ['manage'], {
      summary: 'Change a key',
      operation: { id: 'change_key', tag: 'keys' },
      body: jsonBody(KEY_CHANGE, { example: { rate: { per_second: 10 } } }),
      answer: { 200: json('The key.', KEY) },
      errors: ['not_found'],
      handle: (parts, request) =>
        changeKey(parts, getCaller(request), { id: request.params.id, body: request.body }),
    }),
    defineRoute('DELETE /api/keys/:id', ['manage'], {
      summary: 'Revoke a key',
      operation: { id: 'revoke_key', tag: 'keys' },
      answer: { 200: json('The key.', KEY) },
      errors: ['not_found'],
      handle: (parts, request) => revokeKey(parts, getCaller(request), request.params.id),
    }),
    defineRoute('POST /api/keys/:id/rotate', ['manage'], {
      summary: 'Create a successor of a key',
      operation: { id: 'rotate_key', tag: 'keys' },
      body: jsonBody(ROTATION, { example: { overlap_seconds: 3600 }, required: false }),
      answer: { 201: json('The successor, shown only once.', CREATED_KEY) },
      errors: ['not_found'],
      handle: (parts, request) => {
        const { overlap_seconds: overlapSeconds } = request.body;
        return rotateKey(parts, getCaller(request), { id: request.params.id, overlapSeconds });
      },
    }),
    defineRoute('GET /api/keys/log', ['manage'], {
      summary: 'The audit trail, newest first',
      operation: { id: 'list_key_log', tag: 'keys' },
      query: LOG_QUERY,
      answer: { 200: json('Entries.', object({ result: list(KEY_ENTRY) })) },
      checkCaller: (caller) => requireUnrestricted(caller, 'read the trail of all keys'),
      handle: async ({ keyring }, { query: { limit, before } }) => {
        const entries = await keyring.log({
          limit,
          before: before === undefined ? undefined : Number(before),
        });
        return { result: entries.map(toEntryView) };
      },
    }),
  ],
};

/** Signed tokens for front ends. */
export const tokenRoutes: RouteGroup = {
  bodyBytesMax: 64 * 1024,
  routes: [
    defineRoute('POST /api/tokens', ['query', 'manage'], {
      summary: 'Sign a token for a front end',
      operation: { id: 'make_token', tag: 'keys' },
      body: jsonBody(NEW_TOKEN, {
        example: { ttl_seconds: 900, pins: { project: 'aurora' } },
        required: false,
      }),
      answer: { 201: json('The token.', TOKEN) },
      checkCaller: requireKey,
      handle: (parts, request) => mintToken(parts, getCaller(request), request.body),
    }),
  ],
};

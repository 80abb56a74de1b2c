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
import { defineGroup, json, jsonBody, operation, pageQuery, rows } from '../route.ts';

const KEYS_QUERY = Type.Object({
  ...pageQuery({ maxLength: 100, expected: 'the id of the last one seen' }),
  state: oneOf(KEY_STATES, {
    ...{ type: 'string', default: 'all' },
    description: '`active`: neither revoked nor expired; `ended`: the others.',
  }),
});
const LOG_QUERY = Type.Object(pageQuery({ pattern: '^[1-9]\\d{0,14}$', expected: 'the id of an entry' }));

/** Keys, for callers with the scope `manage`: src/management/keys.ts. */
export const keyRoutes = defineGroup({
  tag: 'keys',
  bodyBytesMax: 256 * 1024, // far above a key with every list as long as it may be
  routes: [
    operation('list_keys', 'GET /api/keys', ['manage'], {
      summary: 'List keys, newest first',
      query: KEYS_QUERY,
      answer: { 200: rows('Keys.', KEY) },
      call: listKeys,
    }),
    operation('make_key', 'POST /api/keys', ['manage'], {
      summary: 'Create a key',
      body: jsonBody(NEW_KEY, {
        example: { name: 'dashboard', scopes: ['query'], pins: { project: 'aurora' } },
      }),
      answer: { 201: json('The key, shown only once.', CREATED_KEY) },
      call: createKey,
    }),
    operation('get_key', 'GET /api/keys/:id', ['manage'], {
      summary: 'One key',
      answer: { 200: json('The key.', KEY) },
      call: readKey,
    }),
    operation('change_key', 'PATCH /api/keys/:id', ['manage'], {
      summary: 'Change a key',
      body: jsonBody(KEY_CHANGE, { example: { rate: { per_second: 10 } } }),
      answer: { 200: json('The key.', KEY) },
      call: changeKey,
    }),
    operation('revoke_key', 'DELETE /api/keys/:id', ['manage'], {
      summary: 'Revoke a key',
      answer: { 200: json('The key.', KEY) },
      call: revokeKey,
    }),
    operation('rotate_key', 'POST /api/keys/:id/rotate', ['manage'], {
      summary: 'Create a successor of a key',
      body: jsonBody(ROTATION, { example: { overlap_seconds: 3600 }, required: false }),
      answer: { 201: json('The successor, shown only once.', CREATED_KEY) },
      call: rotateKey,
    }),
    operation('list_key_log', 'GET /api/keys/log', ['manage'], {
      summary: 'The audit trail, newest first',
      query: LOG_QUERY,
      answer: { 200: rows('Entries.', KEY_ENTRY) },
      checkCaller: (caller) => requireUnrestricted(caller, 'read the trail of all keys'),
      async call({ keyring }, _caller, { limit, before }) {
        const page = { limit, before: before === undefined ? undefined : Number(before) };
        return { result: (await keyring.log(page)).map(toEntryView) };
      },
    }),
  ],
});

/** Signed tokens for front ends. */
export const tokenRoutes = defineGroup({
  tag: 'keys',
  bodyBytesMax: 64 * 1024,
  routes: [
    operation('make_token', 'POST /api/tokens', ['query', 'manage'], {
      summary: 'Sign a token for a front end',
      body: jsonBody(NEW_TOKEN, {
        example: { ttl_seconds: 900, pins: { project: 'aurora' } },
        required: false,
      }),
      answer: { 201: json('The token.', TOKEN) },
      checkCaller: requireKey,
      call: mintToken,
    }),
  ],
});

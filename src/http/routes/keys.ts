import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { InputError, TailraceError } from '../../errors.ts';
import { checkAgainst, checkGrant } from '../../keys/check-grant.ts';
import { type Grant, isNarrower, isWithinReach } from '../../keys/grant.ts';
import type { KeyRecord } from '../../keys/key-record.ts';
import type { Caller, Keyring } from '../../keys/keyring.ts';
import type { MadeKey, NewKey } from '../../keys/management.ts';
import type { HttpContext } from '../context.ts';
import { createAuth, getCaller } from '../plugins/auth.ts';
import { createBodyParser, invalidBody } from '../plugins/json-body.ts';
import { KEY_CHANGE, NEW_KEY, ROTATION, toChange, toView } from './key-body.ts';
import { keyLogRoute } from './key-log.ts';
import { type Page, parsePage } from './page.ts';

export const KEYS_PATH = '/api/keys';
export const KEY_PATH = `${KEYS_PATH}/:id`;
export const ROTATE_PATH = `${KEY_PATH}/rotate`;

// Far above a key with every list as long as it may be.
const BODY_BYTES_MAX = 256 * 1024;
const OVERLAP_SECONDS = 7 * 86_400;

const parseNew = createBodyParser(NEW_KEY);
const parseChange = createBodyParser(KEY_CHANGE);
const parseRotation = createBodyParser(ROTATION);

interface KeyParams {
  Params: { id: string };
}
type KeyRequest = FastifyRequest<KeyParams>;

/**
 * Makes and changes keys, for keys with the scope `manage`. A key sees only those that reach no further than itself, and
 * makes none that may do more.
 */
export function keyRoutes(app: FastifyInstance, context: HttpContext): void {
  const { keyring, registry, now } = context;
  const options = { onRequest: createAuth(keyring, 'manage'), bodyLimit: BODY_BYTES_MAX };

  function check(caller: Caller, grant: Grant): void {
    const faults = [...checkGrant(grant), ...checkAgainst(registry, grant)];
    if (faults.length > 0) throw invalidBody(faults);
    refuseWider(isNarrower(grant, caller));
  }

  /** @throws TailraceError `not_found`, also where the caller may not know of the key */
  function getKey(request: KeyRequest): KeyRecord {
    const { id } = request.params;
    const record = keyring.find(id);
    if (record !== undefined && isWithinReach(record, getCaller(request)) === undefined) return record;
    throw new TailraceError('not_found', `no key has the id ${JSON.stringify(id.slice(0, 100))}`);
  }

  function sendMade(reply: FastifyReply, made: MadeKey): FastifyReply {
    const record = keyring.find(made.id);
    return reply
      .code(201)
      .header('cache-control', 'no-store') // the only answer with a key in it
      .send({ key: made.key, ...(record && toView(record)) });
  }

  app.post(KEYS_PATH, options, async (request, reply) => {
    const caller = getCaller(request);
    const { name, scopes, ...body } = parseNew(request.body);
    const fields = { ...toChange(body, now()), name: name.trim(), scopes } satisfies NewKey;
    check(caller, { pins: {}, ...fields });
    return sendMade(reply, keyring.create(fields, caller.keyId));
  });

  app.get(KEYS_PATH, options, async (request) => {
    const caller = getCaller(request);
    const seen = listWithinReach(keyring, caller, parsePage(request.query));
    return { result: seen.map(toView) };
  });

  app.get<KeyParams>(KEY_PATH, options, async (request) => toView(getKey(request)));

  app.patch<KeyParams>(KEY_PATH, options, async (request) => {
    const caller = getCaller(request);
    const record = getKey(request);
    const change = toChange(parseChange(request.body), now());
    check(caller, { ...record, ...change });
    const changed = told(() => keyring.update(record.id, change, caller.keyId));
    return toView(changed ?? record);
  });

  app.delete<KeyParams>(KEY_PATH, options, async (request) => {
    const { id } = getKey(request);
    keyring.revoke(id, getCaller(request).keyId);
    return toView(getKey(request));
  });

  app.post<KeyParams>(ROTATE_PATH, options, async (request, reply) => {
    const caller = getCaller(request);
    const record = getKey(request);
    const { overlap_seconds: overlap = OVERLAP_SECONDS } = parseRotation(request.body ?? {});
    refuseWider(isNarrower(record, caller));
    const made = told(() => keyring.rotate(record.id, overlap * 1000, caller.keyId));
    return made === undefined ? getKey(request) : sendMade(reply, made);
  });

  keyLogRoute(app, context);
}

// Keys that are looked at together.
const LISTED = 1_000;

/** So many keys that a caller may know of, newest first, however many others are between them. */
function listWithinReach(keyring: Keyring, caller: Caller, { limit, before }: Page): KeyRecord[] {
  const seen: KeyRecord[] = [];
  let last = before;
  do {
    const keys = keyring.list({ limit: LISTED, ...(last !== undefined && { before: last }) });
    seen.push(...keys.filter((key) => isWithinReach(key, caller) === undefined));
    last = keys.length < LISTED ? undefined : keys.at(-1)?.id;
  } while (last !== undefined && seen.length < limit);
  return seen.slice(0, limit);
}

/** What the keyring refuses of a key in its state is the caller's mistake. */
function told<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof InputError) throw new TailraceError('invalid_request', error.message);
    throw error;
  }
}

function refuseWider(reason: string | undefined): void {
  if (reason === undefined) return;
  throw new TailraceError('forbidden', `a key cannot give more than it has: ${reason}`, { refusal: 'wider' });
}

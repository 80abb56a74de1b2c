import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { InputError, TailraceError } from '../../errors.ts';
import { checkAgainst, checkGrant } from '../../keys/check-grant.ts';
import { type Grant, isNarrower, isWithinReach } from '../../keys/grant.ts';
import type { KeyRecord } from '../../keys/key-record.ts';
import type { Caller, Keyring } from '../../keys/keyring.ts';
import type { Actor, CreatedKey, NewKey } from '../../keys/management.ts';
import type { HttpContext } from '../context.ts';
import { createAuth, getCaller } from '../plugins/auth.ts';
import { createBodyParser, invalidBody } from '../plugins/json-body.ts';
import { KEY_CHANGE, NEW_KEY, ROTATION, toChange, toView } from './key-body.ts';
import { keyLogRoute } from './key-log.ts';
import { type Page, parsePage } from './page.ts';

export const KEYS_PATH = '/api/keys';
export const KEY_PATH = `${KEYS_PATH}/:id`;
/** Of `GET /api/keys?state=`: not ended, revoked or expired, both. */
export const KEY_STATES = ['active', 'ended', 'all'] as const;
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
  async function getKey(request: KeyRequest): Promise<KeyRecord> {
    const { id } = request.params;
    const record = await keyring.find(id);
    if (record === undefined) throw notFound(id);
    requireReach(record, getCaller(request));
    return record;
  }

  /** Who changes a key: refused on the key as it is in the very step that changes it. */
  function doerOf(caller: Caller, check: (key: KeyRecord) => void = () => {}): Actor {
    return {
      actor: caller.keyId,
      check(key) {
        requireReach(key, caller);
        check(key);
      },
    };
  }

  app.post(KEYS_PATH, options, async (request, reply) => {
    const caller = getCaller(request);
    const { name, scopes, ...body } = parseNew(request.body);
    const fields = { ...toChange(body, now()), name: name.trim(), scopes } satisfies NewKey;
    check(caller, { pins: {}, ...fields });
    return sendMade(reply, await told(() => keyring.create(fields, doerOf(caller))));
  });

  app.get(KEYS_PATH, options, async (request) => {
    const caller = getCaller(request);
    const isAsked = parseState(request.query, now());
    const isShown = (key: KeyRecord) => isAsked(key) && isWithinReach(key, caller) === undefined;
    const seen = await listShown(keyring, isShown, parsePage(request.query));
    return { result: seen.map(toView) };
  });

  app.get<KeyParams>(KEY_PATH, options, async (request) => toView(await getKey(request)));

  app.patch<KeyParams>(KEY_PATH, options, async (request) => {
    const caller = getCaller(request);
    const { id } = request.params;
    const change = toChange(parseChange(request.body), now());
    const doer = doerOf(caller, (key) => check(caller, { ...key, ...change }));
    const changed = await told(() => keyring.update(id, change, doer));
    if (changed === undefined) throw notFound(id);
    return toView(changed);
  });

  app.delete<KeyParams>(KEY_PATH, options, async (request) => {
    await keyring.revoke(request.params.id, doerOf(getCaller(request)));
    return toView(await getKey(request));
  });

  app.post<KeyParams>(ROTATE_PATH, options, async (request, reply) => {
    const caller = getCaller(request);
    const { id } = request.params;
    const { overlap_seconds: overlap = OVERLAP_SECONDS } = parseRotation(request.body ?? {});
    const doer = doerOf(caller, (key) => refuseWider(isNarrower(key, caller)));
    const made = await told(() => keyring.rotate(id, overlap * 1000, doer));
    if (made === undefined) throw notFound(id);
    return sendMade(reply, made);
  });

  keyLogRoute(app, context);
}

/** `?state=` of a list of keys. @throws TailraceError `invalid_request` */
function parseState(query: unknown, nowMs: number): (key: KeyRecord) => boolean {
  const { state = 'all' } = query as Record<string, unknown>; // the parser of query strings makes an object
  const hasEnded = ({ revokedMs, expiresMs }: KeyRecord) =>
    revokedMs !== undefined || (expiresMs !== undefined && expiresMs <= nowMs);
  if (state === 'all') return () => true;
  if (state === 'ended') return hasEnded;
  if (state === 'active') return (key) => !hasEnded(key);
  throw invalidBody([{ parameter: 'state', message: `must be one of ${KEY_STATES.join(', ')}` }]);
}

// Keys that are looked at together.
const LISTED = 1_000;

/** So many keys of those that are shown, newest first, however many others are between them. */
async function listShown(
  keyring: Keyring,
  isShown: (key: KeyRecord) => boolean,
  { limit, before }: Page,
): Promise<KeyRecord[]> {
  const seen: KeyRecord[] = [];
  let last = before;
  do {
    const keys = await keyring.list({ limit: LISTED, ...(last !== undefined && { before: last }) });
    seen.push(...keys.filter(isShown));
    last = keys.length < LISTED ? undefined : keys.at(-1)?.id;
  } while (last !== undefined && seen.length < limit);
  return seen.slice(0, limit);
}

/** What the keyring refuses of a key in its state is the caller's mistake. */
async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof InputError) throw new TailraceError('invalid_request', error.message);
    throw error;
  }
}

function sendMade(reply: FastifyReply, { key, record }: CreatedKey): FastifyReply {
  return reply
    .code(201)
    .header('cache-control', 'no-store') // the only answer with a key in it
    .send({ key, ...toView(record) });
}

/** @throws TailraceError `not_found` where the caller may not know of the key */
function requireReach(key: KeyRecord, caller: Caller): void {
  if (isWithinReach(key, caller) !== undefined) throw notFound(key.id);
}

function notFound(id: string): TailraceError {
  return new TailraceError('not_found', `no key has the id ${JSON.stringify(id.slice(0, 100))}`);
}

function refuseWider(reason: string | undefined): void {
  if (reason === undefined) return;
  throw new TailraceError('forbidden', `a key cannot give more than it has: ${reason}`, { refusal: 'wider' });
}

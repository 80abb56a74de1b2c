import type { FastifyInstance } from 'fastify';
import { TailraceError } from '../../errors.ts';
import type { StoredEntry } from '../../keys/audit-entry.ts';
import type { Caller } from '../../keys/keyring.ts';
import type { HttpContext } from '../context.ts';
import { createAuth, getCaller } from '../plugins/auth.ts';
import { invalidBody } from '../plugins/json-body.ts';
import type { KeyEntry } from '../view.ts';
import { isoTime } from './key-body.ts';
import { parsePage } from './page.ts';

export const KEY_LOG_PATH = '/api/keys/log';

/** The audit trail, newest first: `?limit=&before=`, where `before` is the id of the last entry seen. */
export function keyLogRoute(app: FastifyInstance, { keyring }: HttpContext): void {
  app.get(
    KEY_LOG_PATH,
    { onRequest: createAuth(keyring, 'manage') },
    async (request): Promise<{ result: KeyEntry[] }> => {
      requireUnrestricted(getCaller(request), 'read the trail of all keys');
      const page = parsePage(request.query);
      const before = page.before === undefined ? undefined : parseId(page.before);
      const entries = await keyring.log({ limit: page.limit, before });
      return { result: entries.map(toEntryView) };
    },
  );
}

/** An entry as it is shown. */
export function toEntryView({ id, atMs, action, keyId, actor, detail, count }: StoredEntry): KeyEntry {
  return { id, at: isoTime(atMs), action, key_id: keyId, actor, detail, count };
}

/**
 * For what concerns all keys or all events.
 *
 * @param what the key cannot do, such as `read the trail of all keys`
 * @throws TailraceError `forbidden`
 */
export function requireUnrestricted({ endpoints, sources, pins }: Caller, what: string): void {
  if (endpoints === undefined && sources === undefined && Object.keys(pins).length === 0) return;
  const message = `a key that is limited to endpoints, sources or pinned values cannot ${what}`;
  throw new TailraceError('forbidden', message, { refusal: 'wider' });
}

function parseId(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw invalidBody([{ parameter: 'before', message: 'must be the id of an entry' }]);
}

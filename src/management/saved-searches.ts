import { type Static, Type } from 'typebox';
import { isDecodable } from '../config/url.ts';
import { invalidRequest, type ParameterFault, TailraceError } from '../errors.ts';
import type { ControlStore } from '../keys/control-store.ts';
import { isManager, isUnrestricted } from '../keys/grant.ts';
import type { Caller } from '../keys/keyring.ts';
import {
  EVERYBODY,
  ownerOf,
  reachOf,
  type SavedSearch,
  SEARCHES_MAX,
  toRoleMark,
} from '../keys/saved-search.ts';
import type { SavedSearchView } from './view.ts';

export interface SavedSearchParts {
  readonly control: Pick<ControlStore, 'findKey' | 'searches'>;
  /** ms since the epoch. */
  readonly now: () => number;
  /** A UUID. */
  readonly newId: () => string;
}

const NAME_CHARS_MAX = 100;
const ADDRESS_BYTES_MAX = 4_096;
/** The parameters of an address of Explore; console/src/page/explore/address.ts writes them, `refresh` was one. */
export const ADDRESS_NAMES = [
  ...['q', 'source', 'project', 'range', 'from', 'until', 'by', 'measure', 'top', 'log', 'columns'],
  ...['refresh', 'live', 'view', 'compare', 'mark', 'before', 'at'],
];

const SHARES = ['all', 'role'] as const;

export const NEW_SEARCH = Type.Object(
  {
    name: Type.String({ description: `1 to ${NAME_CHARS_MAX} printable characters.`, expected: 'a string' }),
    address: Type.String({
      description: `Query string of the page Explore, without \`?\`, at most ${ADDRESS_BYTES_MAX} bytes.`,
      expected: 'a string',
    }),
    shared: Type.Optional(
      Type.Union([Type.Enum(SHARES), Type.Null()], {
        description:
          'Who else sees it: everybody with the same pinned values and sources, or those of them who have the role of the person that calls. Nobody if it is null or missing.',
        expected: `${SHARES.map((share) => JSON.stringify(share)).join(', ')} or null`,
      }),
    ),
  },
  { additionalProperties: false, expected: 'an object' },
);

/** Lists the saved searches of the caller's key or person, and those that others share with it, by name. */
export async function listSearches(parts: SavedSearchParts, caller: Caller): Promise<SavedSearchView[]> {
  const { searches } = parts.control;
  const { owner } = await findOwner(parts, caller);
  const role = caller.person?.role;
  const marks = [EVERYBODY, ...(role === undefined ? [] : [toRoleMark(role)])];
  const shared = maySearch(caller)
    ? await searches.listShared({
        reach: isUnrestricted(caller) ? undefined : reachOf(caller),
        shared: isManager(caller) ? undefined : marks,
      })
    : [];
  const others = shared.filter((search) => search.owner !== owner);
  return [...(await searches.list(owner)), ...others]
    .toSorted((a, b) => BY_NAME.compare(a.name, b.name) || BY_NAME.compare(a.author, b.author))
    .map((search) => toView(search, owner));
}

/** A caller that is limited to endpoints cannot search: what others look for is nothing to it. */
function maySearch({ endpoints }: Caller): boolean {
  return endpoints === undefined;
}

const BY_NAME = new Intl.Collator('en', { numeric: true });

/**
 * Saves a search of the caller's key or person; it replaces one of the same name.
 *
 * @returns `isNew`: whether there was none of that name
 * @throws TailraceError `invalid_request` for a wrong name or address, and if the owner has `SEARCHES_MAX` already
 */
export async function saveSearch(
  parts: SavedSearchParts,
  caller: Caller,
  { name: text, address, shared = null }: Static<typeof NEW_SEARCH>,
): Promise<{ readonly view: SavedSearchView; readonly isNew: boolean }> {
  const name = text.trim();
  const role = caller.person?.role;
  const faults = [
    ...findFault('name', checkName(name)),
    ...findFault('address', checkAddress(address)),
    ...findFault('shared', shared === 'role' && role === undefined ? NO_ROLE : undefined),
  ];
  if (faults.length > 0) throw invalidRequest(faults);
  const nowMs = parts.now();
  const { owner, author } = await findOwner(parts, caller);
  const search = { id: parts.newId(), owner, author, name, address, createdMs: nowMs, updatedMs: nowMs };
  const mark = { all: EVERYBODY, role: toRoleMark(role ?? '') };
  const saved = await parts.control.searches.save({
    ...search,
    shared: shared === null ? '' : mark[shared],
    reach: reachOf(caller),
  });
  if (saved !== undefined) return { view: toView(saved, owner), isNew: saved.id === search.id };
  const message = `you have ${SEARCHES_MAX} saved searches, the most of one key or person; delete one, or save under one of their names`;
  throw new TailraceError('invalid_request', message);
}

const NO_ROLE = 'a key has no role, only a person who has signed in has one; share it with "all"';

/**
 * Deletes a search of the caller. A manager without limits deletes those that others share, too.
 *
 * @throws TailraceError `not_found` if there is none of this id
 */
export async function removeSearch(parts: SavedSearchParts, caller: Caller, id: string): Promise<void> {
  const { searches } = parts.control;
  if (UUID.test(id)) {
    const { owner } = await findOwner(parts, caller);
    if (await searches.remove(id, { owner })) return;
    if (isManager(caller) && (await searches.remove(id, 'shared'))) return;
  }
  const shown = JSON.stringify(id.slice(0, 100));
  throw new TailraceError('not_found', `you have no saved search with the id ${shown}`);
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** @throws TailraceError `forbidden` for a caller that sent a signed token instead of a key */
export function requireKeyOfSearches({ token }: Caller): void {
  if (token === undefined) return;
  const message = 'a signed token has no saved searches; send the key itself';
  throw new TailraceError('forbidden', message, { refusal: 'wider' });
}

/** A key of the environment is not in the store, as people are not, and owns its searches by its name. */
async function findOwner(
  { control }: SavedSearchParts,
  { keyId, person }: Caller,
): Promise<{ readonly owner: string; readonly author: string }> {
  const key = await control.findKey(keyId);
  if (key === undefined) return { owner: keyId, author: person?.name ?? keyId };
  return { owner: ownerOf(key), author: key.name };
}

function toView(search: SavedSearch, owner: string): SavedSearchView {
  const { id, name, address, shared, author, createdMs, updatedMs } = search;
  return {
    ...{ id, name, address, author, is_own: search.owner === owner },
    shared: shared === '' ? null : shared === EVERYBODY ? 'all' : 'role',
    ...{ created_at: toTime(createdMs), updated_at: toTime(updatedMs) },
  };
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}

function findFault(parameter: string, message: string | undefined): ParameterFault[] {
  return message === undefined ? [] : [{ parameter, message }];
}

function checkName(name: string): string | undefined {
  const count = [...name].length;
  if (count === 0 || count > NAME_CHARS_MAX)
    return `must have 1 to ${NAME_CHARS_MAX} characters, not ${count}`;
  // Control characters, halves of a surrogate pair, separators of lines.
  return /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(name) ? 'must have only printable characters' : undefined;
}

function checkAddress(address: string): string | undefined {
  const bytes = Buffer.byteLength(address);
  if (bytes > ADDRESS_BYTES_MAX) return `has ${bytes} bytes; it may have ${ADDRESS_BYTES_MAX}`;
  if (!/^[!-~]*$/.test(address) || /^\?|#/.test(address))
    return 'must be a query string as browsers write it, without ? before it and without #: other characters as %…';
  const names = [...new URLSearchParams(address).keys()];
  const unknown = names.find((name) => !ADDRESS_NAMES.includes(name));
  if (unknown !== undefined)
    return `has ${JSON.stringify(unknown.slice(0, 100))}, which an address of Explore does not have; it has ${ADDRESS_NAMES.join(', ')}`;
  const repeated = names.find((name, i) => names.indexOf(name) !== i);
  if (repeated !== undefined) return `has ${repeated} more than once`;
  return isDecodable(address)
    ? undefined
    : 'has a % that is not followed by the code of a character in UTF-8';
}

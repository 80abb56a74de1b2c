import { type Static, Type } from 'typebox';
import { isDecodable } from '../config/url.ts';
import { invalidRequest, type ParameterFault, TailraceError } from '../errors.ts';
import type { ControlStore } from '../keys/control-store.ts';
import type { Caller } from '../keys/keyring.ts';
import { ownerOf, type SavedSearch, SEARCHES_MAX } from '../keys/saved-search.ts';
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
/** The parameters of an address of Explore; console/src/page/explore/address.ts writes them. */
const ADDRESS_NAMES = [
  ...['q', 'source', 'project', 'range', 'from', 'until', 'by', 'columns', 'refresh', 'live', 'at'],
];

export const NEW_SEARCH = Type.Object(
  {
    name: Type.String({ description: `1 to ${NAME_CHARS_MAX} printable characters.`, expected: 'a text' }),
    address: Type.String({
      description: `Query string of the page Explore, without \`?\`, at most ${ADDRESS_BYTES_MAX} bytes.`,
      expected: 'a text',
    }),
  },
  { additionalProperties: false, expected: 'an object' },
);

/** Lists the saved searches of the caller's key, by name. */
export async function listSearches(parts: SavedSearchParts, caller: Caller): Promise<SavedSearchView[]> {
  const searches = await parts.control.searches.list([await findOwner(parts, caller)]);
  return searches.toSorted((a, b) => BY_NAME.compare(a.name, b.name)).map(toView);
}

const BY_NAME = new Intl.Collator('en', { numeric: true });

/**
 * Saves a search of the caller's key; it replaces one of the same name.
 *
 * @returns `isNew`: whether there was none of that name
 * @throws TailraceError `invalid_request` for a wrong name or address, and if the key has `SEARCHES_MAX` already
 */
export async function saveSearch(
  parts: SavedSearchParts,
  caller: Caller,
  { name: text, address }: Static<typeof NEW_SEARCH>,
): Promise<{ readonly view: SavedSearchView; readonly isNew: boolean }> {
  const name = text.trim();
  const faults = [findFault('name', checkName(name)), findFault('address', checkAddress(address))].flat();
  if (faults.length > 0) throw invalidRequest(faults);
  const nowMs = parts.now();
  const owner = await findOwner(parts, caller);
  const search = { id: parts.newId(), owner, name, address, createdMs: nowMs, updatedMs: nowMs };
  const saved = await parts.control.searches.save(search);
  if (saved !== undefined) return { view: toView(saved), isNew: saved.id === search.id };
  const message = `the key has ${SEARCHES_MAX} saved searches, the most of one key; delete one, or save under one of their names`;
  throw new TailraceError('invalid_request', message);
}

/** @throws TailraceError `not_found` if the caller's key has none of this id */
export async function removeSearch(parts: SavedSearchParts, caller: Caller, id: string): Promise<void> {
  const isRemoved =
    UUID.test(id) && (await parts.control.searches.remove(await findOwner(parts, caller), id));
  if (isRemoved) return;
  const shown = JSON.stringify(id.slice(0, 100));
  throw new TailraceError('not_found', `the key has no saved search with the id ${shown}`);
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** @throws TailraceError `forbidden` for a caller that sent a signed token instead of a key */
export function requireKeyOfSearches({ token }: Caller): void {
  if (token === undefined) return;
  const message = 'a signed token has no saved searches; send the key itself';
  throw new TailraceError('forbidden', message, { refusal: 'wider' });
}

/** Returns the owner of a key's searches. A key of the environment is not in the store, and owns them by its name. */
async function findOwner({ control }: SavedSearchParts, { keyId }: Caller): Promise<string> {
  const key = await control.findKey(keyId);
  return key === undefined ? keyId : ownerOf(key);
}

function toView({ id, name, address, createdMs, updatedMs }: SavedSearch): SavedSearchView {
  return { id, name, address, ...{ created_at: toTime(createdMs), updated_at: toTime(updatedMs) } };
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

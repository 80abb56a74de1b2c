import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type RefObject, useRef, useState } from 'react';
import type { SavedSearchView } from '../../../../src/management/view.ts';
import { type CallOptions, useClient } from '../../api/client.ts';
import { queries, useRead } from '../../api/queries.ts';
import { isManager } from '../../api/right.ts';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Popover } from '../../ui/overlay/popover.tsx';
import './saved-searches.css';

interface SavedSearchesProps {
  /** Explore's query string of the present view, without `?`. */
  readonly address: string;
  readonly onOpen: (address: string) => void;
}

/** The saved searches of who has signed in, and those that others share: opens, saves and deletes them. */
export function SavedSearches(props: SavedSearchesProps) {
  return (
    <Popover label="Saved" title="Saved searches">
      {(close) => (
        <SavedPanel
          {...props}
          onOpen={(address) => {
            close();
            props.onOpen(address);
          }}
        />
      )}
    </Popover>
  );
}

function SavedPanel({ address, onOpen }: SavedSearchesProps) {
  const client = useClient();
  const { token } = client.self;
  const { value, error } = useRead(queries.savedSearches, { isWanted: !token });
  const nameInput = useRef<HTMLInputElement>(null);
  const change = useMutation({
    async mutationFn({ done, path, ...options }: Change) {
      await client.callRaw(path, options);
      return done;
    },
    async onSettled(_done, _failure, _change, _context, { client: cache }) {
      nameInput.current?.focus(); // the button of a deleted search is gone
      await cache.invalidateQueries({ queryKey: queries.savedSearches.queryKey });
    },
  });
  if (token)
    return (
      <p className="saved-note">
        Saved searches belong to a key; a signed token has none. Sign in with the key, or copy the address of
        this page.
      </p>
    );
  const save = (name: string, shared: Share) =>
    change.mutate({
      done: `Saved as ${name}${shared === null ? '' : `, for ${SHARES[shared]}`}.`,
      path: '/api/searches',
      method: 'POST',
      body: { name, address, shared },
    });
  const remove = ({ id, name }: SavedSearchView) =>
    change.mutate({ done: `Deleted ${name}.`, path: `/api/searches/${id}`, method: 'DELETE' });
  const own = (value?.result ?? (error && []))?.filter((search) => search.is_own);
  const shownError = change.error ?? error;
  return (
    <div className="saved">
      <SaveForm input={nameInput} searches={own} hasRole={client.self.role !== null} onSave={save} />
      {value !== undefined && own?.length === 0 && (
        <p className="saved-note">You have no saved searches yet.</p>
      )}
      <ul className="saved-list">
        {value?.result.map((search) => (
          <SavedLine
            key={search.id}
            search={search}
            isOpen={search.address === address}
            onOpen={() => onOpen(search.address)}
            onDelete={search.is_own || isManager(client.self) ? () => remove(search) : undefined}
          />
        ))}
      </ul>
      <p className="saved-note" role="status">
        {change.data}
      </p>
      {shownError !== undefined && <ErrorNote error={shownError} />}
    </div>
  );
}

interface Change extends CallOptions {
  readonly path: string;
  /** Says that it is done. */
  readonly done: string;
}

interface SaveFormProps {
  readonly input: RefObject<HTMLInputElement | null>;
  /** `undefined` until it is known which names are taken. */
  readonly searches: readonly SavedSearchView[] | undefined;
  /** Whether there is a role to share with. */
  readonly hasRole: boolean;
  readonly onSave: (name: string, shared: Share) => void;
}

type Share = SavedSearchView['shared'];

/** Whom a search is shared with. */
const SHARES = { role: 'my role', all: 'all who see the same events' } as const;

const NAME_CHARS_MAX = 100;

function SaveForm({ input, searches, hasRole, onSave }: SaveFormProps) {
  const [draft, setDraft] = useState('');
  const [chosen, setChosen] = useState<Share>();
  const [asked, setAsked] = useState<string>();
  const name = draft.trim();
  const taken = searches?.find((search) => search.name === name);
  const isTaken = taken !== undefined;
  const shared = chosen === undefined ? (taken?.shared ?? null) : chosen;
  const isAsked = isTaken && asked === name;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isTaken && !isAsked) return setAsked(name);
    setAsked(undefined);
    setDraft('');
    setChosen(undefined);
    onSave(name, shared);
  };
  return (
    <form className="saved-form" onSubmit={submit}>
      <input
        ref={input}
        data-first-focus
        className="input"
        aria-label="Name of this search"
        placeholder="Name of this search"
        autoComplete="off"
        maxLength={NAME_CHARS_MAX}
        value={draft}
        onChange={({ target }) => setDraft(target.value)}
      />
      <select
        className="input"
        aria-label="Who sees it"
        value={shared ?? ''}
        onChange={({ target: { value } }) => setChosen(value === 'all' || value === 'role' ? value : null)}
      >
        <option value="">For me only</option>
        {hasRole && <option value="role">For {SHARES.role}</option>}
        <option value="all">For {SHARES.all}</option>
      </select>
      <button type="submit" className="button is-primary" disabled={name === '' || searches === undefined}>
        {isAsked ? 'Replace' : 'Save'}
      </button>
      <p className="saved-note" role="status">
        {isAsked && `${name} exists. Replace it, or change the name.`}
      </p>
    </form>
  );
}

interface SavedLineProps {
  readonly search: SavedSearchView;
  /** Whether it is the present view. */
  readonly isOpen: boolean;
  readonly onOpen: () => void;
  /** `undefined` if it belongs to another. */
  readonly onDelete: (() => void) | undefined;
}

function SavedLine({ search, isOpen, onOpen, onDelete }: SavedLineProps) {
  const { name, address } = search;
  const [isAsked, setAsked] = useState(false);
  return (
    <li onBlur={() => setAsked(false)}>
      <button type="button" className="saved-open" aria-current={isOpen || undefined} onClick={onOpen}>
        <span>{name}</span>
        <code>{describe(address)}</code>
        <small>{describeShare(search)}</small>
      </button>
      {onDelete !== undefined && (
        <button
          type="button"
          className={isAsked ? 'button is-quiet is-danger' : 'button is-quiet'}
          onClick={isAsked ? onDelete : () => setAsked(true)}
        >
          {isAsked ? 'Delete for good' : 'Delete'}
          <span className="visually-hidden"> {name}</span>
        </button>
      )}
    </li>
  );
}

/** `from ada@example.com`, `for my role`; nothing if only its owner sees it. */
function describeShare({ shared, author, is_own: isOwn }: SavedSearchView): string | undefined {
  if (!isOwn) return `from ${author}`;
  return shared === null ? undefined : `for ${SHARES[shared]}`;
}

/** `level:error · 6h · postgres.logs` */
function describe(address: string): string {
  const query = new URLSearchParams(address);
  const [q, range, source, project] = ['q', 'range', 'source', 'project'].map(
    (name) => query.get(name) ?? '',
  );
  const from = query.get('from');
  const time = from === null ? range : `from ${from}`;
  return [q, project, source, time].filter((part) => part !== '').join(' · ') || 'every event';
}

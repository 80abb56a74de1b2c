import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type RefObject, useRef, useState } from 'react';
import type { SavedSearchView } from '../../../../src/management/view.ts';
import { type CallOptions, useClient } from '../../api/client.ts';
import { queries, useRead } from '../../api/queries.ts';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Popover } from '../../ui/overlay/popover.tsx';
import './saved-searches.css';

interface SavedSearchesProps {
  /** Explore's query string of the present view, without `?`. */
  readonly address: string;
  readonly onOpen: (address: string) => void;
}

/** The saved searches of the signed-in key: opens, saves and deletes them. */
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
  const save = (name: string) =>
    change.mutate({
      done: `Saved as ${name}.`,
      path: '/api/searches',
      method: 'POST',
      body: { name, address },
    });
  const remove = ({ id, name }: SavedSearchView) =>
    change.mutate({ done: `Deleted ${name}.`, path: `/api/searches/${id}`, method: 'DELETE' });
  const shownError = change.error ?? error;
  return (
    <div className="saved">
      <SaveForm input={nameInput} searches={value?.result ?? (error && [])} onSave={save} />
      {value?.result.length === 0 && <p className="saved-note">This key has no saved searches yet.</p>}
      <ul className="saved-list">
        {value?.result.map((search) => (
          <SavedLine
            key={search.id}
            search={search}
            isOpen={search.address === address}
            onOpen={() => onOpen(search.address)}
            onDelete={() => remove(search)}
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
  readonly onSave: (name: string) => void;
}

const NAME_CHARS_MAX = 100;

function SaveForm({ input, searches, onSave }: SaveFormProps) {
  const [draft, setDraft] = useState('');
  const [asked, setAsked] = useState<string>();
  const name = draft.trim();
  const isTaken = searches?.some((search) => search.name === name) === true;
  const isAsked = isTaken && asked === name;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isTaken && !isAsked) return setAsked(name);
    setAsked(undefined);
    setDraft('');
    onSave(name);
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
      <button type="submit" className="button primary" disabled={name === '' || searches === undefined}>
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
  readonly onDelete: () => void;
}

function SavedLine({ search: { name, address }, isOpen, onOpen, onDelete }: SavedLineProps) {
  const [isAsked, setAsked] = useState(false);
  return (
    <li onBlur={() => setAsked(false)}>
      <button type="button" className="saved-open" aria-current={isOpen || undefined} onClick={onOpen}>
        <span>{name}</span>
        <code>{describe(address)}</code>
      </button>
      <button
        type="button"
        className={isAsked ? 'button quiet danger' : 'button quiet'}
        onClick={isAsked ? onDelete : () => setAsked(true)}
      >
        {isAsked ? 'Delete for good' : 'Delete'}
        <span className="visually-hidden"> {name}</span>
      </button>
    </li>
  );
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

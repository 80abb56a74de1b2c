import { type RefObject, useRef, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Form } from '../../ui/form.tsx';
import { Popover } from '../../ui/overlay/popover.tsx';
import { deleteSearch, readSearches, type SavedSearch, saveSearch } from './saved-search.ts';
import './saved-searches.css';

interface SavedSearchesProps {
  /** Explore's query string of the present view, without `?`. */
  readonly address: string;
  readonly onOpen: (address: string) => void;
}

/** The saved searches of this browser: opens, saves and deletes them. */
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
  const [searches, setSearches] = useState(readSearches);
  const [note, setNote] = useState('');
  const nameInput = useRef<HTMLInputElement>(null);
  const change = (write: () => void, done: string) => {
    try {
      write();
      setNote(done);
    } catch {
      setNote('This browser stores nothing of this page. Copy the link instead.');
    }
    setSearches(readSearches());
    nameInput.current?.focus(); // the button of a deleted search is gone
  };
  const save = (name: string) => change(() => saveSearch({ name, address }), `Saved as ${name}.`);
  return (
    <div className="saved">
      <SaveForm input={nameInput} searches={searches} onSave={save} />
      {searches.length === 0 && (
        <p className="saved-note">No saved searches yet. They stay in this browser; a link holds one, too.</p>
      )}
      <ul className="saved-list">
        {searches.map((search) => (
          <SavedLine
            key={search.name}
            search={search}
            isOpen={search.address === address}
            onOpen={() => onOpen(search.address)}
            onDelete={() => change(() => deleteSearch(search.name), `Deleted ${search.name}.`)}
          />
        ))}
      </ul>
      <p className="saved-note" role="status">
        {note}
      </p>
    </div>
  );
}

interface SaveFormProps {
  readonly input: RefObject<HTMLInputElement | null>;
  readonly searches: readonly SavedSearch[];
  readonly onSave: (name: string) => void;
}

const NAME_CHARS_MAX = 100;

function SaveForm({ input, searches, onSave }: SaveFormProps) {
  const [draft, setDraft] = useState('');
  const [asked, setAsked] = useState<string>();
  const name = draft.trim();
  const isTaken = searches.some((search) => search.name === name);
  const isAsked = isTaken && asked === name;
  const submit = () => {
    if (isTaken && !isAsked) return setAsked(name);
    setAsked(undefined);
    setDraft('');
    onSave(name);
  };
  return (
    <Form className="saved-form" onSubmit={submit}>
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
      <Button type="submit" look="primary" disabled={name === ''}>
        {isAsked ? 'Replace' : 'Save'}
      </Button>
      <p className="saved-note" role="status">
        {isAsked && `${name} exists. Replace it, or change the name.`}
      </p>
    </Form>
  );
}

interface SavedLineProps {
  readonly search: SavedSearch;
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
        className={isAsked ? 'button is-quiet is-danger' : 'button is-quiet'}
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

import { type ReactNode, type RefObject, useRef, useState } from 'react';
import { useClient } from '../../api/client.ts';
import { queries, useRead } from '../../api/queries.ts';
import { mayUseWorkbench } from '../../api/right.ts';
import { Button, CopyButton } from '../../ui/button.tsx';
import { Form } from '../../ui/form.tsx';
import { ErrorNote } from '../../ui/note.tsx';
import { Popover } from '../../ui/overlay/popover.tsx';
import { useSaveFile } from '../workbench/use-save-file.ts';
import { formatAddress, parseAddress } from './address.ts';
import {
  deleteSearch,
  formatTeamSearch,
  readSearches,
  type SavedSearch,
  saveSearch,
  slugOf,
} from './saved-search.ts';
import './saved-searches.css';

interface SavedSearchesProps {
  /** Explore's query string of the present view, without `?`. */
  readonly address: string;
  readonly onOpen: (address: string) => void;
}

/** The saved searches of the team, which are files, and of this browser: opens and saves them. */
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
  const { self } = useClient();
  const team = useRead(queries.searches);
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
      <SaveForm input={nameInput} searches={searches} onSave={save}>
        {(name, clear) =>
          mayUseWorkbench(self) && (
            <SaveForTeam
              key={name} // an error is about one name
              {...{ name, address }}
              onSaved={(file) => {
                clear();
                setNote(`Saved for the team as ${file}.`);
                nameInput.current?.focus();
              }}
            />
          )
        }
      </SaveForm>
      {team.error !== undefined && <ErrorNote error={team.error} />}
      {(team.value?.result.length ?? 0) > 0 && <p className="saved-note">Of the team</p>}
      <ul className="saved-list" aria-label="Searches of the team">
        {team.value?.result.map(({ id, title, description, search }) => {
          const saved = formatAddress(parseAddress(new URLSearchParams(search).toString()));
          return (
            <li key={id} title={description}>
              <OpenButton
                name={title}
                address={saved}
                isOpen={saved === address}
                onOpen={() => onOpen(saved)}
              />
            </li>
          );
        })}
      </ul>
      <p className="saved-note">
        {searches.length === 0
          ? 'None of this browser yet. They stay in it; a link holds a search, too.'
          : 'Of this browser'}
      </p>
      <ul className="saved-list" aria-label="Searches of this browser">
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
  /** Another way to save. @param clear empties the field */
  readonly children: (name: string, clear: () => void) => ReactNode;
}

const NAME_CHARS_MAX = 100;

function SaveForm({ input, searches, onSave, children }: SaveFormProps) {
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
      {children(name, () => setDraft(''))}
    </Form>
  );
}

interface SaveForTeamProps {
  /** As it is typed; empty: none yet. */
  readonly name: string;
  readonly address: string;
  /** @param file its name */
  readonly onSaved: (file: string) => void;
}

/** Writes the present search into a file of the service. */
function SaveForTeam({ name, address, onSaved }: SaveForTeamProps) {
  const refusal = useRead(queries.workbench).value?.searches.refusal;
  const { save, busy, error } = useSaveFile('searches');
  const file = { name: slugOf(name), definition: formatTeamSearch(name, address) };
  return (
    <div className="saved-team">
      {typeof refusal === 'string' ? (
        name !== '' && (
          <>
            <CopyButton text={`name: ${file.name}\n${file.definition}`} label="Copy as a file of the team" />
            <p className="saved-note">Not saved here: {refusal}.</p>
          </>
        )
      ) : (
        <Button
          disabled={name === '' || busy || refusal === undefined}
          onClick={() => save({ ...file, version: null }, (saved) => onSaved(saved.name))}
        >
          {busy ? 'Saving…' : 'Save for the team'}
        </Button>
      )}
      {error !== undefined && <ErrorNote error={error} />}
    </div>
  );
}

interface OpenButtonProps extends SavedSearch {
  /** Whether it is the present view. */
  readonly isOpen: boolean;
  readonly onOpen: () => void;
}

function OpenButton({ name, address, isOpen, onOpen }: OpenButtonProps) {
  return (
    <button type="button" className="saved-open" aria-current={isOpen || undefined} onClick={onOpen}>
      <span>{name}</span>
      <code>{describe(address)}</code>
    </button>
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
      <OpenButton {...{ name, address, isOpen, onOpen }} />
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

import { useRef, useState } from 'react';
import { mayUseWorkbench, queries, useClient, useRead } from '../../api/queries.ts';
import { Form, Input } from '../../ui/form.tsx';
import { Button, CopyButton, ErrorNote, QuietButton } from '../../ui/page-part.tsx';
import { useSaveFile } from '../workbench/work.ts';
import { formatAddress, parseAddress } from './address.ts';
import { useExploring } from './exploring.ts';
import './saved-searches.css';

const NAME_CHARS_MAX = 100;

export function SavedSearches({ onClose }: { readonly onClose: () => void }) {
  const address = formatAddress(useExploring().address);
  const { self } = useClient();
  const team = useRead(queries.searches);
  const ofTeam = team.value?.result ?? [];
  const searches = readSearches();
  const [draft, setDraft] = useState('');
  const [note, setNote] = useState('');
  const input = useRef<HTMLInputElement>(null);
  const name = draft.trim();
  const isTaken = searches.some((search) => search.name === name);
  const finish = (done: string) => {
    setNote(done);
    input.current?.focus(); // the button of a deleted search is gone
  };
  const write = (act: () => void, done: string) => {
    try {
      act();
      finish(done);
    } catch {
      finish('This browser stores nothing of this page. Copy the link instead.');
    }
  };
  const onSubmit = () => {
    setDraft('');
    write(() => saveSearch({ name, address }), `Saved as ${name}.`);
  };
  const onSaved = (file: string) => {
    setDraft('');
    finish(`Saved for the team as ${file}.`);
  };
  return (
    <div className="saved">
      <Form className="saved-form" onSubmit={onSubmit}>
        <Input
          ref={input}
          data-first-focus
          aria-label="Name of this search"
          placeholder="Name of this search"
          maxLength={NAME_CHARS_MAX}
          value={draft}
          onChange={setDraft}
        />
        <Button type="submit" look="primary" disabled={name === ''}>
          {isTaken ? 'Replace' : 'Save'}
        </Button>
        <p className="saved-note" role="status">
          {isTaken && `${name} exists. Replace it, or change the name.`}
        </p>
        {/* An error is about one name. */}
        {mayUseWorkbench(self) && <SaveForTeam key={name} {...{ name, address, onSaved }} />}
      </Form>
      {team.error !== undefined && <ErrorNote error={team.error} />}
      {ofTeam.length > 0 && <p className="saved-note">Of the team</p>}
      <ul className="saved-list" aria-label="Searches of the team">
        {ofTeam.map(({ id, title, description, search }) => (
          <li key={id} title={description}>
            <OpenButton
              name={title}
              address={formatAddress(parseAddress(new URLSearchParams(search).toString()))}
              onClose={onClose}
            />
          </li>
        ))}
      </ul>
      <p className="saved-note">
        {searches.length === 0
          ? 'None of this browser yet. They stay in it; a link holds a search, too.'
          : 'Of this browser'}
      </p>
      <ul className="saved-list" aria-label="Searches of this browser">
        {searches.map((search) => (
          <li key={search.name}>
            <OpenButton {...search} onClose={onClose} />
            <DeleteButton
              name={search.name}
              onDelete={() => write(() => deleteSearch(search.name), `Deleted ${search.name}.`)}
            />
          </li>
        ))}
      </ul>
      <p className="saved-note" role="status">
        {note}
      </p>
    </div>
  );
}

/** Writes the present search into a file of the service. @param name as it is typed; empty: none yet */
function SaveForTeam(props: Readonly<{ name: string; address: string; onSaved: (file: string) => void }>) {
  const { name, address, onSaved } = props;
  const whyNotSaved = useRead(queries.workbench).value?.searches.reason;
  const { mutate, isPending, error } = useSaveFile('searches');
  const file = { name: slugOf(name), definition: formatTeamSearch(name, address) };
  return (
    <div className="saved-team">
      {typeof whyNotSaved === 'string' ? (
        name !== '' && (
          <>
            <CopyButton text={`name: ${file.name}\n${file.definition}`} label="Copy as a file of the team" />
            <p className="saved-note">Not saved here: {whyNotSaved}.</p>
          </>
        )
      ) : (
        <Button
          disabled={name === '' || isPending || whyNotSaved === undefined}
          onClick={() => mutate({ ...file, version: null }, { onSuccess: (saved) => onSaved(saved.name) })}
        >
          {isPending ? 'Saving…' : 'Save for the team'}
        </Button>
      )}
      {error !== null && <ErrorNote error={error} />}
    </div>
  );
}

function OpenButton({ name, address, onClose }: SavedSearch & { readonly onClose: () => void }) {
  const exploring = useExploring();
  const isOpen = formatAddress(exploring.address) === address;
  const onOpen = () => {
    onClose();
    exploring.change(parseAddress(address));
  };
  return (
    <button type="button" className="saved-open" aria-current={isOpen || undefined} onClick={onOpen}>
      <span>{name}</span>
      <code>{describe(address)}</code>
    </button>
  );
}

/** Deletes at the second click. */
function DeleteButton({ name, onDelete }: { readonly name: string; readonly onDelete: () => void }) {
  const [isAsked, setAsked] = useState(false);
  return (
    <QuietButton
      className={isAsked ? 'is-danger' : ''}
      onClick={isAsked ? onDelete : () => setAsked(true)}
      onBlur={() => setAsked(false)}
    >
      {isAsked ? 'Delete for good' : 'Delete'}
      <span className="visually-hidden"> {name}</span>
    </QuietButton>
  );
}

/** `level:error · 6h · postgres.logs` */
function describe(address: string): string {
  const query = new URLSearchParams(address);
  const from = query.get('from');
  const time = from === null ? query.get('range') : `from ${from}`;
  const parts = [query.get('q'), query.get('project'), query.get('source'), time];
  return parts.filter(Boolean).join(' · ') || 'every event';
}

interface SavedSearch {
  /** Unique. */
  readonly name: string;
  /** Explore's query string, without `?`. */
  readonly address: string;
}

const NAME = 'tailrace.searches';
const BY_NAME = new Intl.Collator('en', { numeric: true });

export function readSearches(): readonly SavedSearch[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(NAME) ?? '[]');
    return Array.isArray(stored) ? stored.filter(isSearch) : [];
  } catch {
    return [];
  }
}

function isSearch(value: unknown): value is SavedSearch {
  const { name, address } = (value ?? {}) as Partial<SavedSearch>;
  return typeof name === 'string' && typeof address === 'string';
}

/** Stores a search; it replaces one of the same name. Another tab may have changed the others, so they are read again. */
export function saveSearch(search: SavedSearch): void {
  const searches = [...others(search.name), search];
  store(searches.toSorted((a, b) => BY_NAME.compare(a.name, b.name)));
}

// The names that a file may have (docs/search.md); what follows new lines, and a marked line, are of one moment.
const OWN = ['live', 'at'];

/** The text of a team's file for an address of Explore. JSON is YAML. */
export function formatTeamSearch(title: string, address: string): string {
  const entries = [...new URLSearchParams(address)].filter(([name]) => !OWN.includes(name));
  return `title: ${JSON.stringify(title)}\nsearch: ${JSON.stringify(Object.fromEntries(entries))}\n`;
}

/** The name of a file: `Checkout fails!` is `checkout-fails`; of other letters, a number. */
export function slugOf(title: string): string {
  const words = title
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .match(/[a-z0-9]+/g);
  return words?.join('-') ?? `search-${Date.now().toString(36)}`;
}

export function deleteSearch(name: string): void {
  store(others(name));
}

function others(name: string): readonly SavedSearch[] {
  return readSearches().filter((search) => search.name !== name);
}

function store(searches: readonly SavedSearch[]): void {
  localStorage.setItem(NAME, JSON.stringify(searches));
}

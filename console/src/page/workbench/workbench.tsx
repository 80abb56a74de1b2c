import { useRef, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import type { WorkbenchView } from '../../../../src/management/view.ts';
import { latestOf, queries, useRead, useRun } from '../../api/queries.ts';
import { ErrorNote } from '../../ui/note.tsx';
import { MissingPage } from '../../ui/page-head.tsx';
import { readFiles } from './api.ts';
import { Bench } from './bench.tsx';
import { newFiles } from './definition.ts';
import { parseFromSearch, readFromSearch } from './path.ts';
import type { Base } from './use-files.ts';
import { endpointPath, WorkChoice } from './work-choice.tsx';
import './workbench.css';

/** Writes, tries and saves endpoints. `?endpoint=NAME` opens one, `?search=…` writes a search as one; otherwise a new one is begun. */
export function WorkbenchPage() {
  const url = useSearch();
  const name = new URLSearchParams(url).get('endpoint') ?? '';
  const search = parseFromSearch(url);
  const [, navigate] = useLocation();
  const { value: workbench, error } = useRead(queries.workbench);
  const [opened, setOpened] = useState({ name, search, round: 0 });
  const saved = useRef('');
  // What was saved under a new name stays on the page as it is.
  if (opened.name !== name || opened.search !== search) {
    const isSame = name !== '' && saved.current === name;
    setOpened({ name, search, round: isSame ? opened.round : opened.round + 1 });
  }

  const onSaved = (to: string) => {
    saved.current = to;
    if (to !== name) navigate(endpointPath(to));
  };
  if (workbench === undefined) {
    return (
      <MissingPage
        title="Workbench"
        error={error}
        isUnknown={error?.status === 403}
        unknown="This key may not use the workbench"
      >
        {error?.message}
      </MissingPage>
    );
  }
  return (
    <Opened
      key={opened.round}
      round={opened.round}
      name={name}
      search={search}
      workbench={workbench}
      onOpen={navigate}
      onSaved={onSaved}
    />
  );
}

interface OpenedProps {
  readonly name: string;
  /** Parameters of the search that becomes a new endpoint; empty: none. */
  readonly search: string;
  /** Counts up, so that opening a name again reads its files again. */
  readonly round: number;
  readonly workbench: WorkbenchView;
  /** @param path of the workbench */
  readonly onOpen: (path: string) => void;
  readonly onSaved: (name: string) => void;
}

function Opened({ name, search, round, workbench, onOpen, onSaved }: OpenedProps) {
  const [first] = useState(name);
  const [searched] = useState(name === '' ? search : '');
  const [started] = useState(() => newFiles(workbench.tables));
  const isStarted = first === '' && searched === '';
  const read = useRun<Base>(
    isStarted
      ? undefined
      : {
          key: ['files', first, searched, round],
          read: (client, signal) =>
            searched === '' ? readFiles(client, first, signal) : readFromSearch(client, searched, signal),
        },
  );
  const opened = isStarted ? { ...started, version: null } : latestOf(read);
  const chosen = <WorkChoice endpoint={name} onOpen={onOpen} />;
  if (opened === undefined) {
    return (
      <>
        <div className="page-head bench-head">
          <h1>Workbench</h1>
          {chosen}
        </div>
        {read.state === 'failed' ? <ErrorNote error={read.error} /> : <p className="muted">Reading…</p>}
      </>
    );
  }
  const draftName = searched === '' ? name : `?${searched}`;
  return <Bench {...{ name, draftName, opened, workbench, onSaved }} choice={chosen} />;
}

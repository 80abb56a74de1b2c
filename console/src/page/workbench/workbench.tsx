import { useRef, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { queries, useRead, useRun } from '../../api/queries.ts';
import { MissingPage, Reading } from '../../ui/page-part.tsx';
import { Bench, type BenchProps } from './bench.tsx';
import { newEndpoint } from './definition.ts';
import { endpointFilesPath, parseWorkUrl, readFromSearch } from './path.ts';
import { filesPath, type StoredFiles, toBase } from './work.ts';
import { WorkHead } from './work-head.tsx';

/** Writes, tries and saves endpoints. `?endpoint=NAME` opens one, `?search=…` writes a search as one; otherwise a new one is begun. */
export default function WorkbenchPage() {
  const { endpoint: name, search } = parseWorkUrl(useSearch());
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
    if (to !== name) navigate(endpointFilesPath(to));
  };
  if (workbench === undefined)
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
  return <Opened key={opened.round} {...{ name, search, workbench, onSaved }} {...opened} />;
}

interface OpenedProps extends Omit<BenchProps, 'draftName' | 'opened'> {
  /** Parameters of the search that becomes a new endpoint; empty: none. */
  readonly search: string;
  /** Counts up, so that opening a name again reads its files again. */
  readonly round: number;
}

function Opened({ name, search, round, workbench, onSaved }: OpenedProps) {
  const [first] = useState(name);
  const [searched] = useState(name === '' ? search : '');
  const read = useRun(['files', first, searched, round], async (client, signal) => {
    if (searched !== '') return readFromSearch(client, searched, signal);
    if (first === '') return newEndpoint(workbench.tables);
    const path = filesPath('endpoints', first);
    return toBase(await client.call<StoredFiles>(path, ['definition', 'sql', 'version'], { signal }));
  });
  const { value: opened } = read;
  if (opened === undefined)
    return (
      <>
        <WorkHead endpoint={name} />
        <Reading error={read.error} />
      </>
    );
  const draftName = searched === '' ? name : `?${searched}`;
  return <Bench {...{ name, draftName, opened, workbench, onSaved }} />;
}

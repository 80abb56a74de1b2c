import { useRef, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import type { WorkbenchView } from '../../../../src/management/view.ts';
import { queries, useRead } from '../../api/queries.ts';
import { latestOf, useRun } from '../../api/use-run.ts';
import { Empty } from '../../ui/empty.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { readFiles } from './api.ts';
import { Bench } from './bench.tsx';
import { newFiles } from './definition.ts';
import './workbench.css';

/** Writes, tries and saves endpoints. `?endpoint=NAME` opens one; without a name a new one is begun. */
export function WorkbenchPage() {
  const name = new URLSearchParams(useSearch()).get('endpoint') ?? '';
  const [, navigate] = useLocation();
  const { value: workbench, error } = useRead(queries.workbench);
  const [opened, setOpened] = useState({ name, round: 0 });
  const saved = useRef('');
  // What was saved under a new name stays on the page as it is.
  if (opened.name !== name)
    setOpened({ name, round: saved.current === name ? opened.round : opened.round + 1 });

  const onSaved = (to: string) => {
    saved.current = to;
    if (to !== name) navigate(pathOf(to));
  };
  if (workbench === undefined) {
    return (
      <>
        <div className="page-head">
          <h1>Workbench</h1>
        </div>
        {error === undefined && <p className="muted">Reading…</p>}
        {error?.status === 403 && <Empty title="This key may not use the workbench">{error.message}</Empty>}
        {error !== undefined && error.status !== 403 && <ErrorNote error={error} />}
      </>
    );
  }
  return (
    <Opened
      key={opened.round}
      round={opened.round}
      name={name}
      workbench={workbench}
      onOpen={(other) => navigate(pathOf(other))}
      onSaved={onSaved}
    />
  );
}

function pathOf(name: string): string {
  return name === '' ? '/workbench' : `/workbench?${new URLSearchParams({ endpoint: name })}`;
}

interface OpenedProps {
  readonly name: string;
  /** Counts up, so that opening a name again reads its files again. */
  readonly round: number;
  readonly workbench: WorkbenchView;
  readonly onOpen: (name: string) => void;
  readonly onSaved: (name: string) => void;
}

function Opened({ name, round, workbench, onOpen, onSaved }: OpenedProps) {
  const [first] = useState(name);
  const [started] = useState(() => newFiles(workbench.tables));
  const read = useRun(
    first === ''
      ? undefined
      : { key: ['files', first, round], read: (client, signal) => readFiles(client, first, signal) },
  );
  const opened = first === '' ? { ...started, version: null } : latestOf(read);
  const chosen = <EndpointChoice name={name} onOpen={onOpen} />;
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
  return <Bench name={name} opened={opened} workbench={workbench} choice={chosen} onSaved={onSaved} />;
}

function EndpointChoice({ name, onOpen }: Pick<OpenedProps, 'name' | 'onOpen'>) {
  const { value } = useRead(queries.endpoints);
  const names = value?.result.map((one) => one.name) ?? [];
  return (
    <select
      className="input bench-choice"
      aria-label="Endpoint under work"
      value={name}
      onChange={(event) => onOpen(event.target.value)}
    >
      <option value="">New endpoint</option>
      {name !== '' && !names.includes(name) && <option value={name}>{name}</option>}
      {names.map((one) => (
        <option key={one} value={one}>
          {one}
        </option>
      ))}
    </select>
  );
}

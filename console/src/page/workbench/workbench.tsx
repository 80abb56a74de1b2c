import { useRef, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import type { EndpointFiles, EndpointView, WorkbenchView } from '../../../../src/management/view.ts';
import { useLoad } from '../../api/use-load.ts';
import { Empty } from '../../ui/empty.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Bench } from './bench.tsx';
import { newFiles } from './definition.ts';
import './workbench.css';

/** Writes, tries and saves endpoints. `?endpoint=NAME` opens one; without a name a new one is begun. */
export function WorkbenchPage() {
  const name = new URLSearchParams(useSearch()).get('endpoint') ?? '';
  const [, navigate] = useLocation();
  const { value: workbench, error } = useLoad<WorkbenchView>('/api/workbench', ['functions', 'tables']);
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
  readonly workbench: WorkbenchView;
  readonly onOpen: (name: string) => void;
  readonly onSaved: (name: string) => void;
}

function Opened({ name, workbench, onOpen, onSaved }: OpenedProps) {
  const [first] = useState(name);
  const [started] = useState(() => newFiles(workbench.tables));
  const path = first === '' ? undefined : `/api/workbench/endpoints/${encodeURIComponent(first)}`;
  const { value: stored, error } = useLoad<EndpointFiles>(path, ['definition', 'sql']);
  const opened = path === undefined ? { ...started, version: null } : stored;
  const chosen = <EndpointChoice name={name} onOpen={onOpen} />;
  if (opened === undefined) {
    return (
      <>
        <div className="page-head bench-head">
          <h1>Workbench</h1>
          {chosen}
        </div>
        {error === undefined ? <p className="muted">Reading…</p> : <ErrorNote error={error} />}
      </>
    );
  }
  return <Bench name={name} opened={opened} workbench={workbench} choice={chosen} onSaved={onSaved} />;
}

function EndpointChoice({ name, onOpen }: Pick<OpenedProps, 'name' | 'onOpen'>) {
  const { value } = useLoad<{ result: EndpointView[] }>('/api/endpoints', ['result']);
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

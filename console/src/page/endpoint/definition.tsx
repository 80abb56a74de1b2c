import { useMemo, useState } from 'react';
import type { EndpointView } from '../../../../src/management/view.ts';
import { Code } from '../../ui/code.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Segmented } from '../../ui/segmented.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { createSnippets } from './snippet.ts';

interface DefinitionProps {
  readonly endpoint: EndpointView;
  readonly values: Readonly<Record<string, string>>;
}

const PARTS = [
  { id: 'calls', label: 'Call it from your code' },
  { id: 'columns', label: 'Columns' },
  { id: 'sql', label: 'SQL' },
] as const;

/** Snippets that call the endpoint, and its definition. */
export function Definition({ endpoint, values }: DefinitionProps) {
  const [selected, setSelected] = useState<(typeof PARTS)[number]['id']>('calls');
  return (
    <Panel title="Definition">
      <Tabs label="Parts" tabs={PARTS} selected={selected} onSelect={setSelected}>
        {selected === 'calls' && <Calls endpoint={endpoint} values={values} />}
        {selected === 'columns' && <Columns columns={endpoint.columns} />}
        {selected === 'sql' && <Sql sql={endpoint.sql} />}
      </Tabs>
    </Panel>
  );
}

function Sql({ sql }: Pick<EndpointView, 'sql'>) {
  if (sql === null) return <p className="muted">The SQL needs the scope manage.</p>;
  return <Code text={sql.trimEnd()} language="sql" label="The stored query" />;
}

function Columns({ columns }: Pick<EndpointView, 'columns'>) {
  return (
    <dl className="endpoint-columns">
      {columns.map(({ name, type, description }) => (
        <div key={name}>
          <dt>
            <code>{name}</code> <span className="small muted">{type}</span>
          </dt>
          <dd className="muted">{description}</dd>
        </div>
      ))}
    </dl>
  );
}

function Calls({ endpoint, values }: DefinitionProps) {
  const [selected, setSelected] = useState<'curl' | 'javascript' | 'python'>('curl');
  const snippets = useMemo(() => createSnippets(location.origin, endpoint.name, values), [endpoint, values]);
  const snippet = snippets.find((one) => one.id === selected);
  return (
    <>
      <div className="endpoint-call">
        <Segmented label="Language" options={snippets} selected={selected} onSelect={setSelected} />
        <span className="small muted">
          The code reads your key from <code>TAILRACE_KEY</code>.
        </span>
      </div>
      {snippet !== undefined && (
        <Code text={snippet.text} language={snippet.language} label={`The call in ${snippet.label}`} />
      )}
    </>
  );
}

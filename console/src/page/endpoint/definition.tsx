import { useState } from 'react';
import { Link } from 'wouter';
import type { EndpointView } from '../../../../src/management/view.ts';
import { quoteShell } from '../../format/shell.ts';
import { Code } from '../../ui/code.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { queryPath } from './lines.ts';

interface DefinitionProps {
  readonly endpoint: EndpointView;
  readonly values: Readonly<Record<string, string>>;
}

const PARTS = [
  { id: 'calls', label: 'Call it from your code' },
  { id: 'columns', label: 'Columns' },
  { id: 'sql', label: 'SQL' },
] as const;

/** A call of the endpoint, and its definition. */
export function Definition({ endpoint, values }: DefinitionProps) {
  const [selected, setSelected] = useState<(typeof PARTS)[number]['id']>('calls');
  return (
    <Panel title="Definition">
      <Tabs label="Parts" tabs={PARTS} selected={selected} onSelect={setSelected}>
        {selected === 'calls' && <Call endpoint={endpoint} values={values} />}
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

/** A call of the endpoint. It never contains the key: people share it. */
function Call({ endpoint: { name }, values }: DefinitionProps) {
  const url = location.origin + queryPath(name, values);
  return (
    <>
      <Code
        text={`curl -s -H "X-API-KEY: $TAILRACE_KEY" \\\n  ${quoteShell(url)}`}
        language="bash"
        label="The call with curl"
      />
      <p className="small muted">
        It reads your key from <code>TAILRACE_KEY</code>. Generate a client in your language from{' '}
        <a href="/openapi.json">openapi.json</a>; <Link href="/docs">the reference</Link> describes what it
        returns.
      </p>
    </>
  );
}

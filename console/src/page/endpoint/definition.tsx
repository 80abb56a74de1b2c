import { useMemo, useState } from 'react';
import type { EndpointView } from '../../../../src/management/view.ts';
import { Code } from '../../ui/code.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { createSnippets } from './snippet.ts';

interface DefinitionProps {
  readonly endpoint: EndpointView;
  readonly values: Readonly<Record<string, string>>;
}

/** Snippets that call the endpoint, and its definition. */
export function Definition({ endpoint, values }: DefinitionProps) {
  return (
    <div className="definition">
      <Calls endpoint={endpoint} values={values} />
      <Panel title="SQL">
        {endpoint.sql === null ? (
          <p className="muted">The SQL needs the scope manage.</p>
        ) : (
          <Code text={endpoint.sql.trimEnd()} language="sql" label="The stored query" />
        )}
      </Panel>
      <Panel title="Columns">
        <dl className="columns">
          {endpoint.columns.map(({ name, type, description }) => (
            <div key={name}>
              <dt>
                <code>{name}</code> <span className="small muted">{type}</span>
              </dt>
              <dd className="muted">{description}</dd>
            </div>
          ))}
        </dl>
      </Panel>
    </div>
  );
}

function Calls({ endpoint, values }: DefinitionProps) {
  const [selected, setSelected] = useState<'curl' | 'javascript' | 'python'>('curl');
  const snippets = useMemo(() => createSnippets(location.origin, endpoint.name, values), [endpoint, values]);
  const snippet = snippets.find((one) => one.id === selected);
  return (
    <Panel title="Call it from your code">
      <Tabs label="Language" tabs={snippets} selected={selected} onSelect={setSelected}>
        {snippet !== undefined && (
          <Code text={snippet.text} language={snippet.language} label={`The call in ${snippet.label}`} />
        )}
        <p className="small muted">
          The code reads your key from <code>TAILRACE_KEY</code>.
        </p>
      </Tabs>
    </Panel>
  );
}

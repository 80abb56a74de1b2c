import { useMemo, useState } from 'react';
import type { EndpointView } from '../../../../src/management/view.ts';
import { quoteShell } from '../../format/shell.ts';
import { Code, type Language } from '../../ui/code.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Segmented, Tabs } from '../../ui/tabs.tsx';

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

interface Snippet {
  readonly id: 'curl' | 'javascript' | 'python';
  readonly label: string;
  readonly language: Language;
  readonly text: string;
}

/** Calls of an endpoint. They never contain the key: people share them. */
function createSnippets(origin: string, name: string, values: Readonly<Record<string, string>>): Snippet[] {
  const path = `/api/endpoints/query/${name}`;
  const entries = Object.entries(values).filter(([, value]) => value !== '');
  const query = new URLSearchParams(entries).toString();
  const url = query === '' ? origin + path : `${origin}${path}?${query}`;
  return [
    {
      id: 'curl',
      label: 'curl',
      language: 'bash',
      text: `curl -s -H "X-API-KEY: $TAILRACE_KEY" \\\n  ${quoteShell(url)}`,
    },
    {
      id: 'javascript',
      label: 'JavaScript',
      language: 'javascript',
      text: `const url = new URL(${JSON.stringify(path)}, ${JSON.stringify(origin)});
url.search = new URLSearchParams(${formatObject(entries)});

const response = await fetch(url, { headers: { 'X-API-KEY': process.env.TAILRACE_KEY } });
const body = await response.json();
if (!response.ok) throw new Error(body.error.message);
console.table(body.result);`,
    },
    {
      id: 'python',
      label: 'Python',
      language: 'python',
      text: `import json, os, urllib.parse, urllib.request

query = urllib.parse.urlencode(${formatObject(entries)})
request = urllib.request.Request(
    ${JSON.stringify(`${origin}${path}?`)} + query,
    headers={"X-API-KEY": os.environ["TAILRACE_KEY"]},
)
with urllib.request.urlopen(request) as response:
    rows = json.load(response)["result"]
print(len(rows), rows[:1])`,
    },
  ];
}

/** A string literal in JavaScript and in Python: both accept JSON's. */
function formatObject(entries: readonly (readonly [string, string])[]): string {
  if (entries.length === 0) return '{}';
  return `{\n${entries.map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)},\n`).join('')}}`;
}

import { type KeyboardEvent, useEffect, useMemo, useState } from 'react';
import { Link, useParams } from 'wouter';
import type { EndpointView } from '../../../../src/management/view.ts';
import type { ApiError } from '../../api/client.ts';
import { mayUseWorkbench, queries, useClient, useRead, useRun } from '../../api/queries.ts';
import { formatRows, formatSeconds, zoneName } from '../../format/show.ts';
import { ownMember, quoteShell, type Values } from '../../format/values.ts';
import { Button, MissingPage, Panel, Tabs, Tag } from '../../ui/page-part.tsx';
import { newAlertPath } from '../workbench/path.ts';
import { AnswerPanel } from './answer-panel.tsx';
import './endpoint.css';
import { type Row, toAnswer } from '../../api/answer.ts';
import { useZone } from '../../preference.ts';
import { Code } from '../../ui/code.tsx';
import { Check, Form } from '../../ui/form.tsx';
import { usePageAddress, valuesIn } from '../../ui/page-address.ts';
import { queryPath } from './lines.ts';
import { fillIn, ParameterFields } from './parameter-control.tsx';

export default function EndpointPage() {
  const { name = '' } = useParams();
  const { value, error } = useRead(queries.endpoints);
  const found = value?.result.find((one) => one.name === name || one.id === name.toLowerCase());
  // A sandboxed one takes `sql`, too (docs/sandboxing.md).
  const endpoint = useMemo(
    () => (found?.query_sandboxing ? { ...found, parameters: [...found.parameters, SQL] } : found),
    [found],
  );
  if (endpoint !== undefined) return <Known key={endpoint.id} endpoint={endpoint} />;
  return (
    <MissingPage title={name} error={error} isUnknown={value !== undefined} unknown="No such endpoint">
      This key may read no endpoint called <code>{name}</code>. The <Link href="/">overview</Link> lists those
      that are.
    </MissingPage>
  );
}

function Known({ endpoint }: { readonly endpoint: EndpointView }) {
  const { query, change } = usePageAddress();
  const [round, setRound] = useState(0);
  const [fresh, setFresh] = useState(false);
  const values = useMemo((): Values => {
    // A pinned value overrides the URL: the service rejects every other value.
    const pins = endpoint.parameters.flatMap(({ name, pinned }) => (pinned === null ? [] : [[name, pinned]]));
    return { ...valuesIn(query, endpoint.parameters), ...Object.fromEntries(pins) };
  }, [endpoint, query]);
  const missing = endpoint.parameters.filter(({ name, required }) => required && !ownMember(values, name));
  const isReady = missing.length === 0;
  const path = queryPath(endpoint.name, values);
  const headers: Record<string, string> = fresh ? { 'cache-control': 'no-cache' } : {};
  const run = useRun(isReady ? [path, round] : undefined, async (client, signal) =>
    toAnswer(await client.callRaw(path, { signal, headers })),
  );
  const answered = useMemo(() => withColumnsOf(endpoint, run.value?.rows), [endpoint, run.value]);
  return (
    <>
      <Head endpoint={endpoint} values={values} />
      <ParameterForm
        endpoint={endpoint}
        values={values}
        busy={run.state === 'running'}
        error={run.error}
        onRun={(next, isFresh) => {
          setFresh(isFresh);
          setRound((before) => before + 1);
          const given = Object.entries(next).map(([name, value]) => [name, value || undefined]);
          change(Object.fromEntries(given)); // the way back leads to the values before
        }}
      />
      <AnswerPanel endpoint={answered} values={values} run={run} missing={missing.map(({ name }) => name)} />
      <Definition endpoint={endpoint} values={values} />
    </>
  );
}

interface CalledProps {
  readonly endpoint: EndpointView;
  readonly values: Values;
}

function Head({ endpoint, values }: CalledProps) {
  const { self } = useClient();
  const { name, description, caching_seconds: caching, warming_seconds: warming, max_rows: rows } = endpoint;
  return (
    <div className="page-head">
      <div className="row endpoint-head">
        <h1>{name}</h1>
        <Tag>{caching === null ? 'not cached' : `cached ${formatSeconds(caching)}`}</Tag>
        {warming !== null && <Tag>kept warm every {formatSeconds(warming)}</Tag>}
        <Tag>at most {formatRows(rows)}</Tag>
        {endpoint.query_sandboxing && <Tag tone="accent">accepts your own SELECT</Tag>}
        {mayUseWorkbench(self) && (
          <>
            <Link className="small" href={`/workbench?endpoint=${name}`}>
              Open in the workbench
            </Link>
            <Link className="small" href={newAlertPath(name, values)}>
              Alert on this
            </Link>
          </>
        )}
      </div>
      <p>{description}</p>
    </div>
  );
}

interface ParameterFormProps extends CalledProps {
  readonly busy: boolean;
  readonly error: ApiError | undefined;
  readonly onRun: (values: Record<string, string>, fresh: boolean) => void;
}

function ParameterForm({ endpoint, values, busy, error, onRun }: ParameterFormProps) {
  const { scopes } = useClient().self;
  const zone = useZone();
  const [draft, setDraft] = useState(() => fillIn(endpoint.parameters, values));
  const [fresh, setFresh] = useState(false);
  useEffect(() => setDraft(fillIn(endpoint.parameters, values)), [endpoint, values]);
  const hasProject = endpoint.parameters.some(({ name }) => name === 'project');
  const projects = useRead(queries.projects, { isWanted: hasProject && scopes.includes('query') });

  const run = () => onRun(draft, fresh);
  const onKeyDown = (event: KeyboardEvent) => {
    const isRun = event.key === 'Enter' && (event.ctrlKey || event.metaKey);
    if (isRun && !event.defaultPrevented) run(); // an editor in the form has run it
  };
  return (
    <Form className="parameters" onSubmit={run} onKeyDown={onKeyDown} aria-label="Parameters">
      <ParameterFields
        parameters={endpoint.parameters}
        values={draft}
        error={error}
        projects={projects.value?.result}
        helpOf={({ control, description }) =>
          control === 'time' ? `In ${zoneName(zone)}. ${description}` : description
        }
        onRun={endpoint.query_sandboxing ? run : undefined}
        onChange={(name, value) => setDraft((before) => ({ ...before, [name]: value }))}
      />
      <div className="row parameter-actions">
        <Button type="submit" look="primary" disabled={busy}>
          {busy ? 'Running…' : 'Run'}
        </Button>
        {endpoint.caching_seconds !== null && (
          <Check checked={fresh} onChange={({ target }) => setFresh(target.checked)}>
            Bypass the cache
          </Check>
        )}
      </div>
    </Form>
  );
}

/** The parameter in which callers of a sandboxed endpoint send a SELECT; no such endpoint declares one of this name. */
const SQL: EndpointView['parameters'][number] = {
  ...{ name: 'sql', type: 'string', control: 'text', required: false, default: '', values: [] },
  ...{ otherwise: null, pinned: null, search: null },
  description: 'Your SELECT over the views of the stored query; empty: the stored SELECT.',
};

/** The endpoint with the columns of these rows: those of a caller's SELECT are declared nowhere. */
function withColumnsOf(endpoint: EndpointView, rows: readonly Row[] = []): EndpointView {
  const names = Object.keys(rows[0] ?? {});
  const isStored =
    names.length === endpoint.columns.length && endpoint.columns.every(({ name }) => names.includes(name));
  if (!endpoint.query_sandboxing || isStored || names.length === 0) return endpoint;
  return {
    ...endpoint,
    columns: names.map((name) => ({ name, type: typeOf(rows, name), description: '', search: null })),
    charts: [], // they name columns of the stored query
  };
}

function typeOf(rows: readonly Row[], name: string): EndpointView['columns'][number]['type'] {
  const values = rows.map((row) => ownMember(row, name)).filter((value) => value !== null);
  if (values.length === 0) return 'string';
  if (values.every((value) => typeof value === 'bigint' || Number.isInteger(value))) return 'integer';
  if (values.every((value) => typeof value === 'number' || typeof value === 'bigint')) return 'number';
  if (values.every((value) => typeof value === 'boolean')) return 'boolean';
  return values.every((value) => typeof value === 'string') ? 'string' : 'json';
}

const PARTS = { calls: 'Call it from your code', columns: 'Columns', sql: 'SQL' } as const;

function Definition({ endpoint, values }: CalledProps) {
  const [selected, setSelected] = useState<keyof typeof PARTS>('calls');
  const { sql } = endpoint;
  return (
    <Panel title="Definition">
      <Tabs label="Parts" options={PARTS} selected={selected} onSelect={setSelected}>
        {selected === 'calls' && <Call endpoint={endpoint} values={values} />}
        {selected === 'columns' && <Columns columns={endpoint.columns} />}
        {selected === 'sql' &&
          (sql === null ? (
            <p className="muted">The SQL needs the scope manage.</p>
          ) : (
            <Code text={sql.trimEnd()} language="sql" label="The stored query" />
          ))}
      </Tabs>
    </Panel>
  );
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
function Call({ endpoint: { name }, values }: CalledProps) {
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

import { useMemo, useState } from 'react';
import { Link, useParams } from 'wouter';
import type { EndpointView } from '../../../../src/management/view.ts';
import { useClient } from '../../api/client.ts';
import { latestOf, queries, useRead, useRun } from '../../api/queries.ts';
import { mayUseWorkbench } from '../../api/right.ts';
import { formatRows, formatSeconds } from '../../format/number.ts';
import { ownMember } from '../../format/own.ts';
import { MissingPage } from '../../ui/page-head.tsx';
import { Tag } from '../../ui/tag.tsx';
import { newAlertPath } from '../workbench/path.ts';
import { AnswerPanel } from './answer-panel.tsx';
import { Definition } from './definition.tsx';
import './endpoint.css';
import { toAnswer } from '../../api/answer.ts';
import { queryPath } from './lines.ts';
import { ParameterForm } from './parameter-form.tsx';
import { withColumnsOf, withSql } from './sandbox.ts';
import { useUrlState } from './url-state.ts';

/** One endpoint: its description, a form to call it, its answer, and snippets. */
export default function EndpointPage() {
  const { name = '' } = useParams();
  const { value, error } = useRead(queries.endpoints);
  const found = value?.result.find((one) => one.name === name || one.id === name.toLowerCase());
  const endpoint = useMemo(() => found && withSql(found), [found]);
  if (endpoint !== undefined) return <Known key={endpoint.id} endpoint={endpoint} />;
  return (
    <MissingPage title={name} error={error} isUnknown={value !== undefined} unknown="No such endpoint">
      This key may read no endpoint called <code>{name}</code>. The <Link href="/">overview</Link> lists those
      that are.
    </MissingPage>
  );
}

function Known({ endpoint }: { readonly endpoint: EndpointView }) {
  const [url, change] = useUrlState(endpoint);
  const [round, setRound] = useState(0);
  const [fresh, setFresh] = useState(false);
  const values = useMemo(() => withPins(endpoint, url.values), [endpoint, url.values]);
  const missing = endpoint.parameters.filter(({ name, required }) => required && !ownMember(values, name));
  const path = missing.length === 0 ? queryPath(endpoint.name, values) : undefined;
  const headers: Record<string, string> = fresh ? { 'cache-control': 'no-cache' } : {};
  const run = useRun(
    path === undefined
      ? undefined
      : {
          key: [path, round],
          read: async (client, signal) => toAnswer(await client.callRaw(path, { signal, headers })),
        },
  );
  const answer = latestOf(run);
  const answered = useMemo(() => withColumnsOf(endpoint, answer?.rows), [endpoint, answer]);
  return (
    <>
      <Head endpoint={endpoint} values={values} />
      <ParameterForm
        endpoint={endpoint}
        values={values}
        busy={run.state === 'running'}
        error={run.state === 'failed' ? run.error : undefined}
        onRun={(next, isFresh) => {
          setFresh(isFresh);
          setRound((before) => before + 1);
          change({ values: next });
        }}
      />
      <AnswerPanel
        endpoint={answered}
        values={values}
        run={run}
        missing={missing.map(({ name }) => name)}
        url={url}
        onChange={change}
      />
      <Definition endpoint={endpoint} values={values} />
    </>
  );
}

interface HeadProps {
  readonly endpoint: EndpointView;
  readonly values: Readonly<Record<string, string>>;
}

function Head({ endpoint, values }: HeadProps) {
  const { self } = useClient();
  const { name, description, caching_seconds: caching, warming_seconds: warming, max_rows: rows } = endpoint;
  return (
    <div className="page-head">
      <div className="endpoint-head">
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

/** A pinned value overrides the URL: the service rejects every other value. */
function withPins(
  { parameters }: EndpointView,
  values: Readonly<Record<string, string>>,
): Record<string, string> {
  const pins = parameters.flatMap(({ name, pinned }) => (pinned === null ? [] : [[name, pinned] as const]));
  return { ...values, ...Object.fromEntries(pins) };
}

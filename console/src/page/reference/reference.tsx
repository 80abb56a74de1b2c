import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { query, useClient, useRead } from '../../api/queries.ts';
import { PageHead, Panel, Reading } from '../../ui/page-part.tsx';
import { listGroups, type OpenApi, type Operation, type Parameter, sketch } from './openapi.ts';
import './reference.css';
import { quoteShell } from '../../format/values.ts';

const DOCUMENT = query<OpenApi>('/openapi.json', ['tags', 'paths', 'components']);

/** The operations of the API: without a key those that are the same for all, with one also its endpoints. */
export default function ReferencePage() {
  const { scopes } = useClient().self;
  const { value, error } = useRead(DOCUMENT);
  return (
    <>
      <PageHead title="API reference">
        {scopes.length === 0
          ? 'The operations for every caller. Sign in to see the endpoints of your key.'
          : 'Every operation, with the endpoints that your key may read.'}{' '}
        Generate clients from <a href="/openapi.json">openapi.json</a>.
      </PageHead>
      {(value === undefined || error !== undefined) && <Reading error={error} />}
      {value !== undefined && <Groups document={value} />}
    </>
  );
}

function Groups({ document: spec }: { readonly document: OpenApi }) {
  const groups = useMemo(() => listGroups(spec), [spec]);
  useEffect(() => document.getElementById(location.hash.slice(1))?.scrollIntoView(), []);
  return (
    <>
      {groups.map(({ name, description, operations }) => (
        <Panel key={name} title={`${name.charAt(0).toUpperCase()}${name.slice(1)}`}>
          <p className="muted small">{description}</p>
          {operations.map((operation) => (
            <OperationLine key={operation.operationId} operation={operation} components={spec.components} />
          ))}
        </Panel>
      ))}
      <Panel title="The body of errors">
        <Part title="application/json" text={sketch({ $ref: 'Error' }, spec.components.schemas)} />
      </Panel>
    </>
  );
}

interface OperationProps {
  readonly operation: Operation;
  readonly components: OpenApi['components'];
}

/** One line, which opens what there is to know of an operation. Its address is its id. */
function OperationLine({ operation, components }: OperationProps) {
  const { operationId: id, method, path, summary } = operation;
  const [isOpen, setOpen] = useState(() => location.hash === `#${id}`);
  return (
    <details
      id={id}
      className="operation"
      open={isOpen}
      onToggle={({ currentTarget: { open } }) => {
        setOpen(open);
        if (open) history.replaceState(history.state, '', `#${id}`);
      }}
    >
      <summary>
        <span className={`operation-method is-${method.toLowerCase()}`}>{method}</span>
        <span>
          <code>{path}</code> <span className="muted">{summary}</span>
        </span>
      </summary>
      {isOpen && <Details operation={operation} components={components} />}
    </details>
  );
}

function Details({ operation, components }: OperationProps) {
  const { description, summary, requestBody, responses } = operation;
  const { schemas } = components;
  return (
    <div className="operation-details">
      {description !== summary && <Text text={description} />}
      {Object.entries(requestBody?.content ?? {}).map(([type, { schema }]) => (
        <Part key={type} title={`Body, ${type}`} text={sketch(schema, schemas)} />
      ))}
      <Parameters parameters={operation.parameters} />
      <Part title="Call" text={toCurl(operation)} />
      <h3>Responses</h3>
      {Object.entries(responses).map(([status, given]) => {
        const { $ref } = given;
        const response = $ref === undefined ? given : components.responses[$ref.replace(/^.*\//, '')];
        const [first, ...others] = Object.entries($ref === undefined ? (given.content ?? {}) : {});
        return (
          <div key={status} className="operation-response">
            <strong className="number">{status}</strong>
            <div>
              <Text text={response?.description ?? ''} />
              {Object.entries(response?.headers ?? {}).map(([name, header]) => (
                <Text key={name} text={`\`${name}\`: ${header.description}`} />
              ))}
              {first !== undefined && <Part title={first[0]} text={sketch(first[1].schema, schemas)} />}
              {others.length > 0 && (
                <p className="small muted">Also {others.map(([type]) => type).join(', ')}</p>
              )}
            </div>
          </div>
        );
      })}
    </div>
  );
}

function Part({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <div className="operation-part">
      <span className="small muted">{title}</span>
      <pre tabIndex={0}>{text}</pre>
    </div>
  );
}

function Text({ text }: { readonly text: string }): ReactNode {
  return text.split('\n\n').map((paragraph) => (
    <p key={paragraph}>
      {paragraph.split('`').map((part, i) =>
        // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text have no other identity
        i % 2 === 1 ? <code key={i}>{part}</code> : part,
      )}
    </p>
  ));
}

function Parameters({ parameters }: Pick<Operation, 'parameters'>) {
  if (parameters.length === 0) return null;
  return (
    <>
      <h3>Parameters</h3>
      <dl className="operation-parameters">
        {parameters.map(({ name, in: place, required = false, description, schema }) => {
          const about = [place, [schema.type ?? 'any'].flat().join(' | '), required ? 'required' : ''];
          const values = schema.enum === undefined ? '' : `One of ${schema.enum.join(', ')}.`;
          const otherwise = schema.default === undefined ? '' : `By default ${schema.default}.`;
          const help = [description, schema.description, values, otherwise].filter(Boolean);
          return (
            <div key={name}>
              <dt>
                <code>{name}</code> <span className="muted small">{about.filter(Boolean).join(', ')}</span>
              </dt>
              <dd>
                <Text text={help.join(' ')} />
              </dd>
            </div>
          );
        })}
      </dl>
    </>
  );
}

/** A call with what has to be given, and the example of a body. It never contains the key: people share it. */
function toCurl({ method, path, parameters, requestBody }: Operation): string {
  const required = parameters.filter((one) => one.required === true);
  const of = (place: Parameter['in']) => required.filter((one) => one.in === place).map(({ name }) => name);
  const query = of('query').map((name) => `${name}=${name.toUpperCase()}`);
  const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const { example } = content ?? {};
  const body = typeof example === 'string' ? example : JSON.stringify(example);
  return [
    `curl -s${method === 'GET' ? '' : ` -X ${method}`} -H "X-API-KEY: $TAILRACE_KEY"`,
    ...of('header').map((name) => `-H ${quoteShell(`${name}: …`)}`),
    ...(type === undefined ? [] : [`-H ${quoteShell(`content-type: ${type}`)}`]),
    ...(body === undefined ? [] : [`--data-binary ${quoteShell(body)}`]),
    quoteShell(`${location.origin}${path}${query.length === 0 ? '' : `?${query.join('&')}`}`),
  ].join(' \\\n  ');
}

import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useId, useState } from 'react';
import { formatJson, parseJson } from '../../api/answer.ts';
import { type RawAnswer, useClient } from '../../api/client.ts';
import { showControls } from '../../format/log-text.ts';
import { formatBytes, formatMs } from '../../format/number.ts';
import { quoteShell } from '../../format/shell.ts';
import { Button, CopyButton } from '../../ui/button.tsx';
import { describedBy, Field, Form, Options } from '../../ui/form.tsx';
import { ErrorNote } from '../../ui/note.tsx';
import { JSON_TYPE, type OpenApi, type Operation, type Parameter, sketch, toRequest } from './openapi.ts';

interface OperationProps {
  readonly operation: Operation;
  readonly components: OpenApi['components'];
}

/** One line, which opens what there is to know of an operation. Its address is its id. */
export function OperationLine({ operation, components }: OperationProps) {
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
      <TryForm operation={operation} />
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

/** A text that scrolls, by keyboard too. */
export function Part({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <div className="operation-part">
      <span className="small muted">{title}</span>
      <pre tabIndex={0}>{text}</pre>
    </div>
  );
}

/** Paragraphs of a description, with their `code`. */
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

/** The parameters and the body of a request, which is sent, or copied as a call of curl. */
function TryForm({ operation }: { readonly operation: Operation }) {
  const id = useId();
  const client = useClient();
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [type, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const [body, setBody] = useState(() => toExample(content?.example));
  const [fault, setFault] = useState<string>();
  const { mutate, reset, data, error, isPending } = useMutation({
    mutationFn: (options: ReturnType<typeof toRequest> & { readonly json?: unknown }) =>
      client.callRaw(options.path, { ...options, body: options.json }),
  });
  const request = () => toRequest(operation, values, body);
  // Bodies of other types are those of programs.
  const maySend = client.self.scopes.length > 0 && (type === undefined || type === JSON_TYPE);
  const submit = () => {
    setFault(undefined);
    const asked = request();
    // Names of projects and sources are UTF-8, of which fetch takes the bytes.
    const headers = Object.fromEntries(
      Object.entries(asked.headers).map(([name, value]) => [name, toByteString(value)]),
    );
    if (asked.body === undefined) return mutate({ ...asked, headers });
    try {
      mutate({ ...asked, headers, json: JSON.parse(asked.body) });
    } catch (cause) {
      reset(); // an answer below would be taken for that of this body
      setFault(`The body is not JSON: ${cause instanceof Error ? cause.message : ''}`);
    }
  };
  return (
    <Form
      className="operation-form"
      noValidate={false}
      onSubmit={submit}
      aria-label={`Request ${operation.operationId}`}
    >
      {operation.parameters.map((parameter) => (
        <ParameterField
          key={parameter.name}
          id={`${id}-${parameter.name}`}
          parameter={parameter}
          value={values[parameter.name] ?? ''}
          onChange={(value) => setValues({ ...values, [parameter.name]: value })}
        />
      ))}
      {type !== undefined && (
        <Field id={`${id}-body`} label={`Body, ${type}`} fault={fault}>
          <textarea
            id={`${id}-body`}
            className="input"
            rows={Math.min(12, body.split('\n').length + 1)}
            spellCheck={false}
            aria-describedby={describedBy(`${id}-body`)}
            aria-invalid={fault !== undefined}
            value={body}
            onChange={({ target }) => setBody(target.value)}
          />
        </Field>
      )}
      <div className="operation-actions">
        {maySend && (
          <Button type="submit" look="primary" disabled={isPending}>
            {isPending ? 'Sending…' : 'Send'}
          </Button>
        )}
        <CopyButton text={() => toCurl(request())} label="Copy as curl" />
      </div>
      {error !== null && <ErrorNote error={error} />}
      {data !== undefined && <Received answer={data} />}
    </Form>
  );
}

interface ParameterFieldProps {
  readonly id: string;
  readonly parameter: Parameter;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function ParameterField({ id, parameter, value, onChange }: ParameterFieldProps) {
  const { name, in: place, required = false, description = '', schema } = parameter;
  const shared = { id, className: 'input', required, value, 'aria-describedby': describedBy(id) };
  const help = [description, schema.description].filter((text) => text !== undefined && text !== '');
  return (
    <Field
      id={id}
      label={
        <>
          <code>{name}</code>
          <span className="muted small">
            {[place, schema.type ?? '', required ? 'required' : ''].flat().filter(Boolean).join(', ')}
          </span>
        </>
      }
      help={<Text text={help.join(' ')} />}
    >
      {schema.enum === undefined ? (
        <input
          {...shared}
          placeholder={schema.default === undefined ? '' : String(schema.default)}
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => onChange(target.value)}
        />
      ) : (
        <select {...shared} onChange={({ target }) => onChange(target.value)}>
          <option value="">{schema.default === undefined ? '' : `default: ${schema.default}`}</option>
          <Options options={schema.enum.map(String)} />
        </select>
      )}
    </Field>
  );
}

const SHOWN_CHARS_MAX = 50_000;

function Received({ answer: { status, ms, blob, text, headers } }: { readonly answer: RawAnswer }) {
  const type = headers.get('content-type') ?? '';
  const isText = /^text\/|json/.test(type);
  const shown = type.startsWith(JSON_TYPE) ? formatJson(parseJson(text)) : isText ? text : '';
  return (
    <Part
      title={`${status} · ${formatMs(ms)} · ${formatBytes(blob.size)} ${type}`}
      text={showControls(shown.slice(0, SHOWN_CHARS_MAX))}
    />
  );
}

function toExample(example: unknown): string {
  if (example === undefined) return '';
  return typeof example === 'string' ? example : JSON.stringify(example, null, 2);
}

function toByteString(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text));
}

/** It never contains the key: people share it. */
function toCurl({ method, path, headers, mediaType, body = '' }: ReturnType<typeof toRequest>): string {
  const all = { ...headers, ...(mediaType !== undefined && { 'content-type': mediaType }) };
  return [
    `curl -s${method === 'GET' ? '' : ` -X ${method}`} -H "X-API-KEY: $TAILRACE_KEY"`,
    ...Object.entries(all).map(([name, value]) => `-H ${quoteShell(`${name}: ${value}`)}`),
    ...(mediaType === undefined ? [] : [`--data-binary ${quoteShell(body)}`]),
    quoteShell(location.origin + path),
  ].join(' \\\n  ');
}

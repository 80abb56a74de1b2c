import { type FormEvent, type KeyboardEvent, useEffect, useId, useState } from 'react';
import type { EndpointView } from '../../../../src/management/view.ts';
import { type ApiError, useClient } from '../../api/client.ts';
import { queries, useRead } from '../../api/queries.ts';
import { ownMember } from '../../format/own.ts';
import { zoneName } from '../../format/time.ts';
import { useZone } from '../../preference.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { Tag } from '../../ui/tag.tsx';
import { ParameterControl } from './parameter-control.tsx';
import { useSandboxWords } from './sandbox.ts';

interface ParameterFormProps {
  readonly endpoint: EndpointView;
  /** The values in the URL. */
  readonly values: Readonly<Record<string, string>>;
  readonly busy: boolean;
  /** The error of the last run, which may name parameters. */
  readonly error: ApiError | undefined;
  readonly onRun: (values: Record<string, string>, fresh: boolean) => void;
}

/** A form with a control per declared parameter. */
export function ParameterForm({ endpoint, values, busy, error, onRun }: ParameterFormProps) {
  const id = useId();
  const { scopes } = useClient().self;
  const zone = useZone();
  const [draft, setDraft] = useState(() => fillIn(endpoint, values));
  const [fresh, setFresh] = useState(false);
  useEffect(() => setDraft(fillIn(endpoint, values)), [endpoint, values]);
  const hasProject = endpoint.parameters.some(({ name }) => name === 'project');
  const words = useSandboxWords(endpoint);
  const projects = useRead(queries.projects, { isWanted: hasProject && scopes.includes('query') });

  const run = () => onRun(draft, fresh);
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const isRun = event.key === 'Enter' && (event.ctrlKey || event.metaKey);
    if (isRun && !event.defaultPrevented) run(); // an editor in the form has run it
  };
  return (
    <form className="parameters" onSubmit={onSubmit} onKeyDown={onKeyDown} noValidate aria-label="Parameters">
      {endpoint.parameters.map((parameter) => {
        const { name, required, description, pinned, control } = parameter;
        return (
          <Field
            key={name}
            id={`${id}-${name}`}
            label={
              <>
                {name}
                {required && <span className="muted small">required</span>}
                {pinned !== null && <Tag tone="accent">set by your key</Tag>}
              </>
            }
            help={control === 'time' ? `In ${zoneName(zone)}. ${description}` : description}
            fault={error?.errors.find((one) => one.parameter === name)?.message}
          >
            <ParameterControl
              id={`${id}-${name}`}
              parameter={parameter}
              value={ownMember(draft, name) ?? ''}
              suggestions={name === 'project' ? (projects.value?.result ?? []) : []}
              onChange={(value) => setDraft((before) => ({ ...before, [name]: value }))}
              sql={endpoint.query_sandboxing && name === 'sql' ? { words, onRun: run } : undefined}
            />
          </Field>
        );
      })}
      <div className="parameter-actions">
        <Button type="submit" look="primary" disabled={busy}>
          {busy ? 'Running…' : 'Run'}
        </Button>
        {endpoint.caching_seconds !== null && (
          <label className="field-check">
            <input type="checkbox" checked={fresh} onChange={(event) => setFresh(event.target.checked)} />
            Bypass the cache
          </label>
        )}
      </div>
    </form>
  );
}

/** The initial values: those of the URL, the pins of the key, and defaults. */
function fillIn(
  { parameters }: EndpointView,
  values: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(
    parameters.map(({ name, pinned, default: fallback, required, values: [first = ''] }) => [
      name,
      pinned ?? ownMember(values, name) ?? (required && fallback === '' ? first : fallback),
    ]),
  );
}

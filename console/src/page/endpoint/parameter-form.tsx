import { type KeyboardEvent, useEffect, useState } from 'react';
import type { EndpointView } from '../../../../src/management/view.ts';
import { type ApiError, useClient } from '../../api/client.ts';
import { queries, useRead } from '../../api/queries.ts';
import { zoneName } from '../../format/time.ts';
import { useZone } from '../../preference.ts';
import { Button } from '../../ui/button.tsx';
import { Form } from '../../ui/form.tsx';
import { fillIn, ParameterFields } from './parameter-control.tsx';

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
    </Form>
  );
}

import { useEffect, useId, useState } from 'react';
import type { DashboardView } from '../../../../src/management/dashboard-view.ts';
import type { EndpointView } from '../../../../src/management/view.ts';
import { queries, useRead } from '../../api/queries.ts';
import { ownMember } from '../../format/own.ts';
import { Form } from '../../ui/form.tsx';
import { Tag } from '../../ui/tag.tsx';
import { ParameterControl } from '../endpoint/parameter-control.tsx';

type Parameter = EndpointView['parameters'][number];

interface SharedParametersProps {
  readonly dashboard: DashboardView;
  readonly endpoints: readonly EndpointView[];
  readonly values: Readonly<Record<string, string>>;
  readonly onChange: (name: string, value: string) => void;
}

/** A control for each parameter that the panels share, as their endpoints declare it. */
export function SharedParameters({ dashboard, endpoints, values, onChange }: SharedParametersProps) {
  const { parameters, rows } = dashboard;
  const names = new Set(rows.flatMap(({ panels }) => panels.map(({ endpoint }) => endpoint)));
  const declared = endpoints.filter(({ name }) => names.has(name)).flatMap((one) => one.parameters);
  const projects = useRead(queries.projects, { isWanted: parameters.some(({ name }) => name === 'project') });
  const shown = parameters.flatMap(({ name, pinned }) => {
    const found = declared.find((one) => one.name === name);
    return found === undefined ? [] : [{ ...found, pinned, required: false }];
  });
  if (shown.length === 0) return null;
  return (
    <div className="dashboard-parameters">
      {shown.map((parameter) => (
        <SharedParameter
          key={parameter.name}
          parameter={parameter}
          value={ownMember(values, parameter.name) ?? ''}
          suggestions={parameter.name === 'project' ? (projects.value?.result ?? []) : []}
          onChange={(value) => onChange(parameter.name, value)}
        />
      ))}
    </div>
  );
}

interface SharedParameterProps {
  readonly parameter: Parameter;
  readonly value: string;
  readonly suggestions: readonly string[];
  readonly onChange: (value: string) => void;
}

/** A choice counts at once, a text with Enter, when it is left, or if it is one of the suggestions. */
function SharedParameter({ parameter, value, suggestions, onChange }: SharedParameterProps) {
  const id = useId();
  const [draft, setDraft] = useState(value);
  useEffect(() => setDraft(value), [value]);
  const isAtOnce = parameter.control === 'choice' || parameter.control === 'time';
  const take = (next: string) => {
    setDraft(next);
    if (isAtOnce || suggestions.includes(next)) onChange(next);
  };
  const settle = () => {
    if (draft !== value) onChange(draft);
  };
  return (
    <Form className="dashboard-parameter" onSubmit={settle} onBlur={settle}>
      <label htmlFor={id} title={parameter.description}>
        {parameter.name}
        {parameter.pinned !== null && <Tag tone="accent">set by your key</Tag>}
      </label>
      <ParameterControl
        id={id}
        parameter={parameter}
        value={draft}
        suggestions={suggestions}
        onChange={take}
      />
      <span id={`${id}-help`} className="visually-hidden">
        {parameter.description}
      </span>
    </Form>
  );
}

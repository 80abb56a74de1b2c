import { useId, useState } from 'react';
import { queries, sourcesOf, useRead } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { ChoiceField, describedBy, Field, Form, TextField } from '../../ui/form.tsx';
import { Segmented } from '../../ui/segmented.tsx';
import { TimeControl } from '../../ui/time/time-control.tsx';
import type { DeletionRequest } from './deletion.tsx';

const DAY_MS = 86_400_000;
const PICKS = [
  ['a day ago', -DAY_MS],
  ['a week ago', -7 * DAY_MS],
  ['30 days ago', -30 * DAY_MS],
] as const;
const WHOSE = [
  { id: 'project', label: 'Of a project' },
  { id: 'none', label: 'Without a project' },
] as const;

interface DeletionFormProps {
  readonly busy: boolean;
  readonly onCount: (request: DeletionRequest) => void;
  /** Called with each change: an earlier count is of other events. */
  readonly onChange: () => void;
}

/** Chooses the events to delete. */
export function DeletionForm({ busy, onCount, onChange }: DeletionFormProps) {
  const id = useId();
  const projects = useRead(queries.projects).value?.result ?? [];
  const list = useRead(queries.sources).value;
  const sources = list === undefined ? [] : sourcesOf(list).filter((one) => one.managed && !one.protected);
  const [whose, setWhose] = useState<(typeof WHOSE)[number]['id']>('project');
  const [values, setValues] = useState({ project: '', source: '', before: '' });
  const { project, source, before } = values;
  const change = (some: Partial<typeof values>) => {
    setValues({ ...values, ...some });
    onChange();
  };
  const onSubmit = () => {
    if (whose === 'project' && project === '') return;
    onCount({
      project: whose === 'none' ? '' : project,
      ...(source !== '' && { source }),
      ...(before !== '' && { before }),
    });
  };
  return (
    <Form className="admin-form" onSubmit={onSubmit}>
      <Segmented
        label="Events"
        options={WHOSE}
        selected={whose}
        onSelect={(next) => {
          setWhose(next);
          onChange();
        }}
      />
      {whose === 'project' && (
        <TextField
          label="Project"
          help="Exactly as the events have it."
          value={project}
          suggestions={projects}
          onChange={(next) => change({ project: next })}
        />
      )}
      <ChoiceField
        label="Source"
        value={source}
        options={[['', 'Every source'], ...sources.map(({ name }) => name)]}
        onChange={(next) => change({ source: next })}
      />
      <Field id={`${id}-before`} label="Only events before" help="Empty: up to now.">
        <TimeControl
          id={`${id}-before`}
          className="input"
          aria-describedby={describedBy(`${id}-before`)}
          value={before}
          picks={PICKS}
          clear="now"
          onChange={(next) => change({ before: next })}
        />
      </Field>
      <Button type="submit" look="primary" disabled={busy || (whose === 'project' && project === '')}>
        Count the events
      </Button>
    </Form>
  );
}

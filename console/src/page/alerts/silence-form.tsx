import { useMutation } from '@tanstack/react-query';
import { useId, useState } from 'react';
import type { SilenceView } from '../../../../src/management/alert-view.ts';
import { useClient } from '../../api/client.ts';
import { ErrorNote } from '../../ui/error-note.tsx';
import { describedBy, Field, Form, FormActions, Group, Suggestions, TextField } from '../../ui/form.tsx';
import { Dialog } from '../../ui/overlay/dialog.tsx';
import { TimeControl } from '../../ui/time/time-control.tsx';
import { faultOf } from '../keys/draft.ts';

interface SilenceFormProps {
  readonly title: string;
  /** Labels that instances can have, each with its present values. */
  readonly labels: ReadonlyMap<string, readonly string[]>;
  readonly labelsHelp: string;
  /** The path in the API. */
  readonly path: string;
  readonly onClose: () => void;
  readonly onMade: () => void;
}

const HOUR_MS = 3_600_000;
const AHEAD = [
  ['1 h', HOUR_MS],
  ['4 h', 4 * HOUR_MS],
  ['1 d', 24 * HOUR_MS],
  ['7 d', 7 * 24 * HOUR_MS],
] as const;

/** Begins a silence: until when, why, and of which instances. */
export function SilenceForm({ title, labels: known, labelsHelp, path, onClose, onMade }: SilenceFormProps) {
  const id = useId();
  const client = useClient();
  const [until, setUntil] = useState(() => `${new Date(Date.now() + HOUR_MS).toISOString().slice(0, 19)}Z`);
  const [comment, setComment] = useState('');
  const [labels, setLabels] = useState<Readonly<Record<string, string>>>({});
  const { mutate, isPending, ...made } = useMutation({
    mutationFn: () => {
      const given = Object.entries(labels).filter(([, value]) => value !== '');
      const body = { until, comment, ...(given.length > 0 && { labels: Object.fromEntries(given) }) };
      return client.call<SilenceView>(path, ['id', 'until'], { method: 'POST', body });
    },
    onSuccess: onMade,
  });
  const error = made.error ?? undefined;
  const fault = (member: string) => faultOf(error, member);
  return (
    <Dialog title={title} onClose={onClose}>
      <Form className="alert-form" error={error} onSubmit={mutate}>
        <Field id={`${id}-until`} label="Until" help="At most 90 days ahead." fault={fault('until')}>
          <TimeControl
            id={`${id}-until`}
            className="input"
            aria-describedby={describedBy(`${id}-until`)}
            value={until}
            picks={AHEAD}
            clear="clear"
            onChange={setUntil}
          />
        </Field>
        <TextField label="Why" fault={fault('comment')} value={comment} onChange={setComment} />
        {known.size > 0 && (
          <Group legend="Only instances with" help={labelsHelp} fault={fault('labels')}>
            {[...known].map(([name, values]) => (
              <LabelField
                key={name}
                name={name}
                id={`${id}-${name}`}
                known={values}
                value={labels[name] ?? ''}
                onChange={(value) => setLabels({ ...labels, [name]: value })}
              />
            ))}
          </Group>
        )}
        {error !== undefined && <ErrorNote error={error} />}
        <FormActions submit="Silence it" submitting="Silencing…" busy={isPending} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}

interface LabelFieldProps {
  readonly name: string;
  readonly id: string;
  /** Values of the present instances. */
  readonly known: readonly string[];
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function LabelField({ name, id, known, value, onChange }: LabelFieldProps) {
  return (
    <div className="alert-label">
      <label htmlFor={id}>{name}</label>
      <input
        id={id}
        className="input"
        list={`${id}-known`}
        autoComplete="off"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
      <Suggestions id={`${id}-known`} values={known} />
    </div>
  );
}

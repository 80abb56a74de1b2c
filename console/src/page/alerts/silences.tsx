import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import type { AlertDetailView, SilenceView } from '../../../../src/management/alert-view.ts';
import { useClient } from '../../api/client.ts';
import { queries } from '../../api/queries.ts';
import { Button, QuietButton } from '../../ui/button.tsx';
import {
  describedBy,
  Field,
  Form,
  FormActions,
  faultOf,
  Group,
  Suggestions,
  TextField,
} from '../../ui/form.tsx';
import { Empty, ErrorNote } from '../../ui/note.tsx';
import { Dialog } from '../../ui/overlay/dialog.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Ago, TimeControl } from '../../ui/time/time-control.tsx';

interface SilencesProps {
  readonly alert: AlertDetailView;
  /** The path in the API. */
  readonly path: string;
  readonly mayManage: boolean;
}

/** The silences of an alert, each of which can be ended early, and a form for another one. */
export function Silences({ alert, path, mayManage }: SilencesProps) {
  const client = useClient();
  const cache = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const refresh = () => {
    for (const queryKey of [[path], queries.alerts.queryKey]) void cache.invalidateQueries({ queryKey });
  };
  const { mutate, isPending, error } = useMutation({
    mutationFn: (id: string) => client.callRaw(`${path}/silences/${id}`, { method: 'DELETE' }),
    onSettled: refresh,
  });
  const nowMs = Date.now();
  return (
    <Panel title="Silences" actions={mayManage && <Button onClick={() => setOpen(true)}>Silence it</Button>}>
      {error !== null && <ErrorNote error={error} />}
      {alert.silences.length === 0 && (
        <Empty title="Not silenced">
          A silence stops messages about what fires until an instant; what fires at its end is sent then.
        </Empty>
      )}
      <ul className="alert-silences">
        {alert.silences.map(({ id, comment, until, by, labels }) => (
          <li key={id}>
            <span>
              <strong>{comment}</strong>
              <span className="small muted">
                {' '}
                ends <Ago iso={until} nowMs={nowMs} />, by {by}
                {Object.entries(labels).map(([name, value]) => `, only ${name} = ${value}`)}
              </span>
            </span>
            {mayManage && (
              <QuietButton disabled={isPending} onClick={() => mutate(id)}>
                End it now<span className="visually-hidden">: {comment}</span>
              </QuietButton>
            )}
          </li>
        ))}
      </ul>
      {isOpen && (
        <SilenceForm
          alert={alert}
          path={`${path}/silences`}
          onClose={() => setOpen(false)}
          onMade={() => {
            setOpen(false);
            refresh();
          }}
        />
      )}
    </Panel>
  );
}

interface SilenceFormProps {
  readonly alert: AlertDetailView;
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
function SilenceForm({ alert, path, onClose, onMade }: SilenceFormProps) {
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
    <Dialog title={`Silence ${alert.name}`} onClose={onClose}>
      <Form className="stack" error={error} onSubmit={() => mutate()}>
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
        {alert.per.length > 0 && (
          <Group legend="Only instances with" help="Empty: all of them." fault={fault('labels')}>
            {alert.per.map((name) => (
              <LabelField
                key={name}
                name={name}
                id={`${id}-${name}`}
                known={alert.instances.flatMap((one) => one.labels[name] ?? [])}
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

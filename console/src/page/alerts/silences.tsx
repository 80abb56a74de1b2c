import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import type { AlertDetailView, AlertView, SilenceView } from '../../../../src/management/alert-view.ts';
import { useClient } from '../../api/client.ts';
import { queries, useRead } from '../../api/queries.ts';
import { Button, QuietButton } from '../../ui/button.tsx';
import { describedBy, Field, Form, FormActions, Group, Suggestions, TextField } from '../../ui/form.tsx';
import { Empty, ErrorNote } from '../../ui/note.tsx';
import { Dialog } from '../../ui/overlay/dialog.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Ago, TimeControl } from '../../ui/time/time-control.tsx';
import { faultOf } from '../keys/draft.ts';

interface SilencesProps {
  readonly alert: AlertDetailView;
  /** The path in the API. */
  readonly path: string;
  readonly mayManage: boolean;
}

/** The silences of an alert, and those of every alert that may cover its instances. */
export function Silences({ alert, path, mayManage }: SilencesProps) {
  return (
    <SilencePanel
      title="Silences"
      silences={alert.silences}
      empty="A silence stops messages until an instant; what fires at its end is sent then."
      path={`${path}/silences`}
      read={path}
      mayManage={mayManage}
      begin={{
        button: 'Silence it',
        title: `Silence ${alert.name}`,
        labels: new Map(alert.per.map((name) => [name, listValues([alert], name)])),
        labelsHelp: 'Empty: all of them.',
      }}
    />
  );
}

const SHARED_PATH = queries.silences.queryKey[0];

/** The silences of every alert, by labels. @param alerts all of them */
export function SharedSilences({ alerts }: { readonly alerts: readonly AlertView[] }) {
  const { value, error } = useRead(queries.silences);
  const names = [...new Set(alerts.flatMap(({ per }) => per))];
  if (error !== undefined) return <ErrorNote error={error} />;
  if (value === undefined || names.length === 0) return null;
  return (
    <SilencePanel
      title="Silences of every alert"
      silences={value.result}
      empty="A silence by labels stops the messages of every alert about instances that have them."
      path={SHARED_PATH}
      read={SHARED_PATH}
      mayManage
      begin={{
        button: 'Silence by labels',
        title: 'Silence every alert',
        labels: new Map(names.map((name) => [name, listValues(alerts, name)])),
        labelsHelp: 'At least one of them.',
      }}
    />
  );
}

function listValues(alerts: readonly AlertView[], name: string): readonly string[] {
  return alerts.flatMap(({ instances }) => instances.flatMap(({ labels }) => labels[name] ?? []));
}

interface SilencePanelProps {
  readonly title: string;
  readonly silences: readonly SilenceView[];
  /** What a silence does, if there is none. */
  readonly empty: string;
  /** The path of the silences in the API. */
  readonly path: string;
  /** The path from which they were read. */
  readonly read: string;
  readonly mayManage: boolean;
  /** The form of another one. */
  readonly begin: {
    readonly button: string;
    readonly title: string;
    readonly labels: ReadonlyMap<string, readonly string[]>;
    readonly labelsHelp: string;
  };
}

/** Silences, each of which can be ended early, and a form for another one. */
function SilencePanel({ title, silences, empty, path, read, mayManage, begin }: SilencePanelProps) {
  const client = useClient();
  const cache = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const refresh = () => {
    for (const queryKey of [[read], queries.alerts.queryKey]) void cache.invalidateQueries({ queryKey });
  };
  const { mutate, isPending, error } = useMutation({
    mutationFn: ({ id, is_of_every_alert: isShared }: SilenceView) =>
      client.callRaw(`${isShared ? SHARED_PATH : path}/${id}`, { method: 'DELETE' }),
    onSettled: refresh,
  });
  const { button, ...form } = begin;
  const opener = mayManage && <Button onClick={() => setOpen(true)}>{button}</Button>;
  const nowMs = Date.now();
  return (
    <Panel title={title} actions={opener}>
      {error !== null && <ErrorNote error={error} />}
      {silences.length === 0 && <Empty title="Not silenced">{empty}</Empty>}
      <ul className="alert-silences">
        {silences.map((silence) => (
          <li key={silence.id}>
            <span>
              <strong>{silence.comment}</strong>
              <span className="small muted">
                {' '}
                ends <Ago iso={silence.until} nowMs={nowMs} />, by {silence.by}
                {Object.entries(silence.labels).map(([name, value]) => `, only ${name} = ${value}`)}
                {silence.is_of_every_alert && ', of every alert'}
              </span>
            </span>
            {mayManage && (
              <QuietButton disabled={isPending} onClick={() => mutate(silence)}>
                End it now<span className="visually-hidden">: {silence.comment}</span>
              </QuietButton>
            )}
          </li>
        ))}
      </ul>
      {isOpen && (
        <SilenceForm
          {...form}
          path={path}
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
function SilenceForm({ title, labels: known, labelsHelp, path, onClose, onMade }: SilenceFormProps) {
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
      <Form className="stack" error={error} onSubmit={mutate}>
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

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { AlertDetailView, SilenceView } from '../../../../src/management/alert-view.ts';
import { queries, useClient } from '../../api/queries.ts';
import { Group, TextField } from '../../ui/form.tsx';
import { FormDialog } from '../../ui/overlay/dialog.tsx';
import { Button, ErrorNote, QuietButton } from '../../ui/page-part.tsx';
import { RowTable, styled, type TableColumns } from '../../ui/table/panel-table.tsx';
import { Ago, TimeField } from '../../ui/time/time-control.tsx';
import { apiPath, Pairs } from './alert-state.tsx';

const COLUMNS: TableColumns<SilenceView> = {
  Why: ({ comment }) => comment,
  Ends: ({ until }) => <Ago iso={until} />,
  By: ({ by }) => by,
  Instances: styled('alert-instances', ({ labels }) => <Pairs of={labels} none="all" />),
};

export function Silences({ alert }: { readonly alert: AlertDetailView }) {
  const client = useClient();
  const mayManage = client.self.scopes.includes('manage');
  const path = apiPath(alert);
  const cache = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const refresh = () => {
    for (const queryKey of [[path], queries.alerts.queryKey]) void cache.invalidateQueries({ queryKey });
  };
  const { mutate, isPending, error } = useMutation({
    mutationFn: (id: string) => client.callRaw(`${path}/silences/${id}`, { method: 'DELETE' }),
    onSettled: refresh,
  });
  return (
    <>
      {error !== null && <ErrorNote error={error} />}
      <RowTable
        title="Silences"
        actions={mayManage && <Button onClick={() => setOpen(true)}>Silence it</Button>}
        rowClass="alert-line"
        rows={alert.silences}
        keyOf={({ id }) => id}
        empty={[
          'Not silenced',
          'A silence stops messages about what fires until an instant; what fires at its end is sent then.',
        ]}
        columns={{
          ...COLUMNS,
          '': ({ id, comment }) =>
            mayManage && (
              <QuietButton disabled={isPending} onClick={() => mutate(id)}>
                End it now<span className="visually-hidden">: {comment}</span>
              </QuietButton>
            ),
        }}
      />
      {isOpen && <SilenceForm alert={alert} refresh={refresh} onClose={() => setOpen(false)} />}
    </>
  );
}

const HOUR_MS = 3_600_000;
const AHEAD = [
  ['1 h', HOUR_MS],
  ['4 h', 4 * HOUR_MS],
  ['1 d', 24 * HOUR_MS],
  ['7 d', 7 * 24 * HOUR_MS],
] as const;

function SilenceForm(props: Readonly<{ alert: AlertDetailView; onClose: () => void; refresh: () => void }>) {
  const { alert, onClose, refresh } = props;
  const client = useClient();
  const [inAnHour] = useState(() => `${new Date(Date.now() + HOUR_MS).toISOString().slice(0, 19)}Z`);
  const sending = useMutation({
    mutationFn: (data: FormData) => {
      const text = (name: string) => String(data.get(name) ?? '');
      const labels = alert.per.map((name) => [name, text(LABEL + name)]).filter(([, value]) => value !== '');
      const body = {
        ...{ until: text('until'), comment: text('comment') },
        ...(labels.length > 0 && { labels: Object.fromEntries(labels) }),
      };
      return client.post<SilenceView>(`${apiPath(alert)}/silences`, ['id', 'until'], body);
    },
    onSuccess() {
      onClose();
      refresh();
    },
  });
  return (
    <FormDialog
      title={`Silence ${alert.name}`}
      submit={['Silence it', 'Silencing…']}
      {...{ sending, onClose }}
    >
      <TimeField
        label="Until"
        name="until"
        help="At most 90 days ahead."
        initial={inAnHour}
        picks={AHEAD}
        clear="clear"
      />
      <TextField label="Why" name="comment" />
      {alert.per.length > 0 && (
        <Group name="labels" legend="Only instances with" help="Empty: all of them.">
          {alert.per.map((name) => (
            <TextField
              key={name}
              label={name}
              name={LABEL + name}
              suggestions={alert.instances.flatMap((one) => one.labels[name] ?? [])}
            />
          ))}
        </Group>
      )}
    </FormDialog>
  );
}

const LABEL = 'label.';

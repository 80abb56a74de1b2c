import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Session } from '../../../../src/management/view.ts';
import { type List, query, useClient, useRead } from '../../api/queries.ts';
import { ErrorNote, PageHead, QuietButton } from '../../ui/page-part.tsx';
import { RowTable, styled, type TableColumns } from '../../ui/table/panel-table.tsx';
import { Instant } from '../../ui/time/time-control.tsx';

const SESSIONS = query<List<Session>>('/api/sessions', ['result']);

const COLUMNS: TableColumns<Session> = {
  Since: ({ created_at: at }) => <Instant iso={at} />,
  'Last request': ({ seen_at: at }) => <Instant iso={at} />,
  From: ({ address }) => address,
  Browser: styled('small', ({ agent }) => agent),
};

/** The devices on which one is signed in, to sign the others out. */
export default function SessionsPage() {
  const client = useClient();
  const cache = useQueryClient();
  const { self } = client;
  const { value, error } = useRead(SESSIONS);
  const end = useMutation({
    mutationFn: (id: string) => client.callRaw(`/api/sessions/${id}`, { method: 'DELETE' }),
    onSettled: () => cache.invalidateQueries({ queryKey: SESSIONS.queryKey }),
  });
  return (
    <>
      <PageHead title="Your sessions">
        {self.kind === 'person'
          ? `You are ${self.name}, with the role ${self.role}. `
          : `You are signed in with the key ${self.name}. `}
        Scopes: {self.scopes.join(', ')}.
      </PageHead>
      {end.error !== null && <ErrorNote error={end.error} />}
      <RowTable
        title="Signed in"
        rows={value?.result}
        error={error}
        empty={['No sessions', 'This tab has its key itself.']}
        keyOf={({ id }) => id}
        columns={{
          ...COLUMNS,
          '': ({ current, id }) =>
            current ? (
              'This browser'
            ) : (
              <QuietButton disabled={end.isPending} onClick={() => end.mutate(id)}>
                End
              </QuietButton>
            ),
        }}
      />
    </>
  );
}

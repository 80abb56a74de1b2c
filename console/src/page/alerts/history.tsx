import type { AlertEntryView } from '../../../../src/management/alert-view.ts';
import { usePages } from '../../api/queries.ts';
import { formatTime } from '../../format/time.ts';
import { useZone } from '../../preference.ts';
import { RowTable, rowsOfPages } from '../../ui/table/panel-table.tsx';
import { Tag, type Tone } from '../../ui/tag.tsx';
import { Pairs } from './alert-state.tsx';

const PAGE = 20;
const TONES: Readonly<Record<AlertEntryView['change'], Tone>> = {
  firing: 'bad',
  resolved: 'ok',
  no_data: 'warn',
  error: 'bad',
  failed: 'warn',
  note: 'neutral',
  delivered: 'neutral',
  not_delivered: 'bad',
};

/** What happened to an alert, newest first. @param path of the API */
export function History({ path }: { readonly path: string }) {
  const entries = usePages<AlertEntryView>(path, { size: PAGE });
  const zone = useZone();
  return (
    <RowTable
      title="History"
      rowClass="alert-line"
      {...rowsOfPages(entries, 'Load older entries')}
      empty={['Nothing has happened', 'What fires, resolves or fails is listed here for 90 days.']}
      keyOf={({ id }) => id}
      columns={[
        { name: 'Time', className: 'number small', cell: ({ at }) => formatTime(Date.parse(at), zone) },
        {
          name: 'Change',
          cell: ({ change, quiet }) => (
            <span className="row">
              <Tag tone={TONES[change]}>{change.replaceAll('_', ' ')}</Tag>
              {quiet === true && <Tag>no message</Tag>}
            </span>
          ),
        },
        { name: 'About', className: 'alert-instances', cell: (entry) => <About entry={entry} /> },
      ]}
    />
  );
}

function About({ entry }: { readonly entry: AlertEntryView }) {
  const { labels, values, receiver, reason, status } = entry;
  if (labels !== null) return <Pairs of={{ ...labels, ...values }} none="the whole answer" />;
  const said = [receiver, reason ?? status?.replaceAll('_', ' ')].filter((text) => text != null);
  return <span className="small">{said.join(': ')}</span>;
}

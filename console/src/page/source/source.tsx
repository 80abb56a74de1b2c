import { Link, useParams } from 'wouter';
import type { SourceState } from '../../../../src/management/admin-view.ts';
import type { SourceView } from '../../../../src/management/view.ts';
import { formatAgo, formatBytes, formatCount, formatShort, formatTime, zoneName } from '../../format/show.ts';
import { useZone } from '../../preference.ts';
import { ErrorNote, MissingPage, Stat, Tag } from '../../ui/page-part.tsx';
import { Sparkline } from '../../ui/sparkline.tsx';
import { RowTable, styled, type TableColumns } from '../../ui/table/panel-table.tsx';
import { explorePath } from '../explore/address.ts';
import './source.css';
import { maySearch, useClient, useSources } from '../../api/queries.ts';

export default function SourcePage() {
  const { name = '' } = useParams();
  const { sources, stateOf, mayWatch, nowMs, error } = useSources();
  const source = sources?.find((one) => one.name === name);
  if (source === undefined)
    return (
      <MissingPage title={name} error={error} isUnknown={sources !== undefined} unknown="No such source">
        This key may see no source called {name}. Choose one of the <Link href="/sources">sources</Link>.
      </MissingPage>
    );
  return (
    <>
      <Head source={source} />
      {error !== undefined && <ErrorNote error={error} />}
      {mayWatch && source.managed && <Numbers state={stateOf(name)} nowMs={nowMs} />}
      <RowTable
        title="Fields"
        rows={source.columns}
        columns={FIELDS}
        keyOf={(column) => column.name}
        below={
          <p className="field-common small muted">
            Each source also has <code>id</code>, <code>timestamp</code>, <code>project</code>,{' '}
            <code>event_message</code>, <code>metadata</code> as sent, and <code>attributes</code>: other
            members of an event.
          </p>
        }
      />
    </>
  );
}

function Head({ source }: { readonly source: SourceView }) {
  const { id, name, description, table, retention_days: days } = source;
  const hasLines = maySearch(useClient().self);
  return (
    <div className="page-head">
      <p className="small">
        <Link href="/sources">Sources</Link>
      </p>
      <div className="page-title">
        <h1>{name}</h1>
        <div className="row">
          {hasLines && (
            <Link href={explorePath({ source: [name] })} className="button">
              Explore its lines
            </Link>
          )}
          {source.managed && !source.internal && (
            <Link href={`/send?source=${name}`} className="button">
              Send events to it
            </Link>
          )}
        </div>
      </div>
      <p>{description}</p>
      <div className="row source-facts">
        <Tag tone="accent">{days === null ? 'existing table, read only' : `kept for ${days} days`}</Tag>
        <span className="small muted">
          table <code>{table}</code>
        </span>
        <code className="small muted">{id}</code>
      </div>
    </div>
  );
}

function Numbers({ state, nowMs }: { readonly state: SourceState | undefined; readonly nowMs: number }) {
  const zone = useZone();
  if (state === undefined) return null;
  const { rows, bytes, oldest, newest, minutes } = state;
  const lastHour = formatCount(minutes.reduce((sum, one) => sum + one, 0));
  const instants = Object.entries({ Oldest: oldest, Newest: newest });
  return (
    <dl className="panel stats">
      <Stat
        label="Events in"
        value={formatShort(state.events_per_second)}
        unit="/s"
        below={<Sparkline values={minutes} label={`${lastHour} events in the last hour`} />}
      />
      <Stat label="Rows" value={formatShort(rows)} below={`${formatCount(rows)} events`} />
      <Stat
        label="On disk"
        value={formatBytes(bytes)}
        below={rows === 0 ? 'nothing stored' : `${formatBytes(bytes / rows)} an event`}
      />
      {state.without_project > 0 && (
        <Stat
          label="Without a project"
          value={formatShort(state.without_project)}
          tone="warn"
          below="since the start; keys that pin a project cannot read them"
        />
      )}
      {instants.map(([label, iso]) => {
        const ms = Date.parse(iso ?? '');
        const at = iso === null ? 'no event yet' : `${formatTime(ms, zone)} ${zoneName(zone)}`;
        return (
          <Stat key={label} label={label} value={iso === null ? '–' : formatAgo(ms, nowMs)} below={at} />
        );
      })}
    </dl>
  );
}

const FIELDS: TableColumns<SourceView['columns'][number]> = {
  Field: ({ name, description }) => (
    <div className="panel-table-name">
      <code>{name}</code>
      <span className="small muted">{description}</span>
    </div>
  ),
  Type: ({ type }) => type,
  'Taken from': styled('field-path', ({ path, other_paths: others }) =>
    path.length === 0 ? (
      <span className="muted">–</span>
    ) : (
      <code className="small">{[path, ...others].map(writePath).join(', ')}</code>
    ),
  ),
};

/** Writes paths as in a source's file; after the first one come its substitutes. */
function writePath(path: readonly string[]): string {
  return path.some((name) => name.includes('.')) ? `[${path.join(', ')}]` : path.join('.');
}

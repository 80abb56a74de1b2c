import { Link } from 'wouter';
import type { SourceState, SourceView } from '../../../../src/management/view.ts';
import { useClient } from '../../api/client.ts';
import { maySearch } from '../../api/right.ts';
import { formatBytes, formatCount, formatShort } from '../../format/number.ts';
import { Empty } from '../../ui/empty.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Panel } from '../../ui/panel.tsx';
import { PanelTable } from '../../ui/table/panel-table.tsx';
import { Ago } from '../../ui/time/time.tsx';
import { ExploreLink } from '../explore/explore-link.tsx';
import './source.css';
import { useSources } from './use-sources.ts';

const ABOUT = [
  { name: 'Source' },
  { name: 'Table' },
  { name: 'Fields', numeric: true },
  { name: 'Kept', numeric: true },
];
const LIVE = [
  { name: 'Events/s', numeric: true },
  { name: 'Rows', numeric: true },
  { name: 'On disk', numeric: true },
  { name: 'Newest' },
];

/** Every source that the key may see. */
export function SourceListPage() {
  const { sources, stateOf, mayWatch, nowMs, errors } = useSources();
  const hasLines = maySearch(useClient().self);
  const heads = [...ABOUT, ...(mayWatch ? LIVE : []), ...(hasLines ? [{ name: 'Lines' }] : [])];
  return (
    <>
      <div className="page-head">
        <h1>Sources</h1>
        <p>
          Kinds of logs that you can send here, each with its fields, retention and ready-made configurations
          of senders.
        </p>
      </div>
      {errors.map((error) => (
        <ErrorNote key={error.message} error={error} />
      ))}
      {sources === undefined && errors.length === 0 && <p className="muted">Reading…</p>}
      {sources?.length === 0 && (
        <Panel title="Sources">
          <Empty title="This key may see no source">
            Sign in with a key that may send to sources, or has the scope manage.
          </Empty>
        </Panel>
      )}
      {sources !== undefined && sources.length > 0 && (
        <PanelTable title="Sources" heads={heads}>
          {sources.map((source) => (
            <SourceLine
              key={source.id}
              source={source}
              state={mayWatch ? (stateOf(source.name) ?? null) : undefined}
              nowMs={nowMs}
              hasLines={hasLines}
            />
          ))}
        </PanelTable>
      )}
    </>
  );
}

interface SourceLineProps {
  readonly source: SourceView;
  /** Null: not read yet; `undefined`: not shown to this key. */
  readonly state: SourceState | null | undefined;
  readonly nowMs: number;
  readonly hasLines: boolean;
}

function SourceLine({ source, state, nowMs, hasLines }: SourceLineProps) {
  const { name, description, table, columns, retention_days: days } = source;
  return (
    <tr className="source-summary">
      <th scope="row">
        <div className="panel-table-name">
          <Link href={`/sources/${name}`}>{name}</Link>
          <span className="small muted">{description}</span>
          {state != null && state.without_project > 0 && (
            <span className="small tone-warn">
              {formatCount(state.without_project)} events without a project since the start
            </span>
          )}
        </div>
      </th>
      <td data-label="Table" className="source-summary-table">
        <code className="small">{table}</code>
      </td>
      <td data-label="Fields" className="numeric">
        {columns.length}
      </td>
      <td data-label="Kept" className="numeric">
        {days === null ? 'external' : `${days} d`}
      </td>
      {state !== undefined && <Live state={source.managed ? state : null} nowMs={nowMs} />}
      {hasLines && (
        <td data-label="Lines" className="source-summary-lines">
          <ExploreLink source={name} />
        </td>
      )}
    </tr>
  );
}

function Live({ state, nowMs }: { readonly state: SourceState | null; readonly nowMs: number }) {
  return (
    <>
      <td data-label="Events/s" className="numeric">
        {state === null ? '–' : formatShort(state.events_per_second)}
      </td>
      <td data-label="Rows" className="numeric">
        {state === null ? '–' : formatShort(state.rows)}
      </td>
      <td data-label="On disk" className="numeric">
        {state === null ? '–' : formatBytes(state.bytes)}
      </td>
      <td data-label="Newest">{state?.newest == null ? '–' : <Ago iso={state.newest} nowMs={nowMs} />}</td>
    </>
  );
}

import { Link } from 'wouter';
import { useClient } from '../../api/client.ts';
import { mayUseWorkbench } from '../../api/right.ts';
import { Popover } from '../../ui/overlay/popover.tsx';
import { fromSearchPath } from '../workbench/path.ts';
import type { ExploreAddress } from './address.ts';
import { type Search, searchParameters } from './search/search.ts';
import { ceilTo, floorTo } from './search/slice.ts';
import './saved-searches.css';

interface SaveAsEndpointProps {
  readonly address: ExploreAddress;
  readonly search: Search;
}

/** Opens the workbench with what the page shows as SQL, a chart and a test. */
export function SaveAsEndpoint(props: SaveAsEndpointProps) {
  const { self } = useClient();
  return (
    <Popover label="Save as endpoint" title="Save as endpoint">
      {(close) =>
        mayUseWorkbench(self) ? (
          <ul className="saved-list">
            {listParts(props).map(({ label, help, path }) => (
              <li key={label}>
                <Link className="saved-open" href={path} onClick={close}>
                  <span>{label}</span>
                  <span className="muted small">{help}</span>
                </Link>
              </li>
            ))}
          </ul>
        ) : (
          <p className="saved-note">
            Endpoints are written in the workbench. It needs a key with the scopes query and manage, without
            pins and lists: its SQL reads the events of every project.
          </p>
        )
      }
    </Popover>
  );
}

/** The parts of the page that one SELECT can return, each with the path of its draft. */
function listParts({ address, search }: SaveAsEndpointProps) {
  const { by, measure, top } = address;
  const { widthMs, offsetMs } = search;
  const fromMs = floorTo(search.fromMs, widthMs, offsetMs);
  const untilMs = ceilTo(search.untilMs, widthMs, offsetMs);
  const toPath = (more: Readonly<Record<string, string>>) =>
    fromSearchPath(searchParameters(search, { fromMs, untilMs }, more));
  const chart = {
    ...{ part: 'histogram', by, measure, top: top === undefined ? '' : String(top) },
    buckets: String(Math.round((untilMs - fromMs) / widthMs)),
  };
  return [
    { label: 'The chart', help: `${measure || 'count'} by ${by} over time`, path: toPath(chart) },
    { label: 'The lines', help: 'the newest events', path: toPath({ part: 'rows' }) },
    { label: 'The top values', help: `of ${by}`, path: toPath({ part: 'values', field: by }) },
  ];
}

import type { SearchSource } from '../../../../../src/management/view.ts';
import type { Row } from '../../../api/answer.ts';
import { showText } from '../../../format/log-text.ts';
import { formatTime, type Zone } from '../../../format/time.ts';
import { QuietButton } from '../../../ui/button.tsx';
import { useAnalysis } from '../analysis/use-analysis.tsx';
import { type Search, searchPath } from '../search/search.ts';

interface DeployEntriesProps {
  readonly deploys: readonly Deploy[];
  readonly zone: Zone;
  readonly onZoom: (fromMs: number, untilMs: number) => void;
}

const SHOWN_MAX = 4;
const AROUND_MS = 15 * 60_000;

/** The newest deployments of the range, in the legend; a click zooms to the time around one. */
export function DeployEntries({ deploys, zone, onZoom }: DeployEntriesProps) {
  const others = deploys.length - SHOWN_MAX;
  return (
    <>
      {deploys.slice(0, SHOWN_MAX).map(({ key, ms, text }) => (
        <li key={key}>
          <QuietButton
            className="histogram-entry"
            title="Zoom to the time around this deployment"
            onClick={() => onZoom(ms - AROUND_MS, ms + AROUND_MS)}
          >
            <span className="histogram-dashes" aria-hidden="true" />
            <span className="visually-hidden">Deployment </span>
            <span className="number">{formatTime(ms, zone).slice(11, 16)}</span>
            <span className="histogram-label">{showText(text)}</span>
          </QuietButton>
        </li>
      ))}
      {others > 0 && <li className="histogram-entry muted">{others} earlier deployments</li>}
    </>
  );
}

export interface Deploy {
  readonly key: string;
  /** ms since the epoch. */
  readonly ms: number;
  readonly text: string;
}

/** As many as a chart can show apart from each other. */
const DEPLOYS_MAX = '50';
const NONE: readonly Deploy[] = [];

/** The deployments in the range of a search, newest first: events of the source that the operator names for them. */
export function useDeploys(sources: readonly SearchSource[], search: Search): readonly Deploy[] {
  const source = sources.find(({ marks_deploys }) => marks_deploys)?.name;
  const { project } = search;
  const path =
    source === undefined
      ? undefined
      : searchPath({ q: '', source: [source], project }, search, { limit: DEPLOYS_MAX });
  return useAnalysis(path, toDeploy).rows ?? NONE;
}

function toDeploy(row: Row): Deploy {
  const { id, timestamp, event_message: text } = row;
  return { key: `${id} ${timestamp}`, ms: Number(timestamp) / 1_000, text: String(text).slice(0, 80) };
}

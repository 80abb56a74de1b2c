import { showText } from '../../../format/log-text.ts';
import { formatTime, type Zone } from '../../../format/time.ts';
import { QuietButton } from '../../../ui/button.tsx';
import type { Deploy } from './use-deploys.ts';

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
            <span className="histogram-dashes is-deploy" aria-hidden="true" />
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

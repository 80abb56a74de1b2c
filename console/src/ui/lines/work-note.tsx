import { formatTime } from '../../format/time.ts';
import { useZone } from '../../preference.ts';
import { QuietButton } from '../button.tsx';
import { Tag } from '../tag.tsx';
import { isRefused, type WorkState } from './use-work.ts';

interface WorkNoteProps {
  readonly state: WorkState;
  /** `Counting` */
  readonly doing: string;
  /** `The counts` */
  readonly what: string;
  readonly progress: {
    readonly slices: number;
    readonly slicesRead: number;
    /** ms since the epoch. */
    readonly backToMs: number;
  };
  readonly onResume: () => void;
}

/** Shows the progress of work, and a button that continues it after a stop or a failure. */
export function WorkNote({ state, doing, what, progress, onResume }: WorkNoteProps) {
  const zone = useZone();
  const { slices, slicesRead, backToMs } = progress;
  const back = slicesRead > 0 ? ` back to ${formatTime(backToMs, zone)}` : '';
  const share = slices > 1 ? `, ${slicesRead} of ${slices}` : '';
  if (state.kind === 'running')
    return (
      <span className="small muted number" role="status">
        {doing}
        {back}
        {share}…
      </span>
    );
  if (state.kind !== 'stopped' && state.kind !== 'failed') return null;
  // What the service rejects has no parts.
  if (isRefused(state)) return null;
  return (
    <span className="work-note small number" role="status">
      <Tag tone={state.kind === 'failed' ? 'bad' : 'warn'}>partial</Tag>
      {state.kind === 'failed' ? `${what} failed: ${state.error.message}` : `Stopped${back}${share}`}
      <QuietButton onClick={onResume}>{state.kind === 'failed' ? 'Retry' : 'Continue'}</QuietButton>
    </span>
  );
}

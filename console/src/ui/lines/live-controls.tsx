import { formatCount } from '../../format/number.ts';
import { QuietButton } from '../button.tsx';
import type { Tail } from './use-tail.ts';

interface LiveControlsProps {
  readonly live: boolean;
  readonly tail: Tail;
  readonly paused: boolean;
  readonly onPaused: (paused: boolean) => void;
  readonly onLive: (live: boolean) => void;
}

/** Follows new lines, or lets them wait. */
export function LiveControls({ live, tail, paused, onPaused, onLive }: LiveControlsProps) {
  const onShow = () => {
    onPaused(false);
    tail.show(); // also while a line is open
    document.querySelector('.line-list')?.scrollTo({ top: 0 });
  };
  return (
    <>
      <QuietButton
        aria-pressed={live}
        onClick={() => {
          onPaused(false);
          onLive(!live);
        }}
      >
        <span className={live && !paused ? 'live-pulse is-on' : 'live-pulse'} aria-hidden="true" />
        Live
      </QuietButton>
      {live && (
        <QuietButton aria-pressed={paused} onClick={() => onPaused(!paused)}>
          Pause
        </QuietButton>
      )}
      {tail.count > 0 && (
        <QuietButton className="line-waiting" onClick={onShow}>
          {formatCount(tail.count)} new
        </QuietButton>
      )}
    </>
  );
}

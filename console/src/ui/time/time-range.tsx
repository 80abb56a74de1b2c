import type { ReactNode } from 'react';
import { describeRange, hasLater, shiftRange, type TimeRange, zoomOut } from '../../format/range.ts';
import { useZone } from '../../preference.ts';
import { Button } from '../button.tsx';
import { Popover } from '../overlay/popover.tsx';
import { RangePanel } from './range-panel.tsx';
import './time-range.css';

interface TimeRangeControlProps {
  readonly value: TimeRange;
  readonly onChange: (range: TimeRange) => void;
  /** Refresh now. */
  readonly onRefresh: () => void;
  /** Beside the button that does that. */
  readonly children?: ReactNode;
}

/** The time range of a page, and a button that reads it again, in one row. */
export function TimeRangeControl({ value, onChange, onRefresh, children }: TimeRangeControlProps) {
  const zone = useZone();
  return (
    <div className="time-range">
      <Popover
        title="Time range"
        label={
          <>
            <span className="visually-hidden">Time range: </span>
            <span className="time-range-label">{describeRange(value, zone)}</span>
            <span className="popover-caret" aria-hidden="true" />
          </>
        }
      >
        {(close) => (
          <RangePanel
            value={value}
            onChange={(range) => {
              close();
              onChange(range);
            }}
          />
        )}
      </Popover>
      <MoveControl value={value} onChange={onChange} />
      <Button onClick={onRefresh}>Refresh</Button>
      {children}
    </div>
  );
}

/** Goes to the range before or after, or to a longer one around it. */
function MoveControl({ value, onChange }: Pick<TimeRangeControlProps, 'value' | 'onChange'>) {
  const canGoOn = hasLater(value, Date.now());
  return (
    <fieldset className="group range-moves" aria-label="Move the time range">
      <Button
        title="Earlier ([)"
        aria-label="Earlier"
        onClick={() => onChange(shiftRange(value, 'earlier', Date.now()))}
      >
        ‹
      </Button>
      <Button
        title="Later (])"
        aria-label="Later"
        aria-disabled={!canGoOn /* it keeps the focus */}
        onClick={() => canGoOn && onChange(shiftRange(value, 'later', Date.now()))}
      >
        ›
      </Button>
      <Button title="Zoom out (o)" aria-label="Zoom out" onClick={() => onChange(zoomOut(value, Date.now()))}>
        −
      </Button>
    </fieldset>
  );
}

import { type ClipboardEvent, type FormEvent, useId, useState } from 'react';
import { fromField, toField, zoneName } from '../../format/time.ts';
import {
  describeRange,
  findRangeFaults,
  QUICK_RANGES,
  readInstant,
  resolveRange,
  type TimeRange,
} from '../../format/time-range.ts';
import { useZone } from '../../preference.ts';
import { describedBy, Field } from '../field.tsx';
import { Popover } from '../overlay/popover.tsx';
import './time-range.css';

const REFRESH_SECONDS = [5, 10, 30, 60];

interface TimeRangeControlProps {
  readonly value: TimeRange;
  readonly onChange: (range: TimeRange) => void;
  /** Interval of refreshes; `undefined` for none. The page keeps the timer. */
  readonly refreshSeconds: number | undefined;
  readonly onRefreshSeconds: (seconds: number | undefined) => void;
  /** Refresh now. */
  readonly onRefresh: () => void;
}

/** The time range of a page and when it is read again, in one row. */
export function TimeRangeControl({ value, onChange, ...refresh }: TimeRangeControlProps) {
  const zone = useZone();
  return (
    <div className="time-range">
      <Popover
        title="Time range"
        label={
          <>
            <span className="visually-hidden">Time range: </span>
            <span className="time-range-label">{describeRange(value, zone)}</span>
            <span className="caret" aria-hidden="true" />
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
      <RefreshControl {...refresh} />
    </div>
  );
}

type RefreshControlProps = Pick<TimeRangeControlProps, 'refreshSeconds' | 'onRefreshSeconds' | 'onRefresh'>;

function RefreshControl({ refreshSeconds, onRefreshSeconds, onRefresh }: RefreshControlProps) {
  return (
    <div className="refresh">
      <button type="button" className="button" onClick={onRefresh}>
        Refresh
      </button>
      <select
        className="input"
        aria-label="Refresh automatically"
        title="Refresh automatically"
        value={refreshSeconds ?? ''}
        onChange={({ target }) => onRefreshSeconds(target.value === '' ? undefined : Number(target.value))}
      >
        <option value="">Off</option>
        {REFRESH_SECONDS.map((seconds) => (
          <option key={seconds} value={seconds}>
            {seconds} s
          </option>
        ))}
      </select>
    </div>
  );
}

type RangePanelProps = Pick<TimeRangeControlProps, 'value' | 'onChange'>;

function RangePanel({ value, onChange }: RangePanelProps) {
  return (
    <>
      <fieldset className="group quick-ranges" aria-label="Quick ranges">
        {QUICK_RANGES.map(({ id, label }) => (
          <button
            key={id}
            type="button"
            className="button quiet"
            aria-pressed={value.kind === 'last' && value.range === id}
            onClick={() => onChange({ kind: 'last', range: id })}
          >
            {label}
          </button>
        ))}
      </fieldset>
      <AbsoluteForm value={value} onChange={onChange} />
    </>
  );
}

const SIDES = [
  ['from', 'From'],
  ['until', 'Until'],
] as const;

function AbsoluteForm({ value, onChange }: RangePanelProps) {
  const zone = useZone();
  const id = useId();
  const [initial] = useState(() => {
    const { fromMs, untilMs } = resolveRange(value, Date.now());
    return { from: toField(fromMs, zone), until: toField(untilMs, zone) };
  });
  // What the fields contain, not instants: a rewritten value would interrupt typing.
  const [draft, setDraft] = useState(initial);
  const [faults, setFaults] = useState<ReturnType<typeof findRangeFaults>>({});
  const change = (side: keyof typeof draft, text: string) => {
    const next = { ...draft, [side]: text };
    setDraft(next);
    if (Object.keys(faults).length > 0) setFaults(findRangeFaults(next.from, next.until, zone));
  };
  const paste = (side: keyof typeof draft, event: ClipboardEvent) => {
    const text = toField(readInstant(event.clipboardData.getData('text'), zone), zone);
    if (text === '') return;
    event.preventDefault();
    change(side, text);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const found = findRangeFaults(draft.from, draft.until, zone);
    setFaults(found);
    const wrong = SIDES.find(([side]) => found[side] !== undefined)?.[0];
    if (wrong !== undefined) return document.getElementById(`${id}-${wrong}`)?.focus();
    const [from, until] = [fromField(draft.from, zone), fromField(draft.until, zone)];
    onChange({ kind: 'absolute', from, until });
  };
  return (
    <form className="absolute-range" noValidate onSubmit={submit}>
      {SIDES.map(([side, label]) => (
        <Field key={side} id={`${id}-${side}`} label={label} fault={faults[side]}>
          <input
            id={`${id}-${side}`}
            className="input"
            type="datetime-local"
            step="1"
            max="9999-12-31T23:59:59"
            value={draft[side]}
            aria-invalid={faults[side] !== undefined}
            aria-describedby={describedBy(`${id}-${side}`)}
            onChange={(event) => change(side, event.target.value)}
            onPaste={(event) => paste(side, event)}
          />
        </Field>
      ))}
      <div className="absolute-range-end">
        <span className="small muted">{zoneName(zone)}. You can paste timestamps.</span>
        <button type="submit" className="button primary">
          Apply
        </button>
      </div>
    </form>
  );
}

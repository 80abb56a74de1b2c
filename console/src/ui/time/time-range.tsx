import { type ReactNode, useId, useState } from 'react';
import {
  describeLast,
  describeRange,
  hasLater,
  QUICK_RANGES,
  RANGE_TEXT_CHARS_MAX,
  readRangeText,
  resolveRange,
  shiftRange,
  type TimeRange,
  zoomOut,
} from '../../format/range.ts';
import { useZone } from '../../preference.ts';
import { Popover } from '../overlay/popover.tsx';
import { Button, QuietButton } from '../page-part.tsx';
import './time-range.css';
import { toField, zoneName } from '../../format/show.ts';
import { Form, Input, TextField } from '../form.tsx';

interface RangeProps {
  readonly value: TimeRange;
  readonly onChange: (range: TimeRange) => void;
}

interface TimeRangeControlProps extends RangeProps {
  readonly onRefresh: () => void;
  /** Beside the button that does that. */
  readonly children?: ReactNode;
}

export function TimeRangeControl({ value, onChange, onRefresh, children }: TimeRangeControlProps) {
  const zone = useZone();
  return (
    <div className="time-range">
      <Popover
        title="Time range"
        isChoice
        label={<span className="time-range-label">{describeRange(value, zone)}</span>}
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

function MoveControl({ value, onChange }: RangeProps) {
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

function RangePanel({ value, onChange }: RangeProps) {
  const { fault, read } = useRangeText(onChange);
  return (
    <>
      <Form onSubmit={(data) => read(String(data.get('range')))}>
        <TextField
          label="Range"
          name="range"
          help="40m, now-2h to now-1h, 07:00 to 08:30, yesterday; Enter applies it."
          fault={fault}
          data-first-focus
          placeholder="now-40m"
          maxLength={RANGE_TEXT_CHARS_MAX}
        />
      </Form>
      <fieldset className="group range-quick" aria-label="Quick ranges">
        {QUICK_RANGES.map((range) => (
          <QuietButton
            key={range}
            aria-pressed={value.kind === 'last' && value.range === range}
            onClick={() => onChange({ kind: 'last', range })}
          >
            {describeLast(range)}
          </QuietButton>
        ))}
      </fieldset>
      <AbsoluteForm value={value} onChange={onChange} />
    </>
  );
}

/** Reads a text as a range. @returns the fault of the last one, and a function that reads the next */
function useRangeText(onChange: RangeProps['onChange']) {
  const zone = useZone();
  const [fault, setFault] = useState<string>();
  const read = (text: string) => {
    const range = readRangeText(text, { nowMs: Date.now(), zone });
    setFault(typeof range === 'string' ? range : undefined);
    if (typeof range !== 'string') onChange(range);
  };
  return { fault, read };
}

/** A range by its two ends. The browser writes a date as its locale has it; a field for both would show hours as AM and PM in some. */
function AbsoluteForm({ value, onChange }: RangeProps) {
  const zone = useZone();
  const id = useId();
  const { fault, read } = useRangeText(onChange);
  const [{ fromMs, untilMs }] = useState(() => resolveRange(value, Date.now()));
  const sides = [
    { name: 'from', label: 'From', field: toField(fromMs, zone).split('T') },
    { name: 'until', label: 'Until', field: toField(untilMs, zone).split('T') },
  ];
  const shared = { 'aria-invalid': fault !== undefined, 'aria-describedby': `${id}-fault` };
  return (
    <Form
      className="absolute-range"
      onSubmit={(data) => read(sides.map(({ name }) => data.getAll(name).join(' ')).join(' to '))}
    >
      {sides.map(({ name, label, field: [date, time] }) => (
        <div key={name} className="field">
          <label htmlFor={`${id}-${name}`}>{label}</label>
          <div className="absolute-end">
            <Input
              {...{ ...shared, name }}
              id={`${id}-${name}`}
              type="date"
              max="9999-12-31"
              defaultValue={date}
            />
            <Input
              {...{ ...shared, name }}
              aria-label={`${label}, time`}
              placeholder="07:00:00"
              maxLength={40}
              defaultValue={time}
            />
          </div>
        </div>
      ))}
      <div className="absolute-range-end">
        <span
          id={`${id}-fault`}
          className={fault === undefined ? 'small muted' : 'small tone-bad'}
          role="status"
        >
          {fault ?? `${zoneName(zone)}, 24 hours.`}
        </span>
        <Button type="submit" look="primary">
          Apply
        </Button>
      </div>
    </Form>
  );
}

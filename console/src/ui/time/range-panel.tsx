import { useId, useState } from 'react';
import {
  describeLast,
  QUICK_RANGES,
  RANGE_TEXT_CHARS_MAX,
  readRangeText,
  resolveRange,
  type TimeRange,
} from '../../format/range.ts';
import { toField, zoneName } from '../../format/time.ts';
import { useZone } from '../../preference.ts';
import { Button, QuietButton } from '../button.tsx';
import { Form, TextField } from '../form.tsx';

interface RangePanelProps {
  readonly value: TimeRange;
  readonly onChange: (range: TimeRange) => void;
}

/** Every way to choose a range: typed, by a click, one of the last ones, or by its two ends. */
export function RangePanel({ value, onChange }: RangePanelProps) {
  return (
    <>
      <TypedRange onChange={onChange} />
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
function useRangeText(onChange: RangePanelProps['onChange']) {
  const zone = useZone();
  const [fault, setFault] = useState<string>();
  const read = (text: string) => {
    const range = readRangeText(text, { nowMs: Date.now(), zone });
    setFault(range.kind === 'fault' ? range.message : undefined);
    if (range.kind !== 'fault') onChange(range);
  };
  return { fault, read };
}

function TypedRange({ onChange }: Pick<RangePanelProps, 'onChange'>) {
  const [text, setText] = useState('');
  const { fault, read } = useRangeText(onChange);
  return (
    <Form onSubmit={() => read(text)}>
      <TextField
        label="Range"
        help="40m, now-2h to now-1h, 07:00 to 08:30, yesterday; Enter applies it."
        fault={fault}
        data-first-focus
        placeholder="now-40m"
        maxLength={RANGE_TEXT_CHARS_MAX}
        value={text}
        onChange={setText}
      />
    </Form>
  );
}

const SIDES = [
  ['from', 'From'],
  ['until', 'Until'],
] as const;

/** What the two fields of an end contain, not an instant: a rewritten value would interrupt typing. */
interface End {
  readonly date: string;
  readonly time: string;
}

/** A range by its two ends. The browser writes a date as its locale has it; a field for both would show hours as AM and PM in some. */
function AbsoluteForm({ value, onChange }: RangePanelProps) {
  const zone = useZone();
  const id = useId();
  const [ends, setEnds] = useState(() => {
    const { fromMs, untilMs } = resolveRange(value, Date.now());
    return { from: toEnd(toField(fromMs, zone)), until: toEnd(toField(untilMs, zone)) };
  });
  const { fault, read } = useRangeText(onChange);
  const change = (side: keyof typeof ends, part: Partial<End>) =>
    setEnds({ ...ends, [side]: { ...ends[side], ...part } });
  const shared = {
    className: 'input',
    'aria-invalid': fault !== undefined,
    'aria-describedby': `${id}-fault`,
  };
  return (
    <Form
      className="absolute-range"
      onSubmit={() => read(SIDES.map(([side]) => `${ends[side].date} ${ends[side].time}`).join(' to '))}
    >
      {SIDES.map(([side, label]) => (
        <div key={side} className="field">
          <label htmlFor={`${id}-${side}`}>{label}</label>
          <div className="absolute-end">
            <input
              {...shared}
              id={`${id}-${side}`}
              type="date"
              max="9999-12-31"
              value={ends[side].date}
              onChange={({ target }) => change(side, { date: target.value })}
            />
            <input
              {...shared}
              aria-label={`${label}, time`}
              placeholder="07:00:00"
              maxLength={40}
              autoComplete="off"
              value={ends[side].time}
              onChange={({ target }) => change(side, { time: target.value })}
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

function toEnd(field: string): End {
  const [date = '', time = ''] = field.split('T');
  return { date, time };
}

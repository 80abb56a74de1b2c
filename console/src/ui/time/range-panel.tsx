import { type FormEvent, useId, useState } from 'react';
import { describeLast } from '../../format/last-range.ts';
import { RANGE_TEXT_CHARS_MAX, readRangeText } from '../../format/range-text.ts';
import { describeRange, QUICK_RANGES, type TimeRange } from '../../format/time-range.ts';
import { useZone } from '../../preference.ts';
import { QuietButton } from '../button.tsx';
import { describedBy, Field } from '../form.tsx';
import { AbsoluteForm } from './absolute-form.tsx';
import { formatRange, readRanges } from './recent-range.ts';

export interface RangePanelProps {
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
      <RecentRanges onChange={onChange} />
      <AbsoluteForm value={value} onChange={onChange} />
    </>
  );
}

function TypedRange({ onChange }: Pick<RangePanelProps, 'onChange'>) {
  const zone = useZone();
  const id = useId();
  const [text, setText] = useState('');
  const [fault, setFault] = useState<string>();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const range = readRangeText(text, { nowMs: Date.now(), zone });
    if (range.kind === 'fault') setFault(range.message);
    else onChange(range);
  };
  return (
    <form noValidate onSubmit={submit}>
      <Field
        id={id}
        label="Range"
        help="40m, now-2h to now-1h, 07:00 to 08:30, yesterday; Enter applies it."
        fault={fault}
      >
        <input
          id={id}
          className="input"
          data-first-focus
          autoComplete="off"
          spellCheck={false}
          placeholder="now-40m"
          maxLength={RANGE_TEXT_CHARS_MAX}
          value={text}
          aria-invalid={fault !== undefined}
          aria-describedby={describedBy(id)}
          onChange={({ target }) => {
            setText(target.value);
            setFault(undefined);
          }}
        />
      </Field>
    </form>
  );
}

function RecentRanges({ onChange }: Pick<RangePanelProps, 'onChange'>) {
  const zone = useZone();
  const [ranges] = useState(readRanges);
  if (ranges.length === 0) return null;
  return (
    <fieldset className="group recent-ranges" aria-label="Recent ranges">
      <span className="small muted">Recent</span>
      {ranges.map((range) => (
        <QuietButton key={formatRange(range)} onClick={() => onChange(range)}>
          {describeRange(range, zone)}
        </QuietButton>
      ))}
    </fieldset>
  );
}

import { type ClipboardEvent, type FormEvent, useId, useState } from 'react';
import {
  describeLast,
  describeRange,
  findRangeFaults,
  parseLast,
  QUICK_RANGES,
  RANGE_TEXT_CHARS_MAX,
  readInstant,
  readRangeText,
  resolveRange,
  type TimeRange,
} from '../../format/range.ts';
import { fromField, toField, zoneName } from '../../format/time.ts';
import { useZone } from '../../preference.ts';
import { Button, QuietButton } from '../button.tsx';
import { describedBy, Field } from '../form.tsx';

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

const SIDES = [
  ['from', 'From'],
  ['until', 'Until'],
] as const;

/** What the two fields of an end contain, not an instant: a rewritten value would interrupt typing. */
interface End {
  readonly date: string;
  readonly time: string;
}

type Draft = Readonly<Record<'from' | 'until', End>>;

/** A range by its two ends. The browser writes a date as its locale has it; a field for both would show hours as AM and PM in some. */
function AbsoluteForm({ value, onChange }: RangePanelProps) {
  const zone = useZone();
  const id = useId();
  const [draft, setDraft] = useState<Draft>(() => {
    const { fromMs, untilMs } = resolveRange(value, Date.now());
    return { from: toEnd(toField(fromMs, zone)), until: toEnd(toField(untilMs, zone)) };
  });
  const [faults, setFaults] = useState<ReturnType<typeof findRangeFaults>>({});
  const find = ({ from, until }: Draft) => findRangeFaults(toText(from), toText(until), zone);
  const change = (side: keyof Draft, part: Partial<End>) => {
    const next = { ...draft, [side]: { ...draft[side], ...part } };
    setDraft(next);
    if (Object.keys(faults).length > 0) setFaults(find(next));
  };
  const paste = (side: keyof Draft, event: ClipboardEvent) => {
    const text = toField(readInstant(event.clipboardData.getData('text'), zone), zone);
    if (text === '') return;
    event.preventDefault();
    change(side, toEnd(text));
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const found = find(draft);
    setFaults(found);
    const wrong = SIDES.find(([side]) => found[side] !== undefined)?.[0];
    if (wrong !== undefined) return document.getElementById(`${id}-${wrong}`)?.focus();
    const [from, until] = [fromField(toText(draft.from), zone), fromField(toText(draft.until), zone)];
    onChange({ kind: 'absolute', from, until });
  };
  return (
    <form className="absolute-range" noValidate onSubmit={submit}>
      {SIDES.map(([side, label]) => {
        const shared = {
          className: 'input',
          'aria-invalid': faults[side] !== undefined,
          'aria-describedby': describedBy(`${id}-${side}`),
          onPaste: (event: ClipboardEvent) => paste(side, event),
        };
        return (
          <Field key={side} id={`${id}-${side}`} label={label} fault={faults[side]}>
            <div className="absolute-end">
              <input
                {...shared}
                id={`${id}-${side}`}
                type="date"
                max="9999-12-31"
                value={draft[side].date}
                onChange={({ target }) => change(side, { date: target.value })}
              />
              <input
                {...shared}
                aria-label={`${label}, time`}
                placeholder="07:00:00"
                maxLength={40}
                autoComplete="off"
                value={draft[side].time}
                onChange={({ target }) => change(side, { time: target.value })}
              />
            </div>
          </Field>
        );
      })}
      <div className="absolute-range-end">
        <span className="small muted">{zoneName(zone)}, 24 hours. You can paste timestamps.</span>
        <Button type="submit" look="primary">
          Apply
        </Button>
      </div>
    </form>
  );
}

function toEnd(field: string): End {
  const [date = '', time = ''] = field.split('T');
  return { date, time };
}

/** The text of a field of both; empty if one of them is not complete. */
function toText({ date, time }: End): string {
  const [, hours = '', rest = ''] =
    /^(\d{1,2})(:[0-5]\d(?::[0-5]\d(?:\.\d{1,3})?)?)$/.exec(time.trim()) ?? [];
  return date === '' || hours === '' || Number(hours) > 23 ? '' : `${date}T${hours.padStart(2, '0')}${rest}`;
}

const NAME = 'tailrace.ranges';
const COUNT_MAX = 5;

/** Keeps a range among the last ones of this browser, unless it is one click away anyway. */
export function keepRange(range: TimeRange): void {
  if (range.kind === 'last' && QUICK_RANGES.includes(range.range)) return;
  const text = formatRange(range);
  const texts = [text, ...readTexts().filter((other) => other !== text)].slice(0, COUNT_MAX);
  localStorage.setItem(NAME, JSON.stringify(texts));
}

/** The last ranges, the newest first. */
function readRanges(): readonly TimeRange[] {
  return readTexts().flatMap(parseRange);
}

/** `40m`, or both ends as an interval of ISO 8601. */
function formatRange(range: TimeRange): string {
  return range.kind === 'last' ? range.range : `${range.from}/${range.until}`;
}

function parseRange(text: string): readonly TimeRange[] {
  const [from = '', until] = text.split('/');
  const last = until === undefined ? parseLast(from) : undefined;
  if (last !== undefined) return [{ kind: 'last', range: last }];
  const isRange = Date.parse(from) < Date.parse(until ?? '');
  return isRange && until !== undefined ? [{ kind: 'absolute', from, until }] : [];
}

function readTexts(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(NAME) ?? '[]');
    return Array.isArray(kept) ? kept.filter((text) => typeof text === 'string').slice(0, COUNT_MAX) : [];
  } catch {
    return [];
  }
}

import { type ClipboardEvent, type FormEvent, useId, useState } from 'react';
import { fromField, toField, zoneName } from '../../format/time.ts';
import { findRangeFaults, readInstant, resolveRange } from '../../format/time-range.ts';
import { useZone } from '../../preference.ts';
import { Button } from '../button.tsx';
import { describedBy, Field } from '../form.tsx';
import type { RangePanelProps } from './range-panel.tsx';

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
export function AbsoluteForm({ value, onChange }: RangePanelProps) {
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

import { type ComponentProps, useId, useState } from 'react';
import { formatAgo, formatTime, fromField, toField, zoneName } from '../../format/show.ts';
import { useZone } from '../../preference.ts';
import { describedBy, Field, Input, useFault } from '../form.tsx';
import { QuietButton } from '../page-part.tsx';
import './time-control.css';

interface TimeControlProps {
  readonly id: string;
  readonly 'aria-describedby': string;
  readonly disabled?: boolean;
  readonly value: string;
  /** Shortcuts, in ms from now. */
  readonly picks: readonly (readonly [label: string, fromNowMs: number])[];
  /** The meaning of an empty value. */
  readonly clear: string;
  readonly onChange: (value: string) => void;
}

/** A date and a time in the displayed zone; the value is ISO 8601. */
export function TimeControl({ value, picks, clear, onChange, ...shared }: TimeControlProps) {
  const zone = useZone();
  const { disabled = false } = shared;
  return (
    <>
      <Input
        {...shared}
        type="datetime-local"
        step="1"
        value={toField(value, zone)}
        onChange={(text) => onChange(fromField(text, zone))}
      />
      <div className="time-picks">
        {picks.map(([label, fromNowMs]) => (
          <QuietButton
            key={label}
            disabled={disabled}
            onClick={() => onChange(`${new Date(Date.now() + fromNowMs).toISOString().slice(0, 19)}Z`)}
          >
            {label}
          </QuietButton>
        ))}
        <QuietButton disabled={disabled || value === ''} onClick={() => onChange('')}>
          {clear}
        </QuietButton>
        <span className="small muted">{zoneName(zone)}</span>
      </div>
    </>
  );
}

interface TimeFieldProps
  extends Pick<ComponentProps<typeof Field>, 'label' | 'help'>,
    Pick<TimeControlProps, 'picks' | 'clear'> {
  readonly name: string;
  readonly initial?: string;
}

/** A labelled time, which the form has under `name`. */
export function TimeField({ name, initial = '', picks, clear, ...about }: TimeFieldProps) {
  const id = useId();
  const [value, onChange] = useState(initial);
  const control = { id, 'aria-describedby': describedBy(id) };
  return (
    <Field id={id} fault={useFault(name)} {...about}>
      <input type="hidden" {...{ name, value }} />
      <TimeControl {...{ ...control, value, picks, clear, onChange }} />
    </Field>
  );
}

export function Instant({ iso }: { readonly iso: string | null }) {
  const zone = useZone();
  return iso === null ? '' : formatTime(Date.parse(iso), zone);
}

interface AgoProps {
  /** null: there is none. */
  readonly iso: string | null;
  /** By the clock of the service; by default that of this machine. */
  readonly nowMs?: number;
}

/** How long ago an instant is; the title has the instant itself. */
export function Ago({ iso, nowMs = Date.now() }: AgoProps) {
  const zone = useZone();
  if (iso === null) return '–';
  const ms = Date.parse(iso);
  return (
    <time dateTime={iso} title={`${formatTime(ms, zone)} ${zoneName(zone)}`}>
      {formatAgo(ms, nowMs)}
    </time>
  );
}

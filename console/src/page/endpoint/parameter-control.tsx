import { useId } from 'react';
import type { EndpointView } from '../../../../src/http/view.ts';
import { fromField, toField, zoneName } from '../../format/time.ts';
import { useZone } from '../../preference.ts';
import { describedBy } from '../../ui/field.tsx';

interface ParameterControlProps {
  readonly id: string;
  readonly parameter: EndpointView['parameters'][number];
  readonly value: string;
  readonly suggestions: readonly string[];
  readonly onChange: (value: string) => void;
}

/** The control that fits a parameter's type. */
export function ParameterControl({ id, parameter, value, suggestions, onChange }: ParameterControlProps) {
  const { type, required, values, pinned, default: fallback } = parameter;
  const list = useId();
  const shared = { id, 'aria-describedby': describedBy(id), className: 'input', disabled: pinned !== null };
  if (type === 'enum') {
    return (
      <select {...shared} value={value} onChange={(event) => onChange(event.target.value)}>
        {!required && fallback === '' && <option value="">any</option>}
        {!values.includes(value) && value !== '' && <option value={value}>{value}</option>}
        {values.map((one) => (
          <option key={one} value={one}>
            {one === fallback ? `${one} (default)` : one}
          </option>
        ))}
      </select>
    );
  }
  if (type === 'timestamp') return <TimeControl {...shared} value={value} onChange={onChange} />;
  return (
    <>
      <input
        {...shared}
        type="text"
        value={value}
        list={suggestions.length > 0 ? list : undefined}
        required={required}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
      />
      {suggestions.length > 0 && (
        <datalist id={list}>
          {suggestions.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </>
  );
}

const AGO = [
  ['15 min', 15 * 60_000],
  ['1 h', 3_600_000],
  ['1 d', 86_400_000],
] as const;

interface TimeControlProps {
  readonly id: string;
  readonly className: string;
  readonly disabled: boolean;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A date and a time in the zone that times are shown in; ISO 8601 outside. */
function TimeControl({ value, onChange, ...shared }: TimeControlProps) {
  const zone = useZone();
  return (
    <>
      <input
        {...shared}
        type="datetime-local"
        step="1"
        value={toField(value, zone)}
        onChange={(event) => onChange(fromField(event.target.value, zone))}
      />
      <div className="time-picks">
        {AGO.map(([label, ms]) => (
          <button
            key={label}
            type="button"
            className="button quiet"
            disabled={shared.disabled}
            onClick={() => onChange(`${new Date(Date.now() - ms).toISOString().slice(0, 19)}Z`)}
          >
            {label} ago
          </button>
        ))}
        <button
          type="button"
          className="button quiet"
          disabled={shared.disabled || value === ''}
          onClick={() => onChange('')}
        >
          Clear
        </button>
        <span className="small muted">{zoneName(zone)}</span>
      </div>
    </>
  );
}

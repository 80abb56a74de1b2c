import type { ReactNode } from 'react';
import { Options } from '../../../ui/form.tsx';
import { formatMeasure, MEASURES, type MeasureName, needsNumbers, parseMeasure, TOPS } from '../address.ts';
import { useExploring } from '../exploring.ts';
import type { FieldName } from '../fields.ts';

export function MeasureControl() {
  const { address, change, fields, groups } = useExploring();
  const { by, top } = address;
  const { name, field } = parseMeasure(address.measure);
  const choose = (next: MeasureName) => {
    const named = fieldsFor(next, fields);
    const kept = named.includes(field) ? field : (named[0] ?? '');
    change({ measure: formatMeasure({ name: next, field: kept }) });
  };
  return (
    <>
      <Choice
        name="Measure"
        value={name}
        onChange={(next) => choose(MEASURES.find((one) => one === next) ?? 'count')}
      >
        {MEASURES.map((one) => (
          <option key={one} disabled={one !== 'count' && fieldsFor(one, fields).length === 0}>
            {one}
          </option>
        ))}
      </Choice>
      {name !== 'count' && (
        <Choice
          label="of"
          value={field}
          onChange={(next) => change({ measure: formatMeasure({ name, field: next }) })}
        >
          <Options options={[field, ...fieldsFor(name, fields)]} />
        </Choice>
      )}
      <Choice label="by" value={by} onChange={(next) => change({ by: next })}>
        <Options options={[by, ...groups]} />
      </Choice>
      <Choice
        label="top"
        name="Number of series"
        value={String(top ?? '')}
        onChange={(next) => change({ top: next === '' ? undefined : Number(next) })}
      >
        <option value="">8</option>
        <Options options={TOPS.map(String)} />
      </Choice>
    </>
  );
}

interface ChoiceProps {
  readonly label?: string;
  /** As a reader hears it; the label by default. */
  readonly name?: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly children: ReactNode;
}

function Choice({ label, name = label, value, onChange, children }: ChoiceProps) {
  return (
    <label className="histogram-by small">
      {label !== undefined && <span className="muted">{label}</span>}
      <select
        className="input"
        aria-label={name}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      >
        {children}
      </select>
    </label>
  );
}

/** Columns of each event that no measure is about. */
const EACH_HAS = ['timestamp', 'metadata', 'event_message'];

/** The fields that a measure may be of: numbers, as far as it is known. */
function fieldsFor(name: MeasureName, fields: readonly FieldName[]): readonly string[] {
  const isFitting = ({ name: field, type }: FieldName) =>
    needsNumbers(name) ? type === 'integer' || type === 'number' : !EACH_HAS.includes(field);
  return fields.filter(isFitting).map(({ name: field }) => field);
}

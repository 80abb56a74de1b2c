import type { QueryFieldName } from '../completion.ts';
import { formatMeasure, MEASURES, type Measure, type MeasureName, needsNumbers, TOPS } from './measure.ts';

/** What the chart shows: everything of it is in the address. */
export interface ChartChoice {
  readonly measure: Measure;
  readonly by: string;
  /** How many series; undefined: as many as are easy to tell apart. */
  readonly top: number | undefined;
}

export type ChartChange = Partial<{ measure: string; by: string; top: number | undefined }>;

interface MeasureControlProps {
  readonly choice: ChartChoice;
  readonly fields: readonly QueryFieldName[];
  /** Names of fields whose values may be few. */
  readonly groups: readonly string[];
  readonly onChange: (change: ChartChange) => void;
}

/** Chooses what is drawn of the events, by which field, and how many series. */
export function MeasureControl({ choice, fields, groups, onChange }: MeasureControlProps) {
  const { measure, by, top } = choice;
  const { name, field } = measure;
  const choose = (next: MeasureName) => {
    const named = fieldsFor(next, fields);
    const kept = named.includes(field) ? field : (named[0] ?? '');
    onChange({ measure: formatMeasure({ name: next, field: kept }) });
  };
  return (
    <>
      <label className="histogram-by small">
        <select
          className="input"
          aria-label="Measure"
          value={name}
          onChange={({ target }) => choose(MEASURES.find((one) => one === target.value) ?? 'count')}
        >
          {MEASURES.map((one) => (
            <option key={one} disabled={one !== 'count' && fieldsFor(one, fields).length === 0}>
              {one}
            </option>
          ))}
        </select>
      </label>
      {name !== 'count' && (
        <Choice
          label="of"
          value={field}
          options={fieldsFor(name, fields)}
          onChange={(next) => onChange({ measure: formatMeasure({ name, field: next }) })}
        />
      )}
      <Choice label="by" value={by} options={groups} onChange={(next) => onChange({ by: next })} />
      <label className="histogram-by small">
        <span className="muted">top</span>
        <select
          className="input"
          aria-label="Number of series"
          value={top ?? ''}
          onChange={({ target }) => onChange({ top: target.value === '' ? undefined : Number(target.value) })}
        >
          <option value="">8</option>
          {TOPS.map((count) => (
            <option key={count}>{count}</option>
          ))}
        </select>
      </label>
    </>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly string[];
  readonly onChange: (value: string) => void;
}

function Choice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <label className="histogram-by small">
      <span className="muted">{label}</span>
      <select
        className="input"
        aria-label={label}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      >
        {[...new Set([value, ...options])].map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    </label>
  );
}

/** Columns of each event that no measure is about. */
const EACH_HAS = ['timestamp', 'metadata', 'event_message'];

/** The fields that a measure may be of: numbers, as far as it is known. */
function fieldsFor(name: MeasureName, fields: readonly QueryFieldName[]): readonly string[] {
  const isFitting = ({ name: field, type }: QueryFieldName) =>
    needsNumbers(name) ? type === 'integer' || type === 'number' : !EACH_HAS.includes(field);
  return fields.filter(isFitting).map(({ name: field }) => field);
}

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { showText } from '../../format/log-text.ts';
import { formatShort } from '../../format/number.ts';
import { QuietButton } from '../button.tsx';
import { exclude, termOf } from './line.ts';

export interface FieldValue {
  readonly value: string;
  readonly count: number;
}

/** The query for the most frequent values of a field, as a search writes its name. */
export type ValuesOf = (field: string) => {
  readonly queryKey: readonly unknown[];
  readonly queryFn: (context: { readonly signal: AbortSignal }) => Promise<readonly FieldValue[]>;
};

export interface FieldListProps {
  readonly fields: readonly { readonly name: string; readonly description?: string }[];
  readonly valuesOf: ValuesOf;
  readonly columns: readonly string[];
  readonly onFilter: (term: string) => void;
  readonly onColumn: (field: string) => void;
  /** Counts the lines by a field. */
  readonly onBy?: ((field: string) => void) | undefined;
}

/** The fields of the sources; each opens to its top values in the search. */
export function FieldList({ fields, ...actions }: FieldListProps) {
  const [filter, setFilter] = useState('');
  const [open, setOpen] = useState<string>();
  const shown = useMemo(
    () => fields.filter(({ name }) => name.toLowerCase().includes(filter.trim().toLowerCase())),
    [fields, filter],
  );
  return (
    <aside className="field-list" aria-label="Fields">
      <input
        className="input"
        type="search"
        aria-label="Find a field"
        placeholder="Find a field"
        value={filter}
        onChange={({ target }) => setFilter(target.value)}
      />
      <ul>
        {shown.map(({ name, description }) => (
          <li key={name}>
            <button
              type="button"
              className="field-name"
              title={description}
              aria-expanded={open === name}
              onClick={() => setOpen(open === name ? undefined : name)}
            >
              {showText(name)}
            </button>
            {open === name && <TopValues field={name} {...actions} />}
          </li>
        ))}
      </ul>
      {shown.length === 0 && <p className="small muted">No field has this in its name.</p>}
    </aside>
  );
}

type FieldActionsProps = Omit<FieldListProps, 'fields'> & { readonly field: string };

/** The 20 most frequent values of a field, counted exactly. */
export function TopValues({ field, ...actions }: FieldActionsProps) {
  // The values of before stay while the range moves on.
  const { data: values, error } = useQuery({ ...actions.valuesOf(field), placeholderData: keepPreviousData });
  return (
    <div className="field-values">
      <FieldActions field={field} {...actions} />
      {error !== null && <p className="small tone-bad">{error.message}</p>}
      {error === null && values === undefined && <p className="small muted">Counting…</p>}
      {values?.length === 0 && <p className="small muted">No event in the range has a value.</p>}
      <FieldValueList field={field} values={values ?? []} onFilter={actions.onFilter} />
    </div>
  );
}

/** What can be done with a field as a whole. */
export function FieldActions({ field, columns, onColumn, onBy }: FieldActionsProps) {
  return (
    <div>
      <QuietButton onClick={() => onColumn(field)}>
        {columns.includes(field) ? 'Remove column' : 'Add as column'}
      </QuietButton>
      {onBy !== undefined && <QuietButton onClick={() => onBy(field)}>Count by it</QuietButton>}
    </div>
  );
}

interface FieldValueListProps extends Pick<FieldListProps, 'onFilter'> {
  readonly field: string;
  /** The most frequent first. */
  readonly values: readonly FieldValue[];
}

/** Values of a field with their counts; a click searches for one, or for all others. */
export function FieldValueList({ field, values, onFilter }: FieldValueListProps) {
  const most = values[0]?.count ?? 1;
  return (
    <ul>
      {values.map(({ value, count }) => (
        <li key={value} className="field-value">
          <button
            type="button"
            className="field-filter"
            title={showText(`Filter for ${field}: ${value}`)}
            onClick={() => onFilter(termOf(field, value))}
          >
            <span className="field-text">{showText(value) || '(empty)'}</span>
            <span className="number muted">{formatShort(count)}</span>
            <progress value={count} max={most} aria-hidden="true" />
          </button>
          <QuietButton
            aria-label={`Exclude ${value}`}
            title="Exclude"
            onClick={() => onFilter(exclude(termOf(field, value)))}
          >
            −
          </QuietButton>
        </li>
      ))}
    </ul>
  );
}

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { showText } from '../../../format/log-text.ts';
import { formatShort } from '../../../format/number.ts';
import { QuietButton } from '../../../ui/button.tsx';
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
  readonly onBy: (field: string) => void;
}

interface FieldFrameProps<T> {
  readonly fields: readonly T[];
  readonly nameOf: (field: T) => string;
  /** Beside the name. */
  readonly facts?: (field: T) => ReactNode;
  /** Shown below a field that is open. */
  readonly details: (field: T) => ReactNode;
  /** Between the search for a field and the list. */
  readonly note?: ReactNode;
  readonly below?: ReactNode;
}

/** A list of fields, which can be searched for; each opens to what is known about it. */
export function FieldFrame<T>({ fields, nameOf, facts, details, note, below }: FieldFrameProps<T>) {
  const [filter, setFilter] = useState('');
  const [open, setOpen] = useState<string>();
  const wanted = filter.trim().toLowerCase();
  const shown = fields.filter((field) => nameOf(field).toLowerCase().includes(wanted));
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
      {note}
      <ul>
        {shown.map((field) => {
          const name = nameOf(field);
          return (
            <li key={name}>
              <button
                type="button"
                className="field-name"
                aria-expanded={open === name}
                onClick={() => setOpen(open === name ? undefined : name)}
              >
                {showText(name)}
                {facts?.(field)}
              </button>
              {open === name && details(field)}
            </li>
          );
        })}
      </ul>
      {shown.length === 0 && fields.length > 0 && (
        <p className="small muted">No field has this in its name.</p>
      )}
      {below}
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
      <QuietButton onClick={() => onBy(field)}>Count by it</QuietButton>
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

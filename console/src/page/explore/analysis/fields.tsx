import { useMemo, useState } from 'react';
import type { Row } from '../../../api/answer.ts';
import { formatCount, formatPercent, formatShort, showText } from '../../../format/show.ts';
import { Input } from '../../../ui/form.tsx';
import { QuietButton } from '../../../ui/page-part.tsx';
import { toFieldValue, UNIQUE, useExploring } from '../exploring.ts';
import { termOf } from '../lines/line.ts';
import { searchPath } from '../search.ts';
import './analysis.css';
import { AnalysisNote, TermButtons, useAnalysis } from './use-analysis.tsx';

/** The fields of the events found, by usefulness; each opens to its values. Those that no event has are left out. */
export function FieldList() {
  const { search, fields } = useExploring();
  const found = useAnalysis(searchPath(search, search, { part: 'fields' }), toSummary);
  const [filter, setFilter] = useState('');
  const [open, setOpen] = useState<string>();
  const ranked = useMemo(() => rankFields(found.rows ?? []), [found.rows]);
  const known = new Set(ranked.map(({ field }) => field));
  const absent = fields.filter(({ name }) => !known.has(name) && !UNIQUE.includes(name)).length;
  const wanted = filter.trim().toLowerCase();
  const shown = ranked.filter(({ field }) => field.toLowerCase().includes(wanted));
  return (
    <aside className="field-list" aria-label="Fields">
      <Input
        type="search"
        aria-label="Find a field"
        placeholder="Find a field"
        value={filter}
        onChange={setFilter}
      />
      <AnalysisNote analysis={found} doing="Reading fields" none="No event matches." />
      <ul>
        {shown.map((summary) => {
          const { field, coverage } = summary;
          return (
            <li key={field}>
              <button
                type="button"
                className="field-name"
                aria-expanded={open === field}
                onClick={() => setOpen(open === field ? undefined : field)}
              >
                {showText(field)}
                <span className="field-facts muted">
                  {formatPercent(coverage)} · {describeValues(summary)}
                </span>
              </button>
              {open === field && <Summary {...{ summary, isSample: found.sampled !== undefined }} />}
            </li>
          );
        })}
      </ul>
      {shown.length === 0 && ranked.length > 0 && (
        <p className="small muted">No field has this in its name.</p>
      )}
      {found.rows !== undefined && absent > 0 && (
        <p className="small muted">{absent} known fields are in none of these events.</p>
      )}
    </aside>
  );
}

function describeValues({ distinct, min, max }: FieldSummary): string {
  if (min !== null && max !== null && distinct > 1) return `${formatShort(min)} – ${formatShort(max)}`;
  return `${formatCount(distinct)} ${distinct === 1 ? 'value' : 'values'}`;
}

function Summary({ summary, isSample }: { readonly summary: FieldSummary; readonly isSample: boolean }) {
  const { address, change, toggleColumn, valuesPath } = useExploring();
  const { field, distinct, top, p50, p95 } = summary;
  const [isExact, setExact] = useState(false);
  const exact = useAnalysis(isExact ? valuesPath(field) : undefined, toFieldValue);
  const values = (isExact ? exact.rows : undefined) ?? top; // the most frequent first
  return (
    <div className="field-values">
      <div>
        <QuietButton onClick={() => toggleColumn(field)}>
          {address.columns.includes(field) ? 'Remove column' : 'Add as column'}
        </QuietButton>
        <QuietButton onClick={() => change({ by: field })}>Count by it</QuietButton>
      </div>
      {p50 !== null && p95 !== null && (
        <p className="small muted number">
          p50 {formatShort(p50)} · p95 {formatShort(p95)}
        </p>
      )}
      {exact.error !== null && <p className="small tone-bad">{exact.error.message}</p>}
      <ul>
        {values.map(({ value, count }) => (
          <li key={value} className="field-value">
            <TermButtons
              term={termOf(field, value)}
              name={value}
              title={showText(`Filter for ${field}: ${value}`)}
            >
              <span className="field-text">{showText(value) || '(empty)'}</span>
              <span className="number muted">{formatShort(count)}</span>
              <progress value={count} max={values[0]?.count ?? 1} aria-hidden="true" />
            </TermButtons>
          </li>
        ))}
      </ul>
      {!isExact && (isSample || distinct > top.length) && (
        <QuietButton onClick={() => setExact(true)}>{isSample ? 'Count exactly' : 'More values'}</QuietButton>
      )}
    </div>
  );
}

/** What `part=fields` says of a field (docs/search.md). */
type FieldSummary = ReturnType<typeof toSummary>;

function toSummary(row: Row) {
  const number = (name: string) => (row[name] === null || row[name] === undefined ? null : Number(row[name]));
  const top = Array.isArray(row['top']) ? (row['top'] as readonly Row[]) : []; // a list of { value, count }
  return {
    field: String(row['field']),
    /** Share of the events that have a value, 0 to 1. */
    coverage: Number(row['coverage']),
    distinct: Number(row['distinct']),
    top: top.map(toFieldValue),
    ...{ min: number('min'), max: number('max'), p50: number('p50'), p95: number('p95') },
  };
}

/** Values that a reader still sees at a glance. */
const FEW = 50;
const CONSTANT = 0.1;
const MANY = 0.3;

/** The fields of the result, the most useful first: those that most events have, with few enough values to tell events apart. */
function rankFields(fields: readonly FieldSummary[]): readonly FieldSummary[] {
  return fields
    .filter(({ coverage }) => coverage > 0)
    .toSorted((a, b) => usefulness(b) - usefulness(a) || a.field.localeCompare(b.field));
}

function usefulness({ coverage, distinct, p50 }: FieldSummary): number {
  if (distinct <= 1) return coverage * CONSTANT;
  // Numbers have a range, however many values they have.
  return distinct <= FEW || p50 !== null ? coverage : coverage * MANY;
}

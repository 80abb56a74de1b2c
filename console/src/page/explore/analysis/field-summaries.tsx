import { useMemo, useState } from 'react';
import type { Row } from '../../../api/answer.ts';
import { formatCount, formatPercent, formatShort } from '../../../format/number.ts';
import { QuietButton } from '../../../ui/button.tsx';
import {
  FieldActions,
  FieldFrame,
  type FieldListProps,
  FieldValueList,
  TopValues,
} from '../lines/field-list.tsx';
import { type Search, searchPath } from '../search/search.ts';
import './analysis.css';
import { AnalysisNote, useAnalysis } from './use-analysis.tsx';

export interface FieldSummariesProps extends FieldListProps {
  readonly search: Search;
}

/** The fields of the events found, by usefulness; each opens to its values. Those that no event has are left out. */
export function FieldSummaries({ search, fields, ...actions }: FieldSummariesProps) {
  const found = useAnalysis(searchPath(search, search, { part: 'fields' }), toSummary);
  const ranked = useMemo(() => rankFields(found.rows ?? []), [found.rows]);
  const known = new Set(ranked.map(({ field }) => field));
  const absent = fields.filter(({ name }) => !known.has(name) && !EACH_HAS.includes(name)).length;
  return (
    <FieldFrame
      fields={ranked}
      nameOf={({ field }) => field}
      note={<AnalysisNote analysis={found} doing="Reading fields" none="No event matches." />}
      facts={(summary) => (
        <span className="field-facts muted">
          {formatPercent(summary.coverage)} · {describeValues(summary)}
        </span>
      )}
      details={(summary) => <Summary {...{ summary, isSample: found.sampled !== undefined }} {...actions} />}
      below={
        found.rows !== undefined &&
        absent > 0 && <p className="small muted">{absent} known fields are in none of these events.</p>
      }
    />
  );
}

/** Columns of each event that no summary is about. */
const EACH_HAS = ['id', 'timestamp', 'event_message', 'metadata'];

function describeValues({ distinct, min, max }: FieldSummary): string {
  if (min !== null && max !== null && distinct > 1) return `${formatShort(min)} – ${formatShort(max)}`;
  return `${formatCount(distinct)} ${distinct === 1 ? 'value' : 'values'}`;
}

interface SummaryProps extends Omit<FieldListProps, 'fields'> {
  readonly summary: FieldSummary;
  readonly isSample: boolean;
}

function Summary({ summary, isSample, ...actions }: SummaryProps) {
  const { field, distinct, top, p50, p95 } = summary;
  const [isExact, setExact] = useState(false);
  if (isExact) return <TopValues field={field} {...actions} />;
  return (
    <div className="field-values">
      <FieldActions field={field} {...actions} />
      {p50 !== null && p95 !== null && (
        <p className="small muted number">
          p50 {formatShort(p50)} · p95 {formatShort(p95)}
        </p>
      )}
      <FieldValueList field={field} values={top} onFilter={actions.onFilter} />
      {(isSample || distinct > top.length) && (
        <QuietButton onClick={() => setExact(true)}>{isSample ? 'Count exactly' : 'More values'}</QuietButton>
      )}
    </div>
  );
}

function toSummary(row: Row): FieldSummary {
  const number = (name: string) => (row[name] === null || row[name] === undefined ? null : Number(row[name]));
  const top = Array.isArray(row['top']) ? (row['top'] as readonly Row[]) : []; // a list of { value, count }
  return {
    field: String(row['field']),
    coverage: Number(row['coverage']),
    distinct: Number(row['distinct']),
    top: top.map(({ value, count }) => ({ value: String(value), count: Number(count) })),
    ...{ min: number('min'), max: number('max'), p50: number('p50'), p95: number('p95') },
  };
}

/** What `part=fields` says of a field (docs/search.md). */
interface FieldSummary {
  readonly field: string;
  /** Share of the events that have a value, 0 to 1. */
  readonly coverage: number;
  readonly distinct: number;
  readonly top: readonly { readonly value: string; readonly count: number }[];
  readonly min: number | null;
  readonly max: number | null;
  readonly p50: number | null;
  readonly p95: number | null;
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

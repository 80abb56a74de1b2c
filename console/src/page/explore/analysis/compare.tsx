import type { Row } from '../../../api/answer.ts';
import { showText } from '../../../format/log-text.ts';
import { formatCount, formatPercent } from '../../../format/number.ts';
import { QuietButton } from '../../../ui/button.tsx';
import { Empty } from '../../../ui/note.tsx';
import { Segmented } from '../../../ui/tabs.tsx';
import type { ExploreAddress } from '../address.ts';
import { exclude, termOf } from '../lines/line.ts';
import { type Search, searchPath } from '../search/search.ts';
import { AnalysisNote, useAnalysis } from './use-analysis.tsx';
import './analysis.css';
import { type CompareSets, divide, listKinds } from './compare-sets.ts';

interface CompareProps {
  readonly address: ExploreAddress;
  readonly search: Search;
  readonly onChange: (change: Partial<ExploreAddress>) => void;
  readonly onFilter: (term: string) => void;
}

const KINDS = {
  range: 'Marked range',
  errors: 'Errors',
  search: 'This search',
} as const;
const ROWS = '100';

/** What is different about some of the events: which values of which fields they have more, or less often than the others. */
export function Compare({ address, search, onChange, onFilter }: CompareProps) {
  const asked = { q: search.q, mark: address.mark };
  const sets = divide(asked, address.compare);
  const options = listKinds(asked).map((id) => ({ id, label: KINDS[id] }));
  return (
    <section className="panel analysis" aria-label="Compare">
      <div className="analysis-bar">
        {sets !== undefined && options.length > 1 && (
          <Segmented
            label="Compare with the rest"
            options={options}
            selected={sets.kind}
            onSelect={(compare) => onChange({ compare })}
          />
        )}
        <span className="small muted">
          {sets !== undefined && `Compares ${sets.label} with ${sets.otherLabel}. `}
          Drag over the chart to mark a range.
        </span>
        {address.mark !== '' && (
          <QuietButton onClick={() => onChange({ mark: '' })}>Remove the mark</QuietButton>
        )}
      </div>
      {sets === undefined ? (
        <Empty title="Nothing to compare">
          Mark a range in the chart, or search for the events that differ from the others.
        </Empty>
      ) : (
        <Differences {...{ sets, search, onFilter }} />
      )}
    </section>
  );
}

interface DifferencesProps {
  readonly sets: CompareSets;
  readonly search: Search;
  readonly onFilter: (term: string) => void;
}

function Differences({ sets, search, onFilter }: DifferencesProps) {
  const { q, against } = sets;
  const more = { part: 'compare', limit: ROWS, ...(against !== undefined && { against }) };
  const found = useAnalysis(searchPath({ ...search, q }, search, more), toDifference);
  return (
    <>
      <AnalysisNote
        analysis={found}
        doing="Comparing"
        none={`Nothing sets ${sets.label} apart from ${sets.otherLabel}, or one of both has no events.`}
      />
      <div className="analysis-scroll">
        <ol aria-label="Differences, most telling first">
          {found.rows?.map((row) => (
            <DifferenceRow key={`${row.field} ${row.value}`} {...{ row, sets, onFilter }} />
          ))}
        </ol>
      </div>
    </>
  );
}

interface Difference {
  readonly field: string;
  /** Null: events without a value. */
  readonly value: string | null;
  readonly count: number;
  readonly share: number;
  readonly againstCount: number;
  readonly againstShare: number;
}

interface DifferenceRowProps extends Omit<DifferencesProps, 'search'> {
  readonly row: Difference;
}

function DifferenceRow({ row, sets, onFilter }: DifferenceRowProps) {
  const { field, value, count, share, againstCount, againstShare } = row;
  const term = termOf(field, value);
  const shown = value === null ? 'no value' : showText(value) || '(empty)';
  return (
    <li className="compare-difference">
      <span className="compare-difference-name">
        <span className="compare-difference-field">{showText(field)}</span>
        <button
          type="button"
          className="field-filter"
          title={`Filter for ${term}`}
          onClick={() => onFilter(term)}
        >
          {shown}
        </button>
        <QuietButton
          aria-label={`Exclude ${field} ${shown}`}
          title="Exclude"
          onClick={() => onFilter(exclude(term))}
        >
          −
        </QuietButton>
      </span>
      <span className="compare-difference-shares">
        <Share label={sets.label} {...{ share, count }} />
        <Share label={sets.otherLabel} share={againstShare} count={againstCount} isOther />
      </span>
    </li>
  );
}

interface ShareProps {
  readonly label: string;
  readonly share: number;
  readonly count: number;
  readonly isOther?: boolean;
}

function Share({ label, share, count, isOther = false }: ShareProps) {
  return (
    <span
      className={isOther ? 'compare-share is-other' : 'compare-share'}
      title={`${formatCount(count)} events`}
    >
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect className="compare-share-all" width="100" height="8" />
        <rect className="compare-share-part" width={share * 100} height="8" />
      </svg>
      <span className="number">{formatPercent(share)}</span>
      <span className="small muted">{label}</span>
    </span>
  );
}

/** A value that is as frequent in both sets is no difference. */
function toDifference(row: Row): Difference | undefined {
  if (row['share'] === row['against_share']) return undefined;
  return {
    field: String(row['field']),
    value: row['value'] === null ? null : String(row['value']),
    count: Number(row['count']),
    share: Number(row['share']),
    againstCount: Number(row['against_count']),
    againstShare: Number(row['against_share']),
  };
}

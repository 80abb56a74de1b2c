import type { Row } from '../../../api/answer.ts';
import { joinSearches } from '../../../format/search-text.ts';
import { formatCount, formatPercent, showText } from '../../../format/show.ts';
import { Empty, QuietButton, Segmented } from '../../../ui/page-part.tsx';
import { type ExploreAddress, parseMark } from '../address.ts';
import { TERM } from '../completion.ts';
import { useExploring } from '../exploring.ts';
import { termOf } from '../lines/line.ts';
import { searchPath } from '../search.ts';
import { AnalysisNote, TermButtons, useAnalysis } from './use-analysis.tsx';
import './analysis.css';

const ROWS = '100';

/** What is different about some of the events: which values of which fields they have more, or less often than the others. */
export function Compare() {
  const { address, change, search } = useExploring();
  const all = listSets(search.q, address.mark);
  const sets = all.find(({ id }) => id === address.compare) ?? all[0];
  return (
    <section className="panel analysis" aria-label="Compare">
      <div className="row analysis-bar">
        {sets !== undefined && all.length > 1 && (
          <Segmented<CompareSets['id']>
            label="Compare with the rest"
            options={Object.fromEntries(all.map(({ id, label }) => [id, label]))}
            selected={sets.id}
            onSelect={(compare) => change({ compare })}
          />
        )}
        <span className="small muted">
          {sets !== undefined && `Compares ${sets.name} with ${sets.otherName}. `}
          Drag over the chart to mark a range.
        </span>
        {address.mark !== '' && (
          <QuietButton onClick={() => change({ mark: '' })}>Remove the mark</QuietButton>
        )}
      </div>
      {sets === undefined ? (
        <Empty title="Nothing to compare">
          Mark a range in the chart, or search for the events that differ from the others.
        </Empty>
      ) : (
        <Differences sets={sets} />
      )}
    </section>
  );
}

interface CompareSets {
  readonly id: Exclude<ExploreAddress['compare'], ''>;
  readonly label: string;
  readonly q: string;
  /** A search; undefined: all events that `q` does not find. */
  readonly against?: string;
  readonly name: string;
  readonly otherName: string;
}

const ERRORS = 'level:>=error';

/** The sets that the events of a search can be divided into; the first are the default. */
function listSets(q: string, mark: string): readonly CompareSets[] {
  const marked = parseMark(mark);
  const range = marked && {
    ...{ id: 'range' as const, label: 'Marked range', name: 'the marked range', otherName: 'the rest' },
    q: joinSearches([q, `timestamp:>=${marked.from} timestamp:<${marked.until}`]),
    against: joinSearches([q, `timestamp:<${marked.from} or timestamp:>=${marked.until}`]),
  };
  const fields = [...q.matchAll(TERM)].map(({ groups }) => groups?.['field'] ?? '');
  const errors = !fields.some((field) => ['level', '"level"'].includes(field)) && {
    ...{ id: 'errors' as const, label: 'Errors', name: 'errors', otherName: 'the rest' },
    q: joinSearches([q, ERRORS]),
    against: joinSearches([q, `-${ERRORS}`]),
  };
  const searched = q.trim() !== '' && {
    ...{ id: 'search' as const, label: 'This search', q },
    ...{ name: 'what is searched for', otherName: 'all else' },
  };
  return [range, errors, searched].filter((sets) => typeof sets === 'object');
}

function Differences({ sets }: { readonly sets: CompareSets }) {
  const { search } = useExploring();
  const { q, against } = sets;
  const more = { part: 'compare', limit: ROWS, ...(against !== undefined && { against }) };
  const found = useAnalysis(searchPath({ ...search, q }, search, more), toDifference);
  return (
    <>
      <AnalysisNote
        analysis={found}
        doing="Comparing"
        none={`Nothing sets ${sets.name} apart from ${sets.otherName}, or one of both has no events.`}
      />
      <div className="analysis-scroll">
        <ol aria-label="Differences, most telling first">
          {found.rows?.map((row) => (
            <DifferenceRow key={`${row.field} ${row.value}`} {...{ row, sets }} />
          ))}
        </ol>
      </div>
    </>
  );
}

type Difference = NonNullable<ReturnType<typeof toDifference>>;

function DifferenceRow({ row, sets }: Readonly<{ row: Difference; sets: CompareSets }>) {
  const { field, value, count, share, againstCount, againstShare } = row;
  const shown = value === null ? 'no value' : showText(value) || '(empty)';
  return (
    <li className="compare-difference">
      <span className="compare-difference-name">
        <span className="compare-difference-field">{showText(field)}</span>
        <TermButtons term={termOf(field, value)} name={`${field} ${shown}`}>
          {shown}
        </TermButtons>
      </span>
      <span className="compare-difference-shares">
        <Share label={sets.name} {...{ share, count }} />
        <Share label={sets.otherName} share={againstShare} count={againstCount} isOther />
      </span>
    </li>
  );
}

function Share(props: Readonly<{ label: string; share: number; count: number; isOther?: boolean }>) {
  const { label, share, count, isOther = false } = props;
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
function toDifference(row: Row) {
  if (row['share'] === row['against_share']) return undefined;
  return {
    field: String(row['field']),
    /** Null: events without a value. */
    value: row['value'] === null ? null : String(row['value']),
    count: Number(row['count']),
    share: Number(row['share']),
    againstCount: Number(row['against_count']),
    againstShare: Number(row['against_share']),
  };
}

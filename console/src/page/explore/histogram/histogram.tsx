import { useMemo, useState } from 'react';
import { showText } from '../../../format/log-text.ts';
import { formatCount, formatShort } from '../../../format/number.ts';
import { type Zone, zoneName } from '../../../format/time.ts';
import { formatSpan } from '../../../format/time-axis.ts';
import { useZone } from '../../../preference.ts';
import { ErrorNote } from '../../../ui/error-note.tsx';
import { exclude, termOf } from '../../../ui/lines/term.ts';
import { isRefused } from '../../../ui/lines/use-work.ts';
import { WorkNote } from '../../../ui/lines/work-note.tsx';
import type { Search } from '../search/search.ts';
import { BarChart } from './bar-chart.tsx';
import type { Histogram } from './use-histogram.ts';
import './histogram.css';
import { type BarSeries, type Bars, toBars } from './series.ts';

interface HistogramPanelProps {
  readonly histogram: Histogram;
  /** Fields to choose from for the series. */
  readonly fields: readonly string[];
  readonly onBy: (field: string) => void;
  readonly onZoom: (fromMs: number, untilMs: number) => void;
  /** Called with a term that selects the events of a series. */
  readonly onFilter: (term: string) => void;
}

/** Events over time, stacked by the values of a field. */
export function HistogramPanel({ histogram, fields, onBy, onZoom, onFilter }: HistogramPanelProps) {
  const { counts, search, by, isOld, state } = histogram;
  const zone = useZone();
  const [at, setAt] = useState<number>();
  const bars = useMemo(() => toBars(counts, search, by), [counts, search, by]);
  return (
    <section className="panel histogram" aria-label="Events over time">
      <div className="histogram-head">
        <span className="number">
          <strong>{histogram.slicesRead === 0 ? '–' : formatCount(bars.total)}</strong>{' '}
          <span className="muted">{describeTotal(histogram, bars.total)}</span>
        </span>
        <label className="histogram-by small">
          <span className="muted">by</span>
          <select className="input" value={by} onChange={({ target }) => onBy(target.value)}>
            {[...new Set([by, ...fields])].map((field) => (
              <option key={field}>{field}</option>
            ))}
          </select>
        </label>
        <WorkNote
          state={state}
          doing="Counting"
          progress={histogram}
          onResume={histogram.resume}
          what="The counts"
        />
        <span className="histogram-time small muted number">
          {at === undefined || bars.starts[at] === undefined
            ? `times in ${zoneName(zone)}`
            : describeBucket(bars, at, { search, zone })}
        </span>
      </div>
      {state.kind === 'failed' && isRefused(state) && <ErrorNote error={state.error} />}
      <div className={isOld ? 'histogram-body old' : 'histogram-body'}>
        <BarChart
          counted={{
            bars,
            widthMs: search.widthMs,
            countedBackToMs: histogram.slicesRead < histogram.slices ? histogram.backToMs : -Infinity,
          }}
          at={at}
          onPoint={setAt}
          onZoom={onZoom}
        />
        <ul className="histogram-legend" aria-label="Series">
          {bars.series.map((series) => (
            <LegendEntry key={series.label} {...{ series, by, at, onFilter }} />
          ))}
          {bars.partial.includes(true) && bars.total > 0 && (
            <li className="histogram-entry muted">fainter: partial</li>
          )}
        </ul>
      </div>
    </section>
  );
}

function describeTotal({ slicesRead, slices, isOld, state }: Histogram, total: number): string {
  if (slicesRead === slices || slicesRead === 0 || isOld) return total === 1 ? 'event' : 'events';
  return state.kind === 'running' ? 'events so far' : 'events counted, not all';
}

function describeBucket({ starts, partial }: Bars, at: number, { search, zone }: Shown): string {
  const { widthMs, fromMs, untilMs } = search;
  const start = starts[at] ?? 0;
  const range = { from: fromMs / 1000, until: untilMs / 1000 };
  const span = { from: start / 1000, until: (start + widthMs) / 1000 };
  return `${formatSpan(span, { zone, range })}${partial[at] === true ? ' · partial' : ''}`;
}

interface Shown {
  readonly search: Search;
  readonly zone: Zone;
}

interface LegendEntryProps {
  readonly series: BarSeries;
  readonly by: string;
  readonly at: number | undefined;
  readonly onFilter: (term: string) => void;
}

/** A click searches for its events, with Alt for all others. */
function LegendEntry({ series, by, at, onFilter }: LegendEntryProps) {
  const { value, label, color, alpha, counts, total } = series;
  const content = (
    <>
      <span
        className="histogram-swatch"
        style={{ background: `color-mix(in srgb, var(--${color}) ${alpha * 100}%, var(--surface))` }}
      />
      <span className="histogram-label">{showText(label)}</span>
      <span className="number">{formatShort(at === undefined ? total : (counts[at] ?? 0))}</span>
    </>
  );
  if (value === undefined) return <li className="histogram-entry">{content}</li>;
  const term = termOf(by, value);
  return (
    <li>
      <button
        type="button"
        className="button quiet histogram-entry"
        title={`Filter for ${term}; with Alt exclude it`}
        onClick={({ altKey }) => onFilter(altKey ? exclude(term) : term)}
      >
        {content}
      </button>
    </li>
  );
}

import { type ComponentProps, useMemo, useState } from 'react';
import { formatCount, formatIso, formatShort, formatTime, showText, zoneName } from '../../../format/show.ts';
import { useZone } from '../../../preference.ts';
import { type Chart, describeAt, type Selection } from '../../../ui/chart/chart.ts';
import { Plot } from '../../../ui/chart/plot.tsx';
import { ErrorNote, QuietButton } from '../../../ui/page-part.tsx';
import { formatMeasure, MEASURES, type MeasureName, parseMark, parseMeasure, TOPS } from '../address.ts';
import { type FieldName, useExploring } from '../exploring.ts';
import { exclude, termOf } from '../lines/line.ts';
import { hasOlder, isRejected, readBackTo, WorkNote } from '../lines/use-work.tsx';
import { searchPath, toRange } from '../search.ts';
import { type BarSeries, type Bars, type Histogram, toBars } from './use-histogram.ts';
import './histogram.css';
import type { Row } from '../../../api/answer.ts';
import { Select } from '../../../ui/form.tsx';
import { useAnalysis } from '../analysis/use-analysis.tsx';

export function HistogramPanel() {
  const { address, change, histogram } = useExploring();
  const { counts, search, chart, isOld, state } = histogram;
  const deploys = useDeploys();
  const onZoom: OnRange = (fromMs, untilMs) => change({ range: toRange(fromMs, untilMs) });
  const onMark: OnRange = (fromMs, untilMs) =>
    change({ view: 'compare', compare: 'range', mark: `${formatIso(fromMs)}/${formatIso(untilMs)}` });
  const zone = useZone();
  const [at, setAt] = useState<number | null>(null);
  const [selected, setSelected] = useState<Selection>();
  const bars = useMemo(() => toBars(counts, search, chart), [counts, search, chart]);
  const drawn = useDrawn(bars, deploys);
  const choose = ({ first, last }: Selection, act: OnRange) => {
    const [start, end] = [bars.starts[first], bars.starts[last]];
    setSelected(undefined);
    if (start !== undefined && end !== undefined) act(start, end + search.widthMs);
  };
  return (
    <section className="panel histogram" aria-label="Events over time">
      <div className="row histogram-head">
        <span className="number">
          <strong>{histogram.slicesRead === 0 ? '–' : formatCount(bars.total)}</strong>{' '}
          <span className="muted">{describeTotal(histogram, bars.total)}</span>
        </span>
        <MeasureControl />
        <WorkNote
          state={state}
          doing="Counting"
          progress={histogram}
          onResume={histogram.resume}
          what="The counts"
        />
        <span className="histogram-time small muted number">
          {at === null || bars.starts[at] === undefined
            ? `times in ${zoneName(zone)}`
            : describeAt(bars, at, zone)}
        </span>
      </div>
      {state.kind === 'failed' && isRejected(state) && <ErrorNote error={state.error} />}
      <div className={isOld ? 'histogram-body is-old' : 'histogram-body'}>
        <Plot
          chart={drawn}
          heightPx={HEIGHT_PX}
          label="Events over time: arrow keys walk through the time buckets, with Shift they select some, Enter zooms to them, m marks them to compare"
          {...{ at, selected }}
          onPoint={setAt}
          onSelect={(next, { by, isShift }) => {
            if (by === 'keys') setSelected(next);
            else if (by !== 'click' && next !== undefined)
              choose(next, isShift || address.view === 'compare' ? onMark : onZoom);
          }}
          onKey={(key) => {
            const last = at ?? bars.starts.length - 1;
            if (key === 'm') choose(selected ?? { first: last, last }, onMark);
          }}
          onFocus={() => setSelected(undefined)}
        />
        <ul className="histogram-legend" aria-label="Series">
          {bars.series.map((series) => (
            <LegendEntry key={series.label} {...{ series, at }} />
          ))}
          <DeployEntries {...{ deploys, onZoom }} />
          {bars.partial.size > 0 && bars.total > 0 && (
            <li className="histogram-entry muted">
              hatched: {[...new Set(bars.partial.values())].join(', ')}
            </li>
          )}
        </ul>
      </div>
    </section>
  );
}

type OnRange = (fromMs: number, untilMs: number) => void;

const HEIGHT_PX = 116;

function useDrawn(bars: Bars, deploys: readonly Deploy[]): Chart {
  const { address, histogram } = useExploring();
  const mark = parseMark(address.mark);
  const [from, until] = [mark?.fromMs, mark?.untilMs];
  const countedBackToMs = hasOlder(histogram) ? readBackTo(histogram) : undefined;
  return useMemo(() => {
    const { starts, spans, partial, series, areLines } = bars;
    const shade = <T,>(fromMs: number | undefined, untilMs: number | undefined, color: T) =>
      fromMs === undefined || untilMs === undefined
        ? []
        : [{ from: fromMs / 1000, until: untilMs / 1000, color }];
    return {
      title: 'Events over time',
      ...{ spans, partial },
      series: series.toReversed(), // the first one is drawn on top of the others
      stacked: !areLines,
      format: formatShort,
      summary: () => '',
      shades: [
        ...shade(starts[0] ?? 0, countedBackToMs, 'sunken' as const),
        ...shade(from, until, 'accent-soft' as const),
      ],
      instants: deploys.map(({ ms }) => ms / 1000),
    };
  }, [bars, countedBackToMs, from, until, deploys]);
}

function describeTotal(histogram: Histogram, total: number): string {
  const { slicesRead, isOld, state } = histogram;
  if (!hasOlder(histogram) || slicesRead === 0 || isOld) return total === 1 ? 'event' : 'events';
  return state.kind === 'running' ? 'events so far' : 'events counted, not all';
}

/** Values that cannot be added have no total; null is a time bucket without a number. */
function describeValue(value: number | null | undefined): string {
  return value === undefined ? '' : value === null ? '–' : formatShort(value);
}

/** A click searches for its events, with Alt for all others. */
function LegendEntry({ series, at }: { readonly series: BarSeries; readonly at: number | null }) {
  const { filter, histogram } = useExploring();
  const { value, label, color, alpha, values, total } = series;
  const content = (
    <>
      <span
        className="histogram-swatch"
        style={{ background: `color-mix(in srgb, var(--${color}) ${alpha * 100}%, var(--surface))` }}
      />
      <span className="histogram-label">{showText(label)}</span>
      <span className="number">{describeValue(at === null ? total : values[at])}</span>
    </>
  );
  if (value === undefined) return <li className="histogram-entry">{content}</li>;
  const term = termOf(histogram.chart.by, value);
  return (
    <li>
      <QuietButton
        className="histogram-entry"
        title={`Filter for ${term}; with Alt exclude it`}
        onClick={({ altKey }) => filter(altKey ? exclude(term) : term)}
      >
        {content}
      </QuietButton>
    </li>
  );
}

const SHOWN_MAX = 4;
const AROUND_MS = 15 * 60_000;

function DeployEntries({ deploys, onZoom }: Readonly<{ deploys: readonly Deploy[]; onZoom: OnRange }>) {
  const zone = useZone();
  const others = deploys.length - SHOWN_MAX;
  return (
    <>
      {deploys.slice(0, SHOWN_MAX).map(({ key, ms, text }) => (
        <li key={key}>
          <QuietButton
            className="histogram-entry"
            title="Zoom to the time around this deployment"
            onClick={() => onZoom(ms - AROUND_MS, ms + AROUND_MS)}
          >
            <span className="histogram-dashes" aria-hidden="true" />
            <span className="visually-hidden">Deployment </span>
            <span className="number">{formatTime(ms, zone).slice(11, 16)}</span>
            <span className="histogram-label">{showText(text)}</span>
          </QuietButton>
        </li>
      ))}
      {others > 0 && <li className="histogram-entry muted">{others} earlier deployments</li>}
    </>
  );
}

type Deploy = ReturnType<typeof toDeploy>;

/** As many as a chart can show apart from each other. */
const DEPLOYS_MAX = '50';
const NONE: readonly Deploy[] = [];

/** The deployments in the range of a search, newest first: events of the source that the operator names for them. */
function useDeploys(): readonly Deploy[] {
  const { sources, search } = useExploring();
  const source = sources.find(({ marks_deploys }) => marks_deploys)?.name;
  const path = source && searchPath({ ...search, q: '', source: [source] }, search, { limit: DEPLOYS_MAX });
  return useAnalysis(path, toDeploy).rows ?? NONE;
}

function toDeploy(row: Row) {
  const { id, timestamp, event_message: text } = row;
  return { key: `${id} ${timestamp}`, ms: Number(timestamp) / 1_000, text: String(text).slice(0, 80) };
}

function MeasureControl() {
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
        aria-label="Measure"
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
          options={[field, ...fieldsFor(name, fields)]}
        />
      )}
      <Choice label="by" value={by} onChange={(next) => change({ by: next })} options={[by, ...groups]} />
      <Choice
        label="top"
        aria-label="Number of series"
        value={String(top ?? '')}
        onChange={(next) => change({ top: next === '' ? undefined : Number(next) })}
        options={[['', '8'], ...TOPS.map(String)]}
      />
    </>
  );
}

function Choice({ label, ...select }: ComponentProps<typeof Select> & { readonly label?: string }) {
  return (
    <label className="histogram-by small">
      {label !== undefined && <span className="muted">{label}</span>}
      <Select aria-label={label} {...select} />
    </label>
  );
}

/** Columns of each event that no measure is about. */
const EACH_HAS = ['timestamp', 'metadata', 'event_message'];

/** The fields that a measure may be of: numbers, as far as it is known. */
function fieldsFor(name: MeasureName, fields: readonly FieldName[]): readonly string[] {
  const isFitting = ({ name: field, type }: FieldName) =>
    name === 'distinct' ? !EACH_HAS.includes(field) : type === 'integer' || type === 'number';
  return fields.filter(isFitting).map(({ name: field }) => field);
}

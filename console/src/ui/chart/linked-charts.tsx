import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { formatSpan, type Span } from '../../format/time-axis.ts';
import { useZone } from '../../preference.ts';
import type { Chart, Selection } from './chart.ts';
import { TimeChart } from './time-chart.tsx';

interface LinkedChartsProps {
  /** Charts of the same spans. */
  readonly charts: readonly Chart[];
  /** Path of the lines of a range, of a series if it has a search; undefined: they cannot be read. */
  readonly linesOf?: (span: Span, search?: string) => string | undefined;
  /** The reason why `linesOf` returns none. */
  readonly noLines?: string | undefined;
}

/** Charts with one cursor, selection and zoom. A selection offers its lines, next to the title of the chart that it was made in. */
export function LinkedCharts({ charts, linesOf, noLines }: LinkedChartsProps) {
  const [at, setAt] = useState<number | null>(null);
  const [selected, setSelected] = useState<Selected>();
  const [zoom, setZoom] = useState<Selection>();
  const spans = charts[0]?.spans;
  // biome-ignore lint/correctness/useExhaustiveDependencies: places in other spans mean nothing in these
  useEffect(() => {
    setAt(null);
    setSelected(undefined);
    setZoom(undefined);
  }, [spans]);
  return (
    <div className="charts">
      {charts.map((chart) => (
        <TimeChart
          key={chart.title}
          chart={chart}
          at={at}
          onPoint={setAt}
          selected={selected}
          onSelect={(next, opens) => setSelected(next && { ...next, opens, title: chart.title })}
          zoom={zoom}
          onReset={() => {
            setZoom(undefined);
            setSelected(undefined);
          }}
        >
          {selected?.title !== chart.title ? undefined : (
            <SelectionBar
              key={`${selected.first} ${selected.last}`}
              chart={chart}
              selected={selected}
              linesOf={linesOf}
              noLines={noLines}
              onZoom={() => {
                setZoom(selected);
                setSelected(undefined);
              }}
              onClose={() => setSelected(undefined)}
            />
          )}
        </TimeChart>
      ))}
    </div>
  );
}

interface Selected extends Selection {
  /** Whether the focus goes to the bar. */
  readonly opens: boolean;
  /** Title of the chart. */
  readonly title: string;
}

interface SelectionBarProps {
  readonly chart: Chart;
  readonly selected: Selected;
  readonly linesOf: LinkedChartsProps['linesOf'] | undefined;
  readonly noLines: string | undefined;
  readonly onZoom: () => void;
  readonly onClose: () => void;
}

function SelectionBar({ chart, selected, linesOf, noLines, onZoom, onClose }: SelectionBarProps) {
  const zone = useZone();
  const bar = useRef<HTMLDivElement>(null);
  const { opens } = selected;
  useEffect(() => {
    if (opens) bar.current?.querySelector<HTMLElement>('a, button')?.focus();
  }, [opens]);
  const { spans, series } = chart;
  const [first, last] = [spans[selected.first], spans[selected.last]];
  if (first === undefined || last === undefined) return null;
  const span = { from: first.from, until: last.until };
  const range = { from: spans[0]?.from ?? 0, until: spans.at(-1)?.until ?? 0 };
  const text = formatSpan(span, { zone, range });
  const close = () => {
    bar.current?.closest('figure')?.querySelector<HTMLElement>('[role="application"]')?.focus();
    onClose();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') close();
  };
  const lines = span.until > span.from ? linesOf?.(span) : undefined;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is of a form
    <div className="chart-bar" role="group" aria-label={`Selected: ${text}`} ref={bar} onKeyDown={onKeyDown}>
      <span className="number small" role="status">
        {text}
      </span>
      {lines === undefined ? (
        noLines !== undefined && <span className="small muted">{noLines}</span>
      ) : (
        <>
          <Link className="button primary small-button" href={lines}>
            Show the lines
          </Link>
          {series.map(({ label, search }) => (
            <SeriesLink key={label} label={label} href={search && linesOf?.(span, search)} />
          ))}
        </>
      )}
      {selected.last > selected.first && (
        <button type="button" className="button small-button" onClick={onZoom}>
          Zoom
        </button>
      )}
      <button type="button" className="button quiet" aria-label="Close the selection" onClick={close}>
        ✕
      </button>
    </div>
  );
}

interface SeriesLinkProps {
  readonly label: string;
  /** The search of a series; without one it has no link to lines. */
  readonly href: string | undefined;
}

function SeriesLink({ label, href }: SeriesLinkProps) {
  if (!href) return null;
  return (
    <Link className="button small-button" href={href} aria-label={`Show the lines: ${label}`}>
      {label}
    </Link>
  );
}

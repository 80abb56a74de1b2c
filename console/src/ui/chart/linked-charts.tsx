import {
  createContext,
  type KeyboardEvent,
  type ReactNode,
  use,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react';
import { Link } from 'wouter';
import { formatSpan, type Span } from '../../format/range.ts';
import { zoneName } from '../../format/show.ts';
import { useZone } from '../../preference.ts';
import { Button, QuietButton } from '../page-part.tsx';
import { type Chart, describeAt, findPlace, findSelection, rangeOf, type Selection } from './chart.ts';
import { Plot, type PlotProps } from './plot.tsx';
import './time-chart.css';

/** Where the lines of charts are. */
export interface LineLinks {
  /** Path of the lines of a range, of a series if it has a search; undefined: they cannot be read. */
  readonly linesOf?: ((span: Span, search?: string) => string | undefined) | undefined;
  /** The reason why `linesOf` returns none. */
  readonly noLines?: string | undefined;
}

interface LinkedChartProps extends LineLinks, Pick<PlotProps, 'chart' | 'heightPx'> {
  /** Whether something around the chart shows its title; screen readers have it all the same. */
  readonly hidesTitle?: boolean;
}

/** Values over time, with a legend of those at the cursor, which is linked by `LinkCharts`. A selection offers its lines. */
export function LinkedChart({ chart, heightPx, hidesTitle = false, ...lines }: LinkedChartProps) {
  const id = useId();
  const zone = useZone();
  const { at: instant, setAt, zoom, setZoom, selected, setSelected } = use(LinksContext);
  const [hasFocus, setHasFocus] = useState(false);
  const tag = useRef<HTMLSpanElement>(null);
  const { spans, title } = chart;
  const at = findPlace(spans, instant);
  const selection = useSelection(spans, selected);
  const isHere = selected?.chart === id && selection !== undefined;
  const onReset = () => {
    setZoom(undefined);
    setSelected(undefined);
  };
  return (
    <figure className="chart" aria-labelledby={id}>
      <figcaption className="row chart-head">
        <h3 id={id} className={isHere || hidesTitle ? 'visually-hidden' : ''}>
          {title}
        </h3>
        {isHere && (
          <SelectionBar
            key={`${selection.first} ${selection.last}`}
            {...{ chart, selection, ...lines }}
            opens={selected.opens}
            onZoom={() => {
              setZoom(selected);
              setSelected(undefined);
            }}
            onClose={() => setSelected(undefined)}
          />
        )}
        {!isHere && !hidesTitle && <span className="small muted">times in {zoneName(zone)}</span>}
        {zoom !== undefined && <QuietButton onClick={onReset}>Reset zoom</QuietButton>}
      </figcaption>
      <Legend chart={chart} at={at} isLive={hasFocus} />
      <div className="chart-frame">
        <Plot
          {...{ chart, at, heightPx, onReset }}
          label={`${title}: arrow keys move through the times, with Shift they select a range, Enter opens it`}
          onPoint={(next) => setAt(next === null ? null : (spans[next]?.from ?? null))}
          selected={selection}
          onSelect={(next, { by }) => {
            const span = next && toSpan(spans, next);
            setSelected(span && { ...span, chart: id, opens: by === 'enter' });
          }}
          zoom={useSelection(spans, zoom)}
          onFocus={setHasFocus}
          onCursor={(left, width) => {
            if (tag.current === null) return;
            const { offsetWidth } = tag.current;
            const most = width - offsetWidth;
            tag.current.style.left = `${Math.max(0, Math.min(left - offsetWidth / 2, most))}px`;
          }}
        />
        <span className="chart-time small number" ref={tag} aria-hidden="true">
          {at !== null && describeAt(chart, at, zone)}
        </span>
      </div>
    </figure>
  );
}

function toSpan(spans: readonly Span[], { first, last }: Selection): Span | undefined {
  const [start, end] = [spans[first], spans[last]];
  return start && end && { from: start.from, until: end.until };
}

/** The places of a stretch of time: the same object while they are the same, since effects depend on it. */
function useSelection(spans: readonly Span[], stretch: Span | undefined): Selection | undefined {
  return useMemo(() => findSelection(spans, stretch), [spans, stretch]);
}

interface SelectionBarProps extends LineLinks {
  readonly chart: Chart;
  readonly selection: Selection;
  readonly opens: boolean;
  readonly onZoom: () => void;
  readonly onClose: () => void;
}

function SelectionBar(props: SelectionBarProps) {
  const { chart, selection, opens, linesOf, noLines, onZoom, onClose } = props;
  const zone = useZone();
  const bar = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (opens) bar.current?.querySelector<HTMLElement>('a, button')?.focus();
  }, [opens]);
  const { spans, series } = chart;
  const span = toSpan(spans, selection);
  if (span === undefined) return null;
  const text = formatSpan(span, { zone, range: rangeOf(spans) });
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
    <div
      className="row chart-bar"
      role="group"
      aria-label={`Selected: ${text}`}
      ref={bar}
      onKeyDown={onKeyDown}
    >
      <span className="number small" role="status">
        {text}
      </span>
      {lines === undefined ? (
        noLines !== undefined && <span className="small muted">{noLines}</span>
      ) : (
        <>
          <Link className="button is-primary chart-button" href={lines}>
            Show the lines
          </Link>
          {series.map(({ label, search }) => {
            const href = search && linesOf?.(span, search);
            return href ? (
              <Link
                key={label}
                className="button chart-button"
                href={href}
                aria-label={`Show the lines: ${label}`}
              >
                {label}
              </Link>
            ) : null;
          })}
        </>
      )}
      {selection.last > selection.first && (
        <Button className="chart-button" onClick={onZoom}>
          Zoom
        </Button>
      )}
      <QuietButton aria-label="Close the selection" onClick={close}>
        ✕
      </QuietButton>
    </div>
  );
}

interface SelectedSpan extends Span {
  /** Id of the chart in which it was selected. */
  readonly chart: string;
  /** Whether the focus goes to what the selection offers. */
  readonly opens: boolean;
}

const LinksContext = createContext<ReturnType<typeof useLinks>>(undefined as never); // LinkCharts is around each chart

/** What several charts share; all in seconds since the epoch, since their spans may differ. */
function useLinks() {
  /** Where the cursor is; null: nowhere. */
  const [at, setAt] = useState<number | null>(null);
  const [zoom, setZoom] = useState<Span>();
  const [selected, setSelected] = useState<SelectedSpan>();
  return useMemo(() => ({ at, setAt, zoom, setZoom, selected, setSelected }), [at, zoom, selected]);
}

/** Charts below it have one cursor, selection and zoom. */
export function LinkCharts({ children }: { readonly children: ReactNode }) {
  return <LinksContext value={useLinks()}>{children}</LinksContext>;
}

function Legend({ chart, at, isLive }: Pick<PlotProps, 'chart' | 'at'> & { readonly isLive: boolean }) {
  const zone = useZone();
  const { partial, series, thresholds = [], format, summary } = chart;
  return (
    <ul className="chart-legend" aria-live={isLive ? 'polite' : 'off'}>
      {series.map((one) => {
        const value = at === null ? undefined : one.values[at];
        return (
          <li key={one.label}>
            <span
              className={`chart-swatch is-${one.kind ?? 'area'}`}
              style={{ color: `var(--${one.color})` }}
            />
            <span className="muted">{one.label}</span>
            <span className="number chart-legend-value">
              {value === undefined ? summary(one.values) : value === null ? '–' : format(value)}
            </span>
          </li>
        );
      })}
      {thresholds.map(({ label, color }) => (
        <li key={label}>
          <span className="chart-swatch is-dashed" style={{ color: `var(--${color})` }} />
          <span className="muted">{label}</span>
        </li>
      ))}
      {[...new Set(partial.values())].map((reason) => (
        <li key={reason}>
          <span className="chart-swatch is-partial" />
          <span className="muted">{reason}</span>
        </li>
      ))}
      {at !== null && <li className="visually-hidden">{describeAt(chart, at, zone)}</li>}
    </ul>
  );
}

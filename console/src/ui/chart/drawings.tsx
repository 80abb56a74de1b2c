import { useMemo } from 'react';
import type { Row } from '../../api/answer.ts';
import { showText } from '../../format/log-text.ts';
import { useZone } from '../../preference.ts';
import { Sparkline } from '../sparkline.tsx';
import { DataTable, toColumns } from '../table/data-table.tsx';
import './drawing.css';
import type { Columns } from './answer-range.ts';
import type { Bar, BigNumber, Drawing } from './draw.ts';
import { type LineLinks, LinkCharts, LinkedChart } from './linked-charts.tsx';

interface DrawingsProps extends LineLinks {
  readonly drawings: readonly Drawing[];
  readonly rows: readonly Row[];
  /** Names of the columns of times. */
  readonly times: ReadonlySet<string>;
}

/** Every chart of an answer, below one another or side by side. */
export function Drawings({ drawings, rows, times, ...lines }: DrawingsProps) {
  return (
    <LinkCharts>
      <div className="charts">
        {drawings.map((drawing, i) =>
          drawing.kind === 'time' ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: the charts of an endpoint have an order, and titles may be equal
            <LinkedChart key={i} chart={drawing.chart} {...lines} />
          ) : (
            // biome-ignore lint/suspicious/noArrayIndexKey: as above
            <section key={i} className="drawing" aria-label={drawing.title || drawing.kind}>
              {drawing.title !== '' && <h3>{drawing.title}</h3>}
              <PlainDrawing drawing={drawing} rows={rows} times={times} />
            </section>
          ),
        )}
      </div>
    </LinkCharts>
  );
}

interface PlainDrawingProps extends Pick<DrawingsProps, 'rows' | 'times'> {
  readonly drawing: Exclude<Drawing, { readonly kind: 'time' }>;
}

/** A chart without an axis of time. */
export function PlainDrawing({ drawing, rows, times }: PlainDrawingProps) {
  if (drawing.kind === 'bars') return <BarList title={drawing.title} bars={drawing.bars} />;
  if (drawing.kind === 'number') return <BigNumbers numbers={drawing.numbers} />;
  return <RowTable caption={drawing.title} columns={drawing.columns} rows={rows} times={times} />;
}

interface RowTableProps extends Pick<DrawingsProps, 'rows' | 'times'> {
  readonly caption: string;
  readonly columns: Columns;
}

function RowTable({ caption, columns, rows, times }: RowTableProps) {
  const zone = useZone();
  const shown = useMemo(() => toColumns(columns, { zone, times }), [columns, zone, times]);
  return <DataTable caption={caption === '' ? 'Rows' : `Rows: ${caption}`} rows={rows} columns={shown} />;
}

interface BarListProps {
  readonly title: string;
  readonly bars: readonly Bar[];
}

/** Horizontal bars, from zero to the greatest value. */
function BarList({ title, bars }: BarListProps) {
  const max = Math.max(Number.MIN_VALUE, ...bars.map(({ value }) => Math.abs(value)));
  return (
    <ul className="bar-list" aria-label={title}>
      {bars.map(({ label, value, text, color, note }) => (
        <li key={label}>
          <span className="bar-label" title={label}>
            {showText(label)}
          </span>
          <span className="bar-value number">
            {text}
            {note !== undefined && <span className="small tone-bad"> {note}</span>}
          </span>
          <span className="bar-track" aria-hidden="true">
            <span className={`bar-fill is-${color}`} style={{ width: `${(Math.abs(value) / max) * 100}%` }} />
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Numbers that are read from afar, each with its trend if it has one. */
function BigNumbers({ numbers }: { readonly numbers: readonly BigNumber[] }) {
  return (
    <dl className="big-numbers">
      {numbers.map(({ label, text, note, tone, trend }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd className={tone === undefined ? 'big-number' : `big-number tone-${tone}`}>{text}</dd>
          {note !== undefined && (
            <dd className={`small ${tone === undefined ? 'muted' : `tone-${tone}`}`}>{note}</dd>
          )}
          {trend.length > 1 && (
            <dd className="big-trend">
              <Sparkline
                values={trend}
                points={trend.length}
                label={`Trend of ${label}`}
                tone={tone === 'bad' ? 'data-bad' : 'data-1'}
              />
            </dd>
          )}
        </div>
      ))}
    </dl>
  );
}

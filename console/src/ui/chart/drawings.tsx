import { useMemo } from 'react';
import type { Row } from '../../api/answer.ts';
import { useZone } from '../../preference.ts';
import { toColumns } from '../table/answer-columns.tsx';
import { DataTable } from '../table/data-table.tsx';
import { BarList } from './bar-list.tsx';
import { BigNumbers } from './big-numbers.tsx';
import { LinkCharts } from './chart-links.tsx';
import type { Columns, Drawing } from './draw.ts';
import './drawing.css';
import { type LineLinks, LinkedChart } from './linked-charts.tsx';

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

import { useMemo } from 'react';
import { formatJson } from '../../api/answer.ts';
import { showText } from '../../format/show.ts';
import { Code } from '../code.tsx';
import { Empty, Tabs } from '../page-part.tsx';
import { Sparkline } from '../sparkline.tsx';
import { DataTable } from '../table/data-table.tsx';
import './drawing.css';
import { type Bar, type BigNumber, type Drawing, toDrawing } from './draw.ts';
import type { Drawable } from './drawable.ts';
import { type LineLinks, LinkCharts, LinkedChart } from './linked-charts.tsx';

interface AnswerProps {
  readonly drawn: Drawable & LineLinks;
}

function Drawings({ drawn }: AnswerProps) {
  const { linesOf, noLines } = drawn;
  const drawings = useMemo(() => drawn.charts.map((chart) => toDrawing(chart, drawn)), [drawn]);
  return (
    <LinkCharts>
      <div className="charts">
        {drawings.map((drawing, i) =>
          drawing.kind === 'time' ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: the charts of an endpoint have an order, and titles may be equal
            <LinkedChart key={i} chart={drawing.chart} {...{ linesOf, noLines }} />
          ) : (
            // biome-ignore lint/suspicious/noArrayIndexKey: as above
            <section key={i} className="drawing" aria-label={drawing.title || drawing.kind}>
              {drawing.title !== '' && <h3>{drawing.title}</h3>}
              <PlainDrawing {...{ drawing, drawn }} />
            </section>
          ),
        )}
      </div>
    </LinkCharts>
  );
}

interface PlainDrawingProps {
  readonly drawing: Exclude<Drawing, { readonly kind: 'time' }>;
  readonly drawn: Drawable;
}

export function PlainDrawing({ drawing, drawn }: PlainDrawingProps) {
  if (drawing.kind === 'bars') return <BarList title={drawing.title} bars={drawing.bars} />;
  if (drawing.kind === 'number') return <BigNumbers numbers={drawing.numbers} />;
  const { title, columns } = drawing;
  const { rows, times } = drawn;
  const caption = title === '' ? 'Rows' : `Rows: ${title}`;
  return <DataTable {...{ caption, columns, rows, times }} />;
}

export type View = keyof typeof VIEWS;

const UNDRAWN = { table: 'Table', json: 'JSON' } as const;
const VIEWS = { chart: 'Chart', ...UNDRAWN } as const;

interface AnswerViewsProps extends AnswerProps {
  /** Undefined, or one that the answer does not have: the first one. */
  readonly view: View | undefined;
  readonly onView: (view: View) => void;
}

/** The rows of an answer: as charts if it has some, as a table, and as JSON. */
export function AnswerViews({ view, onView, drawn }: AnswerViewsProps) {
  const { rows, columns, times } = drawn;
  const first = drawn.charts.length > 0 ? 'chart' : 'table';
  const shown = view === undefined || view === 'chart' ? first : view;
  return (
    <Tabs label="View" options={first === 'chart' ? VIEWS : UNDRAWN} selected={shown} onSelect={onView}>
      {shown === 'json' ? (
        <Code text={formatJson(rows)} label="The answer as JSON" />
      ) : rows.length === 0 ? (
        <Empty title="No rows">
          No rows match these values. Check the project, choose a longer range, or see in the overview whether
          events arrive.
        </Empty>
      ) : shown === 'table' ? (
        <DataTable caption="Rows of the answer" {...{ columns, rows, times }} />
      ) : (
        <Drawings drawn={drawn} />
      )}
    </Tabs>
  );
}

function BarList({ title, bars }: { readonly title: string; readonly bars: readonly Bar[] }) {
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
            <span
              className="bar-fill"
              style={{ width: `${(Math.abs(value) / max) * 100}%`, background: `var(--${color})` }}
            />
          </span>
        </li>
      ))}
    </ul>
  );
}

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

import { type CSSProperties, type KeyboardEvent, type PointerEvent, useState } from 'react';
import { showText } from '../../../format/show.ts';
import { ownMember } from '../../../format/values.ts';
import { usePreference } from '../../../preference.ts';
import { useExploring } from '../exploring.ts';

export const HEADER_PX = 28;

const PARTS = [
  ['time', 'Time'],
  ['level', 'Level'],
  ['source', 'Source'],
] as const;

/** What the parts of a line are; a click removes a chosen column, its edge changes the width. */
export function LineHeader({ widths }: { readonly widths: ColumnWidths }) {
  const { address, toggleColumn } = useExploring();
  const { columns } = address;
  return (
    <div className={columns.length === 0 ? 'line-header is-plain' : 'line-header'}>
      {PARTS.map(([column, label]) => (
        <span key={column} className={`line-${column}`}>
          {label}
          <ColumnResizer {...{ label, column, widths }} />
        </span>
      ))}
      {columns.map((field) => (
        <span key={field} className="line-cell" style={widths.cellOf(field)}>
          <button
            type="button"
            className="line-remove"
            aria-label={`Remove the column ${field}`}
            title={`Remove the column ${field}`}
            onClick={() => toggleColumn(field)}
          >
            {showText(field)} <span aria-hidden="true">×</span>
          </button>
          <ColumnResizer label={showText(field)} column={columnOf(field)} widths={widths} />
        </span>
      ))}
      <span className="line-message">Message</span>
    </div>
  );
}

/** Widths in rem, so that they grow with the text. */
const WIDTH = { min: 2, max: 60 };
/** From the middle of a resizer to the edge of its column. */
const HALF = 0.25;

/** The edge of a column: drag it, or use arrow keys, Home and End; a double click or Delete returns to the first width. */
function ColumnResizer(props: Readonly<{ label: string; column: string; widths: ColumnWidths }>) {
  const { label, column, widths } = props;
  const width = widths.of(column);
  const onDrag = ({ buttons, clientX, currentTarget: { parentElement } }: PointerEvent) => {
    if (buttons === 0 || parentElement === null) return;
    const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
    widths.drag(column, (clientX - parentElement.getBoundingClientRect().left) / rem + HALF);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const keys = { ArrowLeft: width - 1, ArrowRight: width + 1, Home: WIDTH.min, End: WIDTH.max };
    const to = ownMember<number>(keys, event.key);
    if (to === undefined && event.key !== 'Delete') return;
    event.preventDefault();
    widths.keep(column, to);
  };
  return (
    <hr
      className="line-resizer"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={`Width of ${label}`}
      aria-valuenow={Math.round(width)}
      aria-valuemin={WIDTH.min}
      aria-valuemax={WIDTH.max}
      title="Drag to change the width; double-click to reset it"
      onKeyDown={onKeyDown}
      onDoubleClick={() => widths.keep(column, undefined)}
      onPointerDown={({ currentTarget, pointerId }) => currentTarget.setPointerCapture(pointerId)}
      onPointerMove={onDrag}
      onPointerUp={() => widths.keep(column, width)}
    />
  );
}

declare module 'react' {
  interface CSSProperties {
    [name: `--${string}`]: string;
  }
}

/** Widths that users have changed; more are forgotten, the oldest first. */
const KEPT_MAX = 100;

const FIRST_WIDTHS: Readonly<Record<string, number>> = { time: 12.25, level: 2.75, source: 9.5 };
const FIELD_WIDTH = 8.75;
const MESSAGE_WIDTH_MIN = 14;
const GAP = 0.75;

/** The name under which the width of a field's column is kept: a field may be named as a part of each line is. */
function columnOf(field: string): string {
  return `field:${field}`;
}

export type ColumnWidths = ReturnType<typeof useColumnWidths>;

export function useColumnWidths() {
  const { columns } = useExploring().address;
  const { preference, change } = usePreference();
  const [dragged, setDragged] = useState<Readonly<Record<string, number>>>({});
  const firstOf = (column: string) => ownMember(FIRST_WIDTHS, column) ?? FIELD_WIDTH;
  const of = (column: string) => ownMember({ ...preference.widths, ...dragged }, column) ?? firstOf(column);
  const shown = [...PARTS.map(([column]) => column), ...columns.map(columnOf)];
  const line = shown.reduce((sum, column) => sum + of(column) + GAP, MESSAGE_WIDTH_MIN + 2 * GAP);
  const parts = PARTS.map(([column]) => [`--${column}`, `${of(column)}rem`]);
  return {
    of,
    style: { '--line': `${line}rem`, ...Object.fromEntries(parts) } satisfies CSSProperties,
    cellOf: (field: string): CSSProperties => ({ '--cell': `${of(columnOf(field))}rem` }),
    /** Shows a width until it is kept. */
    drag: (column: string, width: number) => setDragged({ [column]: bound(width) }),
    /** Keeps a width; `undefined` is the one that the column had at first. */
    keep(column: string, width = firstOf(column)) {
      setDragged({});
      const { [column]: _, ...others } = preference.widths;
      const all = Object.entries(width === firstOf(column) ? others : { ...others, [column]: bound(width) });
      change({ widths: Object.fromEntries(all.slice(-KEPT_MAX)) });
    },
  };
}

function bound(width: number): number {
  return Math.max(WIDTH.min, Math.min(WIDTH.max, width));
}

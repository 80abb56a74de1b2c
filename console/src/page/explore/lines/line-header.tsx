import { type CSSProperties, useState } from 'react';
import { showText } from '../../../format/log-text.ts';
import { ownMember } from '../../../format/own.ts';
import { usePreference } from '../../../preference.ts';
import { type Bounds, Resizer, remPixels } from '../../../ui/resizer.tsx';
import type { LineActions } from './record.tsx';

export const HEADER_PX = 28;

interface LineHeaderProps extends Pick<LineActions, 'columns' | 'onColumn'> {
  readonly widths: ColumnWidths;
}

/** What the parts of a line are; a click removes a chosen column, its edge changes the width. */
export function LineHeader({ columns, widths, onColumn }: LineHeaderProps) {
  return (
    <div className={columns.length === 0 ? 'line-header is-plain' : 'line-header'}>
      {PARTS.map(([column, label]) => (
        <span key={column} className={`line-${column}`}>
          {label}
          <ColumnResizer {...{ label, column, widths }} />
        </span>
      ))}
      {columns.map((field) => (
        <span key={field} className="line-cell" style={{ '--cell': `${widths.of(columnOf(field))}rem` }}>
          <button
            type="button"
            className="line-remove"
            aria-label={`Remove the column ${field}`}
            title={`Remove the column ${field}`}
            onClick={() => onColumn(field)}
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

const PARTS = [
  ['time', 'Time'],
  ['level', 'Level'],
  ['source', 'Source'],
] as const;

interface ColumnResizerProps {
  /** As a reader hears it. */
  readonly label: string;
  readonly column: string;
  readonly widths: ColumnWidths;
}

/** The edge of a column. */
function ColumnResizer({ label, column, widths }: ColumnResizerProps) {
  return (
    <Resizer
      className="line-resizer"
      orientation="vertical"
      label={`Width of ${label}`}
      size={widths.of(column)}
      bounds={widths.bounds}
      pixelsOf={remPixels}
      onChange={(width, isLast) => widths.change(column, width, isLast)}
    />
  );
}

declare module 'react' {
  interface CSSProperties {
    '--cell'?: string;
    '--level'?: string;
    '--line'?: string;
    '--source'?: string;
    '--time'?: string;
  }
}

/** Widths in rem, so that they grow with the text. */
const BOUNDS = { min: 2, max: 60 };
/** Widths that users have changed; more are forgotten, the oldest first. */
const KEPT_MAX = 100;

const FIRST_WIDTHS: Readonly<Record<string, number>> = { time: 12.25, level: 2.75, source: 9.5 };
const FIELD_WIDTH = 8.75;
const MESSAGE_WIDTH_MIN = 14;
const GAP = 0.75;

/** The name under which the width of a field's column is kept: a field may be named as a part of each line is. */
export function columnOf(field: string): string {
  return `field:${field}`;
}

export interface ColumnWidths {
  readonly bounds: Bounds;
  of(column: string): number;
  /** Shows a width within the bounds; `isLast` keeps it. `undefined` is the width that it had at first. */
  readonly change: (column: string, width: number | undefined, isLast: boolean) => void;
  /** The style of a list with these fields as columns. */
  toStyle(fields: readonly string[]): CSSProperties;
}

/** The widths of the columns of lines in this browser. */
export function useColumnWidths(): ColumnWidths {
  const { preference, change } = usePreference();
  const [dragged, setDragged] = useState<Readonly<Record<string, number>>>({});
  const of = (column: string) =>
    ownMember(dragged, column) ??
    ownMember(preference.widths, column) ??
    ownMember(FIRST_WIDTHS, column) ??
    FIELD_WIDTH;
  return {
    bounds: BOUNDS,
    of,
    change(column, width, isLast) {
      setDragged(isLast || width === undefined ? {} : { [column]: width });
      if (isLast) change({ widths: withWidth(preference.widths, column, width) });
    },
    toStyle(fields) {
      const columns = [...PARTS.map(([column]) => column), ...fields.map(columnOf)];
      const line = columns.reduce((sum, column) => sum + of(column) + GAP, MESSAGE_WIDTH_MIN + 2 * GAP);
      return {
        '--time': `${of('time')}rem`,
        '--level': `${of('level')}rem`,
        '--source': `${of('source')}rem`,
        '--line': `${line}rem`,
      };
    },
  };
}

function withWidth(widths: Readonly<Record<string, number>>, column: string, width: number | undefined) {
  const others = Object.entries(widths).filter(([name]) => name !== column);
  const all = width === undefined ? others : [...others, [column, width] as const];
  return Object.fromEntries(all.slice(-KEPT_MAX));
}

import { type CSSProperties, type KeyboardEvent, type PointerEvent, useRef, useState } from 'react';
import { showText } from '../../../format/log-text.ts';
import { ownMember } from '../../../format/own.ts';
import { usePreference } from '../../../preference.ts';
import type { LineActions } from './record.tsx';

export const HEADER_PX = 28;

const PARTS = [
  ['time', 'Time'],
  ['level', 'Level'],
  ['source', 'Source'],
] as const;

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

/** Widths in rem, so that they grow with the text. */
const WIDTH = { min: 2, max: 60 };

interface ColumnResizerProps {
  /** As a reader hears it. */
  readonly label: string;
  readonly column: string;
  readonly widths: ColumnWidths;
}

/** The edge of a column: drag it, or use arrow keys, Home and End; a double click or Delete returns to the first width. */
function ColumnResizer({ label, column, widths }: ColumnResizerProps) {
  const drag = useRef<{ readonly at: number; readonly width: number }>(undefined);
  const width = widths.of(column);
  const change = (to: number | undefined, isLast: boolean) =>
    widths.change(column, to && Math.max(WIDTH.min, Math.min(WIDTH.max, to)), isLast);
  const onDrag = ({ clientX }: PointerEvent, isLast: boolean) => {
    const { at, width: before } = drag.current ?? { at: clientX, width };
    const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
    if (clientX !== at) change(before + (clientX - at) / rem, isLast);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const keys = { ArrowLeft: width - 1, ArrowRight: width + 1, Home: WIDTH.min, End: WIDTH.max };
    const to = ownMember<number>(keys, event.key);
    if (to === undefined && event.key !== 'Delete') return;
    event.preventDefault();
    change(to, true);
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
      onDoubleClick={() => change(undefined, true)}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        drag.current = { at: event.clientX, width };
      }}
      onPointerMove={(event) => drag.current !== undefined && onDrag(event, false)}
      onPointerUp={(event) => {
        onDrag(event, true);
        drag.current = undefined;
      }}
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
  of(column: string): number;
  /** Shows a width; `isLast` keeps it. `undefined` is the width that it had at first. */
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
    of,
    change(column, width, isLast) {
      setDragged(isLast || width === undefined ? {} : { [column]: width });
      if (!isLast) return;
      const { [column]: _, ...others } = preference.widths;
      const all = Object.entries(width === undefined ? others : { ...others, [column]: width });
      change({ widths: Object.fromEntries(all.slice(-KEPT_MAX)) });
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

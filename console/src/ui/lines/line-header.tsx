import { showText } from '../../format/log-text.ts';
import { ColumnResizer } from './column-resizer.tsx';
import { type ColumnWidths, columnOf } from './column-width.ts';
import type { LineActions } from './record.tsx';

export const HEADER_PX = 28;

interface LineHeaderProps extends Pick<LineActions, 'columns' | 'onColumn'> {
  /** Whether the lines name their sources. */
  readonly hasSource: boolean;
  readonly widths: ColumnWidths;
}

/** What the parts of a line are; a click removes a chosen column, its edge changes the width. */
export function LineHeader({ columns, hasSource, widths, onColumn }: LineHeaderProps) {
  const parts = [
    ['time', 'Time'],
    ['level', 'Level'],
    ...(hasSource ? [['source', 'Source'] as const] : []),
  ] as const;
  return (
    <div className={columns.length === 0 ? 'line-header is-plain' : 'line-header'}>
      {parts.map(([column, label]) => (
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

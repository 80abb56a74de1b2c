import type { LineActions } from './record.tsx';

export const HEADER_PX = 28;

/** What the parts of a line are; a click removes a chosen column. */
export function LineHeader({ columns, onColumn }: Pick<LineActions, 'columns' | 'onColumn'>) {
  return (
    <div className={columns.length === 0 ? 'line-header plain' : 'line-header'}>
      <span className="line-time">Time</span>
      <span className="line-level">Level</span>
      <span className="line-source">Source</span>
      {columns.map((field) => (
        <button
          key={field}
          type="button"
          className="line-cell"
          aria-label={`Remove the column ${field}`}
          title={`Remove the column ${field}`}
          onClick={() => onColumn(field)}
        >
          {field} <span aria-hidden="true">×</span>
        </button>
      ))}
      <span className="line-message">Message</span>
    </div>
  );
}

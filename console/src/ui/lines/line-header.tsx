import type { LineActions } from './record.tsx';

export const HEADER_PX = 28;

interface LineHeaderProps extends Pick<LineActions, 'columns' | 'onColumn'> {
  /** Whether the lines name their sources. */
  readonly hasSource: boolean;
}

/** What the parts of a line are; a click removes a chosen column. */
export function LineHeader({ columns, hasSource, onColumn }: LineHeaderProps) {
  return (
    <div className={columns.length === 0 ? 'line-header plain' : 'line-header'}>
      <span className="line-time">Time</span>
      <span className="line-level">Level</span>
      {hasSource && <span className="line-source">Source</span>}
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

import { showText } from '../../../format/log-text.ts';
import { formatTimeMs, fromMicros } from '../../../format/time.ts';
import { useZone } from '../../../preference.ts';
import { formatValue, type Line, valueAt } from './line.ts';
import { type ColumnWidths, columnOf } from './line-header.tsx';

interface LineRowProps {
  readonly line: Line;
  readonly columns: readonly string[];
  readonly widths: ColumnWidths;
  readonly open: boolean;
  /** Whether Tab reaches it; the arrow keys reach the others. */
  readonly current: boolean;
  /** Id of the record. */
  readonly panel: string;
  readonly onToggle: () => void;
}

const CELL_CHARS_MAX = 200;
const MESSAGE_CHARS_MAX = 2_000;

/** One line, which opens its record. */
export function LineRow({ line, columns, widths, open, current, panel, onToggle }: LineRowProps) {
  const zone = useZone();
  const { micros, level, source, message } = line;
  return (
    <button
      type="button"
      className="line-row line-head"
      tabIndex={current ? 0 : -1}
      aria-expanded={open}
      aria-controls={open ? panel : undefined}
      onClick={onToggle}
    >
      <time className="line-time number" dateTime={fromMicros(micros)}>
        {formatTimeMs(micros / 1000, zone)}
      </time>
      <span className="line-level">{level ?? '–'}</span>
      <span className="line-source" title={source}>
        {source}
      </span>
      {columns.map((field) => (
        <Cell key={field} width={widths.of(columnOf(field))} value={formatValue(valueAt(line, field))} />
      ))}
      <span className="line-message">{showText(message.slice(0, MESSAGE_CHARS_MAX))}</span>
    </button>
  );
}

/** May be cut: its title is the value, up to a bound. */
function Cell({ value, width }: { readonly value: string; readonly width: number }) {
  const text = showText(value.slice(0, MESSAGE_CHARS_MAX));
  return (
    <span className="line-cell" style={{ '--cell': `${width}rem` }} title={text}>
      {text.slice(0, CELL_CHARS_MAX) || '–'}
    </span>
  );
}

import type { ReactNode } from 'react';
import { parseAnsi, showText } from '../../format/log-text.ts';
import { formatTimeMs, fromMicros } from '../../format/time.ts';
import { usePreference } from '../../preference.ts';
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
  const { zone, ansi } = usePreference().preference;
  const { micros, level, source, message } = line;
  const text = message.slice(0, MESSAGE_CHARS_MAX);
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
      {source !== '' && (
        <span className="line-source" title={source}>
          {source}
        </span>
      )}
      {columns.map((field) => (
        <Cell key={field} width={widths.of(columnOf(field))} value={formatValue(valueAt(line, field))} />
      ))}
      <span className="line-message">{ansi ? <AnsiText text={text} /> : showText(text)}</span>
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

/** A text of an event with the colours of its terminal codes. */
function AnsiText({ text }: { readonly text: string }): ReactNode {
  return parseAnsi(text).map(({ text: shown, style }, i) => {
    const { color, ground, bold, dim, italic, underline } = style;
    // On a coloured ground the text has its own colour, which can be read on each of them.
    const classes = [
      ground !== undefined ? `ansi-on ansi-${ground}` : color !== undefined && `ansi-${color}`,
      bold === true && 'ansi-bold',
      dim === true && 'ansi-dim',
      italic === true && 'ansi-italic',
      underline === true && 'ansi-underline',
    ].filter((name) => name !== false);
    if (classes.length === 0) return shown;
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text have no other identity
      <span key={i} className={classes.join(' ')}>
        {shown}
      </span>
    );
  });
}

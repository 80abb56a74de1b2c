import { showText } from '../../format/log-text.ts';
import type { Bar } from './draw.ts';

interface BarListProps {
  readonly title: string;
  readonly bars: readonly Bar[];
}

/** Horizontal bars, from zero to the greatest value. */
export function BarList({ title, bars }: BarListProps) {
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
            <span className={`bar-fill is-${color}`} style={{ width: `${(Math.abs(value) / max) * 100}%` }} />
          </span>
        </li>
      ))}
    </ul>
  );
}

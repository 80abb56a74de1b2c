import { Sparkline } from '../sparkline.tsx';
import type { BigNumber } from './draw.ts';

/** Numbers that are read from afar, each with its trend if it has one. */
export function BigNumbers({ numbers }: { readonly numbers: readonly BigNumber[] }) {
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

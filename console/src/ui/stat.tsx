import type { ReactNode } from 'react';

interface StatProps {
  readonly label: string;
  readonly value: string;
  readonly unit?: string;
  readonly tone?: 'ok' | 'warn' | 'bad';
  readonly below?: ReactNode;
}

/** One large number; inside a `dl`. */
export function Stat({ label, value, unit, tone, below }: StatProps) {
  return (
    <div className="stat">
      <dt>{label}</dt>
      <dd className={tone === undefined ? '' : `tone-${tone}`}>
        <span>{value}</span> {unit !== undefined && <span className="stat-unit">{unit}</span>}
        {below !== undefined && <div className="stat-below">{below}</div>}
      </dd>
    </div>
  );
}

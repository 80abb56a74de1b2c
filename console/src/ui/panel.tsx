import { type ReactNode, useId } from 'react';

interface PanelProps {
  readonly title: string;
  readonly actions?: ReactNode;
  /** Without padding, for tables. */
  readonly flush?: boolean;
  readonly children: ReactNode;
}

export function Panel({ title, actions, flush = false, children }: PanelProps) {
  const id = useId();
  return (
    <section className={flush ? 'panel is-flush' : 'panel'} aria-labelledby={id}>
      <div className="panel-head">
        <h2 id={id}>{title}</h2>
        {actions}
      </div>
      <div className="panel-body">{children}</div>
    </section>
  );
}

interface StatProps {
  readonly label: string;
  readonly value: ReactNode;
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

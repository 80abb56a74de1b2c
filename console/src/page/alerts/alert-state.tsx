import type { ReactNode } from 'react';
import type { AlertView } from '../../../../src/management/alert-view.ts';
import { formatShort } from '../../format/show.ts';
import { Tag, type Tone } from '../../ui/page-part.tsx';

const TONES: Readonly<Record<AlertView['state'], Tone>> = { inactive: 'ok', pending: 'warn', firing: 'bad' };

export function apiPath({ name }: Pick<AlertView, 'name'>): string {
  return `/api/alerts/${encodeURIComponent(name)}`;
}

/** What an instance without labels is. */
export const KINDS = {
  condition: 'the whole answer',
  no_data: 'no rows',
  error: 'the query fails',
} as const;

type Shown = Pick<AlertView, 'state' | 'silences' | 'last_error'>;

/** The state of an alert, and what keeps it from saying so. */
export function AlertState({ alert: { state, silences, last_error: error } }: { readonly alert: Shown }) {
  const isWhole = silences.some(({ labels }) => Object.keys(labels).length === 0);
  return (
    <span className="row">
      <Tag tone={TONES[state]}>{state}</Tag>
      {silences.length > 0 && <Tag tone="accent">{isWhole ? 'silenced' : 'partly silenced'}</Tag>}
      {error !== null && <Tag tone="warn">fails</Tag>}
    </span>
  );
}

/** `failures above 10` */
export function describeCondition({ when }: Pick<AlertView, 'when'>): string {
  if (when === null) return 'any row';
  const value = typeof when.value === 'number' ? formatShort(when.value) : JSON.stringify(when.value);
  return `${when.column} ${when.is} ${value}`;
}

interface PairsProps {
  readonly of: Readonly<Record<string, ReactNode>>;
  readonly none?: string;
  readonly className?: string;
}

/** Names and values, such as the labels of an instance. */
export function Pairs({ of, none, className = 'alert-pairs' }: PairsProps) {
  const entries = Object.entries(of);
  if (entries.length === 0) return <span className="muted">{none}</span>;
  return (
    <dl className={`${className} small`}>
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt className="muted">{name}</dt>
          <dd>{typeof value === 'number' ? formatShort(value) : (value ?? '–')}</dd>
        </div>
      ))}
    </dl>
  );
}

import type { ReactNode } from 'react';

export type Tone = 'neutral' | 'ok' | 'warn' | 'bad' | 'accent';

export function Tag({ tone = 'neutral', children }: { readonly tone?: Tone; readonly children: ReactNode }) {
  return <span className={tone === 'neutral' ? 'tag' : `tag is-${tone}`}>{children}</span>;
}

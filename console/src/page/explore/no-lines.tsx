import type { ReactNode } from 'react';
import { lastMs } from '../../format/last-range.ts';
import { describeRange } from '../../format/time-range.ts';
import { useZone } from '../../preference.ts';
import { QuietButton } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import type { Lines } from '../../ui/lines/use-lines.ts';
import type { ExploreAddress } from './address.ts';
import { faultOf, rangeOf } from './search/search.ts';

interface NoLinesProps {
  readonly address: ExploreAddress;
  readonly lines: Lines;
  readonly onChange: (change: Partial<ExploreAddress>) => void;
}

const WEEK_MS = 7 * 86_400_000;

/** Says why there are no lines. */
export function NoLines({ address, lines, onChange }: NoLinesProps): ReactNode {
  const zone = useZone();
  const { state, hint, isOld } = lines;
  if (state.kind === 'failed') {
    const { error } = state;
    if (faultOf(error) === undefined) return <ErrorNote error={error} />;
    return <p className="line-none muted">Correct the search to see its events.</p>;
  }
  if (state.kind === 'running' || isOld) return <p className="line-none muted">Searching…</p>;
  if (state.kind === 'stopped') return <Empty title="Stopped">Nothing was found before that.</Empty>;
  const range = describeRange(rangeOf(address), zone);
  const isShort = address.range === undefined || lastMs(address.range) < WEEK_MS;
  const where = address.source.length === 0 ? 'any source' : address.source.join(', ');
  return (
    <Empty title={address.live ? 'No events yet' : 'No events'}>
      {address.q === '' ? 'There are no events' : 'No event matches'} in {where}
      {address.project !== '' && `, project ${address.project}`}: {range.toLowerCase()}.
      {hint !== undefined && ` A hint: ${hint}.`}{' '}
      {isShort && (
        <QuietButton onClick={() => onChange({ range: '7d', from: undefined, until: undefined })}>
          Search the last 7 days
        </QuietButton>
      )}
    </Empty>
  );
}

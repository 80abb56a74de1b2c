import type { KeyEntry, KeyView } from '../../../../src/management/view.ts';
import type { Pages } from '../../api/use-pages.ts';
import { formatTime } from '../../format/time.ts';
import { useZone } from '../../preference.ts';
import { Empty } from '../../ui/empty.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Panel } from '../../ui/panel.tsx';
import { LoadMore } from '../../ui/table/load-more.tsx';
import { Tag, type Tone } from '../../ui/tag.tsx';
import { Ago } from '../../ui/time/time.tsx';
import { Sentence } from './sentence.tsx';

interface TrailProps {
  readonly entries: Pages<KeyEntry>;
  /** Keys with known names. */
  readonly keys: readonly KeyView[];
  /** Whether the caller's key has no right to see it. */
  readonly hidden: boolean;
}

const TONES: Readonly<Record<KeyEntry['action'], Tone>> = {
  created: 'ok',
  changed: 'accent',
  rotated: 'accent',
  revoked: 'warn',
  minted: 'neutral',
  refused: 'bad',
  deleted: 'warn',
  saved: 'accent',
  silenced: 'warn',
  unsilenced: 'ok',
  signed_in: 'ok',
  signed_out: 'neutral',
  ended: 'warn',
};
const LABELS: Readonly<Partial<Record<KeyEntry['action'], string>>> = {
  minted: 'tokens',
  signed_in: 'signed in',
  signed_out: 'signed out',
};

/** The audit trail: changes and rejections of keys. */
export function Trail({ entries, keys, hidden }: TrailProps) {
  const zone = useZone();
  const { items, error, hasMore, busy, loadMore } = entries;
  const nowMs = Date.now();
  const label = (action: KeyEntry['action']) => LABELS[action] ?? action;
  return (
    <Panel title="Audit trail" flush>
      {hidden && (
        <Empty title="This key may not see the audit trail">
          It lists actions on all keys, and yours is limited to endpoints, sources or pinned values.
        </Empty>
      )}
      {error !== undefined && <ErrorNote error={error} />}
      {items?.length === 0 && (
        <Empty title="No entries">
          Created, changed and revoked keys appear here; refusals once a minute.
        </Empty>
      )}
      {items !== undefined && items.length > 0 && (
        <ul className="trail">
          {items.toSorted(compareEntries).map((entry) => (
            <li key={entry.id}>
              <span className="trail-time small number">
                {entry.at !== null && formatTime(Date.parse(entry.at), zone)}
                <span className="muted">{entry.at !== null && <Ago iso={entry.at} nowMs={nowMs} />}</span>
              </span>
              <span>
                <Tag tone={TONES[entry.action]}>{label(entry.action)}</Tag>
              </span>
              <Sentence entry={entry} keys={keys} />
            </li>
          ))}
        </ul>
      )}
      {hasMore && <LoadMore label="Load older entries" busy={busy} onLoad={loadMore} />}
    </Panel>
  );
}

/** By their time: rejections are counted for a minute, and written after later changes. */
function compareEntries(a: KeyEntry, b: KeyEntry): number {
  return (b.at ?? '').localeCompare(a.at ?? '') || b.id - a.id;
}

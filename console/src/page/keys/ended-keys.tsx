import { useId, useState } from 'react';
import type { KeyView } from '../../../../src/management/view.ts';
import type { Pages } from '../../api/use-pages.ts';
import { formatCount } from '../../format/number.ts';
import { Button } from '../../ui/button.tsx';
import { Panel } from '../../ui/panel.tsx';
import { LoadMore } from '../../ui/table/load-more.tsx';
import { PanelTable } from '../../ui/table/panel-table.tsx';
import { KEY_HEADS, KeyLine } from './key-line.tsx';

const TITLE = 'Revoked and expired keys';
// Such a key cannot be changed, so its line has no buttons.
const ignore = () => {};

/** Revoked and expired keys; collapsed, since their number only grows. */
export function EndedKeys({ keys }: { readonly keys: Pages<KeyView> }) {
  const [shown, setShown] = useState(false);
  const id = useId();
  const { items = [], hasMore, busy, loadMore } = keys;
  if (items.length === 0) return null;
  const toggle = (
    <Button aria-expanded={shown} aria-controls={id} onClick={() => setShown(!shown)}>
      {shown ? 'Hide' : 'Show'} {formatCount(items.length)}
      {hasMore && ' and more'}
    </Button>
  );
  const nowMs = Date.now();
  return (
    <div id={id}>
      {shown ? (
        <PanelTable
          title={TITLE}
          heads={KEY_HEADS}
          actions={toggle}
          below={hasMore && <LoadMore label="Load older ones" busy={busy} onLoad={loadMore} />}
        >
          {items.map((record) => (
            <KeyLine key={record.id} {...{ record, nowMs }} onRotate={ignore} onRevoke={ignore} />
          ))}
        </PanelTable>
      ) : (
        <Panel title={TITLE} actions={toggle}>
          <p className="small muted">These keys are rejected. They stay listed for the audit trail.</p>
        </Panel>
      )}
    </div>
  );
}

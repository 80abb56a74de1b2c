import type { KeyView } from '../../../../src/management/view.ts';
import type { Pages } from '../../api/use-pages.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Panel } from '../../ui/panel.tsx';
import { LoadMore } from '../../ui/table/load-more.tsx';
import { PanelTable } from '../../ui/table/panel-table.tsx';
import { KEY_HEADS, KeyLine } from './key-line.tsx';

interface KeyListProps {
  readonly keys: Pages<KeyView>;
  readonly onMake: () => void;
  readonly onRotate: (key: KeyView) => void;
  readonly onRevoke: (key: KeyView) => void;
}

/** Every valid key that the signed-in key may see, newest first. */
export function KeyList({ keys, onMake, onRotate, onRevoke }: KeyListProps) {
  const { items, hasMore, busy, loadMore } = keys;
  const make = (
    <Button look="primary" onClick={onMake}>
      Create a key
    </Button>
  );
  if (items === undefined || items.length === 0) {
    return (
      <Panel title="Keys" actions={make}>
        {items === undefined ? (
          busy && <p className="muted">Reading…</p>
        ) : (
          <Empty title="No keys">
            Keys of the environment, and keys with more rights than yours, are not listed. Create one for each
            caller.
          </Empty>
        )}
      </Panel>
    );
  }
  const nowMs = Date.now();
  return (
    <PanelTable
      title="Keys"
      heads={KEY_HEADS}
      actions={make}
      below={hasMore && <LoadMore label="Load older keys" busy={busy} onLoad={loadMore} />}
    >
      {items.map((record) => (
        <KeyLine key={record.id} {...{ record, nowMs, onRotate, onRevoke }} />
      ))}
    </PanelTable>
  );
}

import { useId, useState } from 'react';
import type { KeyView } from '../../../../src/management/view.ts';
import type { Pages } from '../../api/use-pages.ts';
import { formatCount } from '../../format/number.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Panel } from '../../ui/panel.tsx';
import { KeyTable } from './key-table.tsx';

interface KeyListProps {
  readonly keys: Pages<KeyView>;
  readonly onMake: () => void;
  readonly onRotate: (key: KeyView) => void;
  readonly onRevoke: (key: KeyView) => void;
}

/** Every valid key that the signed-in key may see, newest first. */
export function KeyList({ keys, onMake, onRotate, onRevoke }: KeyListProps) {
  const { items, busy } = keys;
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
  return <KeyTable title="Keys" actions={make} more="Load older keys" {...{ keys, onRotate, onRevoke }} />;
}

const TITLE = 'Revoked and expired keys';

/** Revoked and expired keys; collapsed, since their number only grows. */
export function EndedKeys({ keys }: { readonly keys: Pages<KeyView> }) {
  const [shown, setShown] = useState(false);
  const id = useId();
  const { items = [], hasMore } = keys;
  if (items.length === 0) return null;
  const toggle = (
    <Button aria-expanded={shown} aria-controls={id} onClick={() => setShown(!shown)}>
      {shown ? 'Hide' : 'Show'} {formatCount(items.length)}
      {hasMore && ' and more'}
    </Button>
  );
  return (
    <div id={id}>
      {shown ? (
        <KeyTable title={TITLE} actions={toggle} keys={keys} more="Load older ones" />
      ) : (
        <Panel title={TITLE} actions={toggle}>
          <p className="small muted">These keys are rejected. They stay listed for the audit trail.</p>
        </Panel>
      )}
    </div>
  );
}

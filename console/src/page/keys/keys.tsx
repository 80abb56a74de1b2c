import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { CreatedKeyView, KeyEntry, KeyView } from '../../../../src/management/view.ts';
import { useClient } from '../../api/client.ts';
import { usePages } from '../../api/queries.ts';
import { isLimited } from '../../api/right.ts';
import { PageHead } from '../../ui/page-head.tsx';
import { KeyForm } from './key-form.tsx';
import { type KeyStates, KeyTable } from './key-table.tsx';
import './keys.css';
import { CreatedKey, focus, RevokeDialog, RotateDialog } from './dialogs.tsx';
import { Trail } from './trail.tsx';

const KEYS_AT_ONCE = 100;
const ENTRIES_AT_ONCE = 50;

/** Creates and revokes keys, and shows their audit trail. */
export default function KeysPage() {
  const { self } = useClient();
  const cache = useQueryClient();
  const [states, setStates] = useState<KeyStates>('active');
  const keys = usePages<KeyView>(`/api/keys?state=${states}`, { size: KEYS_AT_ONCE });
  // It lists actions on all keys: the service does not show it to a limited key.
  const entries = usePages<KeyEntry>('/api/keys/log', {
    size: ENTRIES_AT_ONCE,
    isWanted: !isLimited(self),
  });
  const [dialog, setDialog] = useState<ReactNode>();
  const [made, setMade] = useState<CreatedKeyView>();
  const [done, setDone] = useState<string>();

  const close = () => setDialog(undefined);
  const onDone = (message: string | undefined, secret?: CreatedKeyView) => {
    close();
    setDone(message);
    if (secret !== undefined) setMade(secret);
    void cache.invalidateQueries(); // also the names of keys
  };
  const onMade = (secret: CreatedKeyView) => onDone(undefined, secret);
  return (
    <>
      <PageHead title="Keys">
        Create, rotate and revoke the keys of callers. A key itself is shown once, when it is created.
      </PageHead>
      {done !== undefined && <Done message={done} />}
      {made !== undefined && <CreatedKey made={made} onClose={() => setMade(undefined)} />}
      <KeyTable
        {...{ keys, states }}
        onStates={setStates}
        onMake={() => setDialog(<KeyForm onClose={close} onMade={onMade} />)}
        onRotate={(key) => setDialog(<RotateDialog record={key} onClose={close} onMade={onMade} />)}
        onRevoke={(key) => {
          const onRevoked = () => onDone(`The key ${key.name} is revoked.`);
          setDialog(<RevokeDialog record={key} onClose={close} onRevoked={onRevoked} />);
        }}
      />
      {!isLimited(self) && <Trail entries={entries} />}
      {dialog}
    </>
  );
}

/** Takes the focus: the button that caused it may be gone. */
function Done({ message }: { readonly message: string }) {
  return (
    <div key={message} className="note is-info" role="status" tabIndex={-1} ref={focus}>
      {message}
    </div>
  );
}

import { useMutation } from '@tanstack/react-query';
import type { KeyView } from '../../../../src/management/view.ts';
import { useClient } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Dialog } from '../../ui/overlay/dialog.tsx';

interface RevokeDialogProps {
  readonly record: KeyView;
  readonly onClose: () => void;
  readonly onRevoked: () => void;
}

/** Asks before a key is revoked, which cannot be undone. */
export function RevokeDialog({ record, onClose, onRevoked }: RevokeDialogProps) {
  const client = useClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => client.callRaw(`/api/keys/${record.id}`, { method: 'DELETE' }),
    onSuccess: onRevoked,
  });
  return (
    <Dialog title={`Revoke ${record.name}?`} onClose={onClose}>
      <p>
        Requests with <code>tr_{record.id}_…</code> and its tokens are rejected from now on. This cannot be
        undone.
      </p>
      {record.id === client.self.id && (
        <p className="tone-warn">You are signed in with this key, and will have to sign in with another.</p>
      )}
      {record.successor !== null && (
        <p>
          Its successor <code>tr_{record.successor}_…</code> stays valid.
        </p>
      )}
      {error !== null && <ErrorNote error={error} />}
      <div className="dialog-actions">
        {/* The first button has the focus: the one that revokes nothing. */}
        <Button onClick={onClose}>Cancel</Button>
        <Button look="danger" disabled={isPending} onClick={() => mutate()}>
          {isPending ? 'Revoking…' : 'Revoke the key'}
        </Button>
      </div>
    </Dialog>
  );
}

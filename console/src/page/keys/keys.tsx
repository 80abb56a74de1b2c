import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { CreatedKeyView, KeyView } from '../../../../src/management/view.ts';
import { isLimited, useClient } from '../../api/queries.ts';
import { Button, CopyButton, PageHead } from '../../ui/page-part.tsx';
import { KeyForm } from './key-form.tsx';
import { KeyTable } from './key-table.tsx';
import './keys.css';
import { ChoiceField } from '../../ui/form.tsx';
import { FormDialog } from '../../ui/overlay/dialog.tsx';
import { Trail } from './trail.tsx';

export default function KeysPage() {
  const { self } = useClient();
  const cache = useQueryClient();
  const [dialog, setDialog] = useState<ReactNode>();
  const [made, setMade] = useState<CreatedKeyView>();
  const [done, setDone] = useState<string>();

  const close = () => setDialog(undefined);
  const onDone: KeyDialogProps['onDone'] = (what) => {
    close();
    setDone(typeof what === 'string' ? what : undefined);
    if (typeof what === 'object') setMade(what);
    void cache.invalidateQueries(); // also the names of keys
  };
  return (
    <>
      <PageHead title="Keys">
        Create, rotate and revoke the keys of callers. A key itself is shown once, when it is created.
      </PageHead>
      {done !== undefined && (
        <div key={done} className="note is-info" role="status" tabIndex={-1} ref={focus}>
          {done}
        </div>
      )}
      {made !== undefined && <CreatedKey made={made} onClose={() => setMade(undefined)} />}
      <KeyTable
        onMake={() => setDialog(<KeyForm onClose={close} onMade={onDone} />)}
        onRotate={(record) => setDialog(<RotateDialog {...{ record, onDone }} onClose={close} />)}
        onRevoke={(record) => setDialog(<RevokeDialog {...{ record, onDone }} onClose={close} />)}
      />
      {!isLimited(self) && <Trail />}
      {dialog}
    </>
  );
}

/** Moves the focus to an element when it is shown: the button that caused it may be gone. */
function focus(element: HTMLElement | null): void {
  element?.focus();
}

/** Shows the secret once, until the user confirms that it is stored. */
function CreatedKey({ made, onClose }: { readonly made: CreatedKeyView; readonly onClose: () => void }) {
  return (
    <section
      key={made.key}
      className="panel created-key"
      aria-labelledby="made-key"
      tabIndex={-1}
      ref={focus}
    >
      <h2 id="made-key">{made.name}: the new key</h2>
      <p className="tone-warn">
        <strong>Copy it now; it is not shown again</strong>: the service keeps only its hash.
      </p>
      <div className="row created-key-text">
        <code>{made.key}</code>
        <CopyButton text={made.key} label="Copy the key" />
      </div>
      <p className="small muted">
        Send it as <code>X-API-KEY</code> or <code>Authorization: Bearer</code>. It is valid now.
      </p>
      <Button onClick={onClose}>I have stored it</Button>
    </section>
  );
}

interface KeyDialogProps {
  readonly record: KeyView;
  readonly onClose: () => void;
  /** @param done the new key, or what was done */
  readonly onDone: (done: CreatedKeyView | string) => void;
}

function RevokeDialog({ record, onClose, onDone }: KeyDialogProps) {
  const client = useClient();
  const sending = useMutation({
    mutationFn: (_: FormData) => client.callRaw(`/api/keys/${record.id}`, { method: 'DELETE' }),
    onSuccess: () => onDone(`The key ${record.name} is revoked.`),
  });
  return (
    <FormDialog
      title={`Revoke ${record.name}?`}
      submit={['Revoke the key', 'Revoking…']}
      look="danger"
      {...{ sending, onClose }}
    >
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
    </FormDialog>
  );
}

const OVERLAPS = [
  ['0', 'no overlap: ends at once'],
  ['3600', '1 hour'],
  ['86400', '1 day'],
  ['604800', '7 days'],
  ['2592000', '30 days'],
] as const;
const OVERLAP = '604800';

/** Creates a successor with the same rights; the old key stays valid for a while. */
function RotateDialog({ record, onClose, onDone }: KeyDialogProps) {
  const client = useClient();
  const sending = useMutation({
    mutationFn: (data: FormData) =>
      client.post<CreatedKeyView>(`/api/keys/${record.id}/rotate`, ['key', 'id'], {
        overlap_seconds: Number(data.get('overlap_seconds')),
      }),
    onSuccess: onDone,
  });
  return (
    <FormDialog
      title={`Rotate ${record.name}`}
      submit={['Create the new key', 'Rotating…']}
      {...{ sending, onClose }}
    >
      <p>Creates a new key with the same rights. Give it to the caller before the old one ends.</p>
      <ChoiceField
        label="The old key stays valid for"
        help={record.expires_at !== null && 'At most until its expiry, which is also that of the new key.'}
        name="overlap_seconds"
        defaultValue={OVERLAP}
        options={OVERLAPS}
      />
    </FormDialog>
  );
}

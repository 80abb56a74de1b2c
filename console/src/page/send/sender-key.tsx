import { useMutation } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { CreatedKeyView } from '../../../../src/management/view.ts';
import { useClient } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';

interface SenderKeyProps {
  /** The only source of the key; `undefined`: any. */
  readonly source: string | undefined;
  /** The only project of the key. */
  readonly project: string;
  readonly sender: string;
  /** @param key that the configuration is to hold; `undefined`: the variable TAILRACE_KEY */
  readonly onMade: (key: string | undefined) => void;
}

/** Creates a key that can only send, and only for this project, so that the configuration can be copied whole. */
export function SenderKey({ source, project, sender, onMade }: SenderKeyProps) {
  const client = useClient();
  const mayCreate = client.self.scopes.includes('manage');
  const body = {
    name: sender,
    scopes: ['ingest'],
    ...(source !== undefined && { sources: [source] }),
    ...(project !== '' && { pins: { project } }),
  };
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () => client.call<CreatedKeyView>('/api/keys', ['key', 'id'], { method: 'POST', body }),
    onSuccess: ({ key }) => onMade(key),
  });
  useEffect(() => () => onMade(undefined), [onMade]);
  if (data !== undefined)
    return (
      <div className="send-key" role="status">
        <p className="small">
          The configuration holds the new key <code>{data.id}</code>, which can only send
          {project === '' ? '' : ` for ${project}`}. <strong>It is not shown again.</strong>
        </p>
        <CopyButton text={data.key} label="Copy the key" />
      </div>
    );
  return (
    <div className="send-key">
      <p className="small muted">
        The key is read from <code>TAILRACE_KEY</code>: one with the scope ingest.
      </p>
      {mayCreate && (
        <Button disabled={isPending} onClick={() => mutate()}>
          {isPending ? 'Creating…' : 'Create a key for it'}
        </Button>
      )}
      {error !== null && <ErrorNote error={error} />}
    </div>
  );
}

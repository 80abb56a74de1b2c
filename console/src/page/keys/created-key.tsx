import { useEffect, useRef } from 'react';
import type { CreatedKeyView } from '../../../../src/management/view.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';

/** Shows the secret once, until the user confirms that it is stored. */
export function CreatedKey({
  made,
  onClose,
}: {
  readonly made: CreatedKeyView;
  readonly onClose: () => void;
}) {
  const panel = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs for each key
  useEffect(() => panel.current?.focus(), [made.key]);
  return (
    <section className="panel created-key" aria-labelledby="made-key" tabIndex={-1} ref={panel}>
      <h2 id="made-key">{made.name}: the new key</h2>
      <p className="tone-warn">
        <strong>Copy it now; it is not shown again</strong>: the service keeps only its hash.
      </p>
      <div className="created-key-text">
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

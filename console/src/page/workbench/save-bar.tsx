import { Suspense, useState } from 'react';
import { lazyPart } from '../../ui/boundary/boundary.tsx';
import { Button } from '../../ui/button.tsx';
import type { Files } from './api.ts';
import type { Outline } from './definition.ts';
import type { Saving } from './use-save.ts';

const SaveDialog = lazyPart(async () => (await import('./save-dialog.tsx')).SaveDialog);
const FilesDialog = lazyPart(async () => (await import('./save-dialog.tsx')).FilesDialog);

interface SaveBarProps {
  /** Empty: a new endpoint. */
  readonly name: string;
  /** Why the service may not write files; null: it may. */
  readonly refusal: string | null;
  /** The texts with what the definition lacked. */
  readonly files: Files;
  /** The file of tests of a new endpoint; empty: none. */
  readonly test: string;
  readonly isChanged: boolean;
  readonly outline: Outline;
  readonly save: Saving;
}

/** Saves, under the name or another one; shows the files if the service may not write them. */
export function SaveBar({ name, refusal, files, test, isChanged, outline, save }: SaveBarProps) {
  const [isShown, setShown] = useState(false);
  const busy = save.saving.state === 'busy';
  if (refusal !== null) {
    return (
      <div className="bench-save">
        <Button onClick={() => setShown(true)}>Copy the files</Button>
        <Suspense>
          {isShown && (
            <FilesDialog
              name={outline.name || name}
              files={files}
              test={test}
              refusal={refusal}
              onClose={() => setShown(false)}
            />
          )}
        </Suspense>
      </div>
    );
  }
  return (
    <div className="bench-save">
      {name !== '' && (
        <Button disabled={!isChanged || busy} onClick={save.save}>
          {busy ? 'Saving…' : 'Save'}
        </Button>
      )}
      <Button onClick={() => save.ask(true)}>Save as…</Button>
      <Suspense>
        {save.isAsking && <SaveDialog name={name === '' ? outline.name : `${name}-copy`} save={save} />}
      </Suspense>
    </div>
  );
}

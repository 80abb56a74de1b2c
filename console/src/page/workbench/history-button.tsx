import { type ComponentProps, Suspense, useState } from 'react';
import { lazyPart } from '../../ui/boundary/boundary.tsx';
import { Button } from '../../ui/button.tsx';
import type { DefinitionKind } from './api.ts';
import type { HistoryDialog } from './history-dialog.tsx';

type DialogProps = ComponentProps<typeof HistoryDialog>;

const LazyDialog = lazyPart<DialogProps>(async () => (await import('./history-dialog.tsx')).HistoryDialog);

interface HistoryButtonProps extends Pick<DialogProps, 'mine' | 'toFiles' | 'onRestore'> {
  readonly kind: DefinitionKind;
  readonly name: string;
}

/** Opens earlier versions of a definition. */
export function HistoryButton({ kind, name, ...compared }: HistoryButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>History</Button>
      <Suspense>
        {isOpen && (
          <LazyDialog
            {...compared}
            path={`/api/workbench/history/${kind}/${encodeURIComponent(name)}`}
            onClose={() => setOpen(false)}
          />
        )}
      </Suspense>
    </>
  );
}

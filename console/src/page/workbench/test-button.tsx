import { Suspense, useState } from 'react';
import { lazyPart } from '../../ui/boundary/part.ts';
import { Button } from '../../ui/button.tsx';
import type { TestDialogProps } from './test-dialog.tsx';

const TestDialog = lazyPart<TestDialogProps>(async () => (await import('./test-dialog.tsx')).TestDialog);

/** Keeps a result as a test of its endpoint. */
export function TestButton(props: Omit<TestDialogProps, 'onClose'>) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>Keep as a test</Button>
      <Suspense>{isOpen && <TestDialog {...props} onClose={() => setOpen(false)} />}</Suspense>
    </>
  );
}

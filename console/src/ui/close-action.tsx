import { Button } from './button.tsx';
/** The end of a dialog that only shows something. */
export function CloseAction({ onClose }: { readonly onClose: () => void }) {
  return (
    <div className="dialog-actions">
      <Button onClick={onClose}>Close</Button>
    </div>
  );
}

/** The end of a dialog that only shows something. */
export function CloseAction({ onClose }: { readonly onClose: () => void }) {
  return (
    <div className="dialog-actions">
      <button type="button" className="button" onClick={onClose}>
        Close
      </button>
    </div>
  );
}

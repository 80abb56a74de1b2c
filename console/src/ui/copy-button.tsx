import { useState } from 'react';

const SHOWN_MS = 2_000;

/** Copies a text to the clipboard and confirms it. */
export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [state, setState] = useState<'' | 'copied' | 'failed'>('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text); // refused without HTTPS
      setState('copied');
    } catch {
      setState('failed');
    }
    setTimeout(() => setState(''), SHOWN_MS);
  };
  const words = { '': label, copied: 'Copied', failed: 'Select and copy by hand' };
  return (
    <button type="button" className="button quiet copy" onClick={() => void copy()}>
      <span aria-live="polite">{words[state]}</span>
    </button>
  );
}

import { useState } from 'react';
import { QuietButton } from './button.tsx';

const SHOWN_MS = 2_000;

interface CopyButtonProps {
  /** A function if it depends on the time of the click. */
  readonly text: string | (() => string);
  readonly label?: string;
  readonly title?: string;
}

/** Copies a text to the clipboard and confirms it. */
export function CopyButton({ text, label = 'Copy', title }: CopyButtonProps) {
  const [state, setState] = useState<'' | 'copied' | 'failed'>('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : text()); // rejected without HTTPS
      setState('copied');
    } catch {
      setState('failed');
    }
    setTimeout(() => setState(''), SHOWN_MS);
  };
  const words = { '': label, copied: 'Copied', failed: 'Select and copy by hand' };
  return (
    <QuietButton title={title} onClick={() => void copy()}>
      <span aria-live="polite">{words[state]}</span>
    </QuietButton>
  );
}

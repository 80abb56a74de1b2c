import { type ComponentProps, useState } from 'react';

interface ButtonProps extends ComponentProps<'button'> {
  /** `primary`: the likeliest of several; `danger`: what cannot be undone. */
  readonly look?: 'primary' | 'danger';
}

/** A button, which submits no form unless its type says so. */
export function Button({ look, className = '', ...props }: ButtonProps) {
  return (
    <button type="button" className={`button ${look ? `is-${look}` : ''} ${className}`.trim()} {...props} />
  );
}

/** A button beside others that matter more: without a frame. */
export function QuietButton({ className = '', ...props }: ComponentProps<'button'>) {
  return <button type="button" className={`button is-quiet ${className}`.trim()} {...props} />;
}

const SHOWN_MS = 2_000;

interface CopyButtonProps {
  /** A function if it depends on the time of the click. */
  readonly text: string | (() => string);
  readonly label?: string;
  readonly title?: string;
}

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

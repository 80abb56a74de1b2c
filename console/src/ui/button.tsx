import type { ComponentProps } from 'react';

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

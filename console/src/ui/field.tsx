import type { ReactNode } from 'react';
import './field.css';

interface FieldProps {
  readonly id: string;
  readonly label: ReactNode;
  readonly help?: ReactNode;
  /** The fault of the value. */
  readonly fault?: string | undefined;
  readonly children: ReactNode;
}

/** A labelled control, which takes `id`, and `describedBy(id)` as `aria-describedby`. */
export function Field({ id, label, help, fault, children }: FieldProps) {
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children}
      <div id={describedBy(id)} className="field-help">
        {fault !== undefined && <span className="tone-bad">{fault}</span>}
        {fault === undefined && help}
      </div>
    </div>
  );
}

export function describedBy(id: string): string {
  return `${id}-help`;
}

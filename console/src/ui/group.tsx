import { type ReactNode, useId } from 'react';
import './field.css';

interface GroupProps {
  readonly legend: string;
  readonly help?: ReactNode;
  /** The fault of the values. */
  readonly fault?: string | undefined;
  readonly children: ReactNode;
}

/** A group of controls for one value. */
export function Group({ legend, help, fault, children }: GroupProps) {
  const id = useId();
  return (
    <fieldset className="field group" aria-describedby={id} data-wrong={fault !== undefined}>
      <legend>{legend}</legend>
      {children}
      <div id={id} className="field-help">
        {fault !== undefined && <span className="tone-bad">{fault}</span>}
        {fault === undefined && help}
      </div>
    </fieldset>
  );
}

import { useId } from 'react';
import type { EndpointView } from '../../../../../src/management/view.ts';
import { ownMember } from '../../../format/own.ts';
import { QuietButton } from '../../../ui/button.tsx';

interface ParameterFieldsProps {
  readonly label: string;
  readonly values: Readonly<Record<string, string>>;
  readonly declared: EndpointView['parameters'];
  /** @param value undefined: it is removed */
  readonly onChange: (name: string, value: string | undefined) => void;
}

/** Values of parameters by their names, and a choice of those that have none yet. */
export function ParameterFields({ label, values, declared, onChange }: ParameterFieldsProps) {
  const id = useId();
  const others = [...new Set(declared.map(({ name }) => name))].filter(
    (name) => ownMember(values, name) === undefined,
  );
  const names = Object.keys(values);
  if (names.length === 0 && others.length === 0) return null;
  return (
    <fieldset className="group dashboard-form-parameters">
      <legend>{label}</legend>
      {names.map((name) => (
        <div key={name} className="dashboard-form-parameter">
          <label htmlFor={`${id}-${name}`}>{name}</label>
          <input
            id={`${id}-${name}`}
            className="input"
            value={ownMember(values, name) ?? ''}
            onChange={({ target }) => onChange(name, target.value)}
          />
          <QuietButton aria-label={`Remove ${name}`} onClick={() => onChange(name, undefined)}>
            Remove
          </QuietButton>
        </div>
      ))}
      {others.length > 0 && (
        <select
          className="input"
          aria-label={`Add to: ${label}`}
          value=""
          onChange={({ target }) =>
            onChange(target.value, declared.find(({ name }) => name === target.value)?.default ?? '')
          }
        >
          <option value="">Add a parameter…</option>
          {others.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      )}
    </fieldset>
  );
}

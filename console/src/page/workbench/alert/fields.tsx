import { useId } from 'react';
import { describedBy, Field } from '../../../ui/field.tsx';
import { Group } from '../../../ui/group.tsx';

interface ControlProps {
  readonly label: string;
  readonly help?: string | undefined;
  readonly value: string;
  readonly fault: string | undefined;
  readonly onChange: (value: string) => void;
}

/** A line of text, or a number. */
export function TextField({
  label,
  help,
  value,
  fault,
  isNumber = false,
  onChange,
}: ControlProps & { readonly isNumber?: boolean }) {
  const id = useId();
  return (
    <Field id={id} label={label} help={help} fault={fault}>
      <input
        id={id}
        className="input"
        aria-describedby={describedBy(id)}
        aria-invalid={fault !== undefined}
        inputMode={isNumber ? 'numeric' : 'text'}
        autoComplete="off"
        spellCheck={false}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </Field>
  );
}

/** One of a few values. */
export function ChoiceField({
  label,
  help,
  value,
  fault,
  options,
  onChange,
}: ControlProps & { readonly options: readonly (readonly [value: string, label: string])[] }) {
  const id = useId();
  return (
    <Field id={id} label={label} help={help} fault={fault}>
      <select
        id={id}
        className="input"
        aria-describedby={describedBy(id)}
        aria-invalid={fault !== undefined}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      >
        {options.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
    </Field>
  );
}

interface CheckListProps {
  readonly legend: string;
  readonly help?: string | undefined;
  readonly names: readonly string[];
  readonly checked: readonly string[];
  readonly fault: string | undefined;
  readonly onChange: (checked: readonly string[]) => void;
}

/** Any of a few names. */
export function CheckList({ legend, help, names, checked, fault, onChange }: CheckListProps) {
  return (
    <Group legend={legend} help={help} fault={fault}>
      <div className="alert-checks">
        {names.map((name) => (
          <label className="field-check" key={name}>
            <input
              type="checkbox"
              checked={checked.includes(name)}
              onChange={(event) =>
                onChange(event.target.checked ? [...checked, name] : checked.filter((one) => one !== name))
              }
            />
            <span>{name}</span>
          </label>
        ))}
      </div>
    </Group>
  );
}

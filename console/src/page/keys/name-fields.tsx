import { useId } from 'react';
import type { ApiError } from '../../api/client.ts';
import { describedBy, Field } from '../../ui/field.tsx';
import { type Draft, faultOf } from './draft.ts';

interface NameFieldsProps {
  readonly draft: Draft;
  readonly error: ApiError | undefined;
  readonly onChange: (part: Partial<Draft>) => void;
}

const FIELDS = [
  { member: 'name', label: 'Name', help: 'Program or person that will use the key.' },
  { member: 'description', label: 'Description', help: 'Optional note.' },
] as const;

/** Name and description of the key. */
export function NameFields({ draft, error, onChange }: NameFieldsProps) {
  const prefix = useId();
  return (
    <div className="key-form-pair">
      {FIELDS.map(({ member, label, help }) => {
        const id = `${prefix}-${member}`;
        const fault = faultOf(error, member);
        return (
          <Field key={member} id={id} label={label} help={help} fault={fault}>
            <input
              id={id}
              className="input"
              autoComplete="off"
              aria-describedby={describedBy(id)}
              aria-invalid={fault !== undefined}
              value={draft[member]}
              onChange={(event) => onChange({ [member]: event.target.value })}
            />
          </Field>
        );
      })}
    </div>
  );
}

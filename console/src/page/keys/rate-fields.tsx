import { Group } from '../../ui/group.tsx';
import type { Draft } from './draft.ts';

interface RateFieldsProps {
  readonly draft: Draft;
  readonly fault: string | undefined;
  readonly onChange: (part: Partial<Draft>) => void;
}

/** The rate limit of the key. */
export function RateFields({ draft, fault, onChange }: RateFieldsProps) {
  const number = (member: 'perSecond' | 'burst') => ({
    className: 'input',
    type: 'number',
    min: 0,
    value: draft[member],
    'aria-invalid': fault !== undefined,
    onChange: (event: { readonly target: { readonly value: string } }) =>
      onChange({ [member]: event.target.value }),
  });
  return (
    <Group
      legend="Requests"
      help="Empty: no limit for this key. At once: twice the rate by default."
      fault={fault}
    >
      <div className="rate">
        <label>
          <input {...number('perSecond')} step="any" aria-label="Requests a second" />
          <span className="small muted">a second</span>
        </label>
        <label>
          <input {...number('burst')} step="1" aria-label="Requests at once" />
          <span className="small muted">at once</span>
        </label>
      </div>
    </Group>
  );
}

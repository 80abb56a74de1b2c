import type { EndpointView } from '../../../../../src/management/view.ts';
import { ChoiceField, TextField } from './fields.tsx';
import type { AlertDraft } from './form.ts';

interface WhenFieldsProps {
  readonly draft: AlertDraft;
  readonly columns: EndpointView['columns'];
  readonly fault: string | undefined;
  readonly onChange: (part: Partial<AlertDraft>) => void;
}

const COMPARISONS = [
  ['above', 'is above'],
  ['below', 'is below'],
  ['equals', 'equals'],
] as const;

/** When a row counts: always, or by the value of a column. */
export function WhenFields({ draft, columns, fault, onChange }: WhenFieldsProps) {
  const compared = columns.filter(({ type }) => type !== 'json').map(({ name }) => [name, name] as const);
  return (
    <div className="alert-form-pair">
      <ChoiceField
        label="When"
        value={draft.column}
        options={[['', 'there is any row'], ...compared]}
        fault={fault}
        onChange={(column) => onChange({ column })}
      />
      {draft.column !== '' && (
        <>
          <ChoiceField
            label="Comparison"
            value={draft.is}
            options={COMPARISONS}
            fault={undefined}
            onChange={(text) => onChange({ is: COMPARISONS.find(([is]) => is === text)?.[0] ?? 'above' })}
          />
          <TextField
            label="Value"
            value={draft.value}
            fault={undefined}
            onChange={(value) => onChange({ value })}
          />
        </>
      )}
    </div>
  );
}

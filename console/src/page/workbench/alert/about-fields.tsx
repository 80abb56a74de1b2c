import type { EndpointView } from '../../../../../src/management/view.ts';
import { ChoiceField, Group, TextField } from '../../../ui/form.tsx';
import type { AlertDraft } from './form.ts';

interface FieldsProps {
  readonly draft: AlertDraft;
  /** The fault of a field. */
  readonly fault: (field: string) => string | undefined;
  readonly onChange: (part: Partial<AlertDraft>) => void;
}

interface AboutFieldsProps extends FieldsProps {
  readonly endpoints: readonly EndpointView[];
  /** Begins anew with another endpoint. */
  readonly onEndpoint: (name: string) => void;
}

/** What the alert is called, and the query that it asks. */
export function AboutFields({ draft, endpoints, fault, onChange, onEndpoint }: AboutFieldsProps) {
  const { parameters = [] } = endpoints.find(({ name }) => name === draft.endpoint) ?? {};
  return (
    <>
      <ChoiceField
        label="Endpoint"
        value={draft.endpoint}
        options={[['', 'Choose one'], ...endpoints.map(({ name }) => name)]}
        fault={fault('endpoint')}
        onChange={onEndpoint}
      />
      <div className="alert-form-pair">
        <TextField
          label="Name"
          help="It names the file, too."
          value={draft.name}
          fault={fault('name')}
          onChange={(name) => onChange({ name })}
        />
        <TextField
          label="Description"
          value={draft.description}
          fault={fault('description')}
          onChange={(description) => onChange({ description })}
        />
      </div>
      {parameters.length > 0 && (
        <Group legend="Parameters" fault={fault('parameters')}>
          <div className="alert-form-pair">
            {parameters.map(({ name, description, required }) => (
              <TextField
                key={name}
                label={name}
                help={required ? `${description} Required.` : description}
                value={draft.parameters[name] ?? ''}
                onChange={(value) => onChange({ parameters: { ...draft.parameters, [name]: value } })}
              />
            ))}
          </div>
        </Group>
      )}
    </>
  );
}

/** When the alert is evaluated, and what it says. */
export function TimeFields({ draft, fault, onChange }: FieldsProps) {
  return (
    <>
      <div className="alert-form-pair">
        <TextField
          label="Every, seconds"
          value={draft.every}
          fault={fault('every')}
          inputMode="numeric"
          onChange={(every) => onChange({ every })}
        />
        <TextField
          label="For, seconds"
          help="How long it has to hold before it fires."
          value={draft.for}
          fault={fault('for')}
          inputMode="numeric"
          onChange={(value) => onChange({ for: value })}
        />
      </div>
      <TextField
        label="Text"
        help="{{ column }} is its value."
        value={draft.text}
        fault={fault('text')}
        onChange={(text) => onChange({ text })}
      />
    </>
  );
}

interface WhenFieldsProps extends Pick<FieldsProps, 'draft' | 'onChange'> {
  readonly columns: EndpointView['columns'];
  readonly fault: string | undefined;
}

const COMPARISONS = [
  ['above', 'is above'],
  ['below', 'is below'],
  ['equals', 'equals'],
] as const;

/** When a row counts: always, or by the value of a column. */
export function WhenFields({ draft, columns, fault, onChange }: WhenFieldsProps) {
  const compared = columns.filter(({ type }) => type !== 'json').map(({ name }) => name);
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
            onChange={(text) => onChange({ is: COMPARISONS.find(([is]) => is === text)?.[0] ?? 'above' })}
          />
          <TextField label="Value" value={draft.value} onChange={(value) => onChange({ value })} />
        </>
      )}
    </div>
  );
}

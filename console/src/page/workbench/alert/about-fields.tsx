import type { EndpointView } from '../../../../../src/management/view.ts';
import { Group } from '../../../ui/group.tsx';
import { ChoiceField, TextField } from './fields.tsx';
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
        options={[['', 'Choose one'], ...endpoints.map(({ name }) => [name, name] as const)]}
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
                fault={undefined}
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
          isNumber
          onChange={(every) => onChange({ every })}
        />
        <TextField
          label="For, seconds"
          help="How long it has to hold before it fires."
          value={draft.for}
          fault={fault('for')}
          isNumber
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

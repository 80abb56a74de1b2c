import { useId } from 'react';
import type { EndpointView } from '../../../../../src/management/view.ts';
import { ownMember } from '../../../format/own.ts';
import { Button, QuietButton } from '../../../ui/button.tsx';
import { ChoiceField, Field, TextField } from '../../../ui/form.tsx';
import {
  type PanelForm,
  type Place,
  withEndpoint,
  withPanelParameter,
  withPanelText,
  withShow,
} from './file-form.ts';

interface PanelFieldsProps {
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly endpoints: readonly EndpointView[];
  readonly panel: PanelForm;
  readonly at: Place;
  readonly mayMove: (by: -1 | 1) => boolean;
  readonly onMove: (by: -1 | 1) => void;
  /** undefined: it is the only one. */
  readonly onRemove: (() => void) | undefined;
}

/** The kinds of a panel by the words of the form. */
const KINDS: readonly (readonly [show: string, label: string])[] = [
  ['', 'As its endpoint says'],
  ['line', 'Lines'],
  ['stacked', 'Stacked areas'],
  ['bar', 'Bars'],
  ['number', 'A number'],
  ['table', 'A table'],
  ['text', 'A text'],
];

/** The fields of one panel. */
export function PanelFields(props: PanelFieldsProps) {
  const { text, onChange, endpoints, panel, at } = props;
  const { title, show } = panel;
  const parametersOf = (name: string) => endpoints.find((one) => one.name === name)?.parameters ?? [];
  return (
    <fieldset className="group dashboard-form-panel">
      <legend>Panel</legend>
      <ChoiceField
        label="Shows"
        value={show}
        options={KINDS}
        onChange={(kind) => onChange(withShow(text, at, kind, endpoints[0]?.name ?? ''))}
      />
      <TextField
        label="Title"
        value={title}
        onChange={(value) => onChange(withPanelText(text, at, { field: 'title', value }))}
      />
      {show === 'text' ? (
        <Field id="panel-text" label="Text">
          <textarea
            id="panel-text"
            className="input"
            rows={4}
            value={panel.text}
            onChange={({ target }) =>
              onChange(withPanelText(text, at, { field: 'text', value: target.value }))
            }
          />
        </Field>
      ) : (
        <>
          <EndpointField
            value={panel.endpoint}
            endpoints={endpoints}
            onChange={(name) =>
              onChange(
                withEndpoint(
                  text,
                  at,
                  name,
                  parametersOf(name).map((one) => one.name),
                ),
              )
            }
          />
          <ParameterFields
            label="Parameters of the panel"
            values={panel.parameters}
            declared={parametersOf(panel.endpoint)}
            onChange={(name, value) => onChange(withPanelParameter(text, at, name, value))}
          />
        </>
      )}
      <PanelActions {...props} />
    </fieldset>
  );
}

interface EndpointFieldProps {
  readonly value: string;
  readonly endpoints: readonly EndpointView[];
  readonly onChange: (name: string) => void;
}

function EndpointField({ value, endpoints, onChange }: EndpointFieldProps) {
  const found = endpoints.find(({ name, id }) => name === value || id === value.toLowerCase());
  return (
    <ChoiceField
      label="Endpoint"
      help={found?.description}
      value={found?.name ?? value}
      options={endpoints.map(({ name }) => name)}
      onChange={onChange}
    >
      {found === undefined && (
        <option value={value}>{value === '' ? 'Choose one' : `${value}, removed`}</option>
      )}
    </ChoiceField>
  );
}

function PanelActions({
  mayMove,
  onMove,
  onRemove,
}: Pick<PanelFieldsProps, 'mayMove' | 'onMove' | 'onRemove'>) {
  return (
    <div className="dashboard-form-actions">
      <Button disabled={!mayMove(-1)} onClick={() => onMove(-1)}>
        Move up
      </Button>
      <Button disabled={!mayMove(1)} onClick={() => onMove(1)}>
        Move down
      </Button>
      <Button disabled={onRemove === undefined} onClick={() => onRemove?.()}>
        Remove
      </Button>
    </div>
  );
}

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

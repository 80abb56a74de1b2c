import type { EndpointView } from '../../../../../src/management/view.ts';
import { Button } from '../../../ui/button.tsx';
import { ChoiceField, Field, TextField } from '../../../ui/form.tsx';
import {
  type PanelForm,
  type Place,
  withEndpoint,
  withPanelParameter,
  withPanelText,
  withShow,
} from './file-form.ts';
import { ParameterFields } from './parameter-fields.tsx';

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

import type { EndpointView } from '../../../../../src/management/view.ts';
import { Button } from '../../../ui/button.tsx';
import { Field } from '../../../ui/field.tsx';
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
      <Field id="panel-show" label="Shows">
        <select
          id="panel-show"
          className="input"
          value={show}
          onChange={({ target }) => onChange(withShow(text, at, target.value, endpoints[0]?.name ?? ''))}
        >
          {KINDS.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </Field>
      <Field id="panel-title" label="Title">
        <input
          id="panel-title"
          className="input"
          value={title}
          onChange={({ target }) =>
            onChange(withPanelText(text, at, { field: 'title', value: target.value }))
          }
        />
      </Field>
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
    <Field id="panel-endpoint" label="Endpoint" help={found?.description}>
      <select
        id="panel-endpoint"
        className="input"
        aria-describedby="panel-endpoint-help"
        value={found?.name ?? value}
        onChange={({ target }) => onChange(target.value)}
      >
        {found === undefined && (
          <option value={value}>{value === '' ? 'Choose one' : `${value}, removed`}</option>
        )}
        {endpoints.map(({ name }) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </Field>
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

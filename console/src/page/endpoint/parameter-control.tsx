import { useId } from 'react';
import type { EndpointView } from '../../../../src/management/view.ts';
import type { ApiError } from '../../api/client.ts';
import { ownMember, type Values } from '../../format/values.ts';
import { Editor } from '../../ui/editor/editor.tsx';
import { describedBy, Field, Input, Select } from '../../ui/form.tsx';
import { Tag } from '../../ui/page-part.tsx';
import { TimeControl } from '../../ui/time/time-control.tsx';

interface ParameterControlProps {
  readonly id: string;
  readonly parameter: EndpointView['parameters'][number];
  readonly value: string;
  readonly suggestions: readonly string[];
  readonly onChange: (value: string) => void;
  /** Set for a caller's SELECT, which is written in an editor. */
  readonly onRun?: (() => void) | undefined;
}

export function ParameterControl(props: ParameterControlProps) {
  const { id, parameter, value, suggestions, onChange, onRun } = props;
  const { control, required, values, pinned, default: fallback } = parameter;
  const shared = { id, 'aria-describedby': describedBy(id), disabled: pinned !== null };
  if (onRun !== undefined) return <Editor language="sql" label="sql" {...{ value, onChange, onRun }} />;
  if (control === 'choice') {
    return (
      <Select
        {...{ ...shared, value, onChange }}
        options={values.map((one) => [one, one === fallback ? `${one} (default)` : one])}
      >
        {!required && fallback === '' && <option value="">any</option>}
        {!values.includes(value) && value !== '' && <option value={value}>{value}</option>}
      </Select>
    );
  }
  if (control === 'time')
    return <TimeControl {...{ ...shared, value, onChange }} picks={AGO} clear="Clear" />;
  return <Input {...{ ...shared, ...INPUTS[control], value, required, suggestions, onChange }} />;
}

const INPUTS = {
  text: { type: 'text' },
  number: { type: 'number', step: 'any' },
  date: { type: 'date' },
  list: { type: 'text', placeholder: 'one, or several with commas between them' },
};

const AGO = [
  ['−15 min', -15 * 60_000],
  ['−1 h', -3_600_000],
  ['−1 d', -86_400_000],
] as const;

interface ParameterFieldsProps {
  readonly parameters: EndpointView['parameters'];
  readonly values: Values;
  readonly error: ApiError | undefined;
  readonly projects: readonly string[] | undefined;
  readonly helpOf?: (parameter: EndpointView['parameters'][number]) => string;
  /** Runs a caller's SELECT; undefined if the endpoint takes none. */
  readonly onRun?: ParameterControlProps['onRun'];
  readonly onChange: (name: string, value: string) => void;
}

export function ParameterFields(props: ParameterFieldsProps) {
  const { parameters, values, error, projects = [], helpOf, onRun, onChange } = props;
  const id = useId();
  return parameters.map((parameter) => {
    const { name, required, pinned } = parameter;
    return (
      <Field
        key={name}
        id={`${id}-${name}`}
        label={
          <>
            {name}
            {required && <span className="muted small">required</span>}
            {pinned !== null && <Tag tone="accent">set by your key</Tag>}
          </>
        }
        help={helpOf?.(parameter)}
        fault={error?.errors.find((one) => one.parameter === name)?.message}
      >
        <ParameterControl
          id={`${id}-${name}`}
          parameter={parameter}
          value={ownMember(values, name) ?? ''}
          suggestions={name === 'project' ? projects : []}
          onChange={(value) => onChange(name, value)}
          onRun={name === 'sql' ? onRun : undefined}
        />
      </Field>
    );
  });
}

type Parameter = EndpointView['parameters'][number];
type Fillable = Pick<Parameter, 'name' | 'pinned' | 'default'> &
  Partial<Pick<Parameter, 'required' | 'values'>>;

/** The values of a form: the pins of the key, those given, and defaults. A required choice has no empty one. */
export function fillIn(parameters: readonly Fillable[], values: Values): Record<string, string> {
  return Object.fromEntries(
    parameters.map(({ name, pinned, default: fallback, required = false, values: [first = ''] = [] }) => [
      name,
      pinned ?? ownMember(values, name) ?? (required && fallback === '' ? first : fallback),
    ]),
  );
}

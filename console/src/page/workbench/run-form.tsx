import { type FormEvent, useId } from 'react';
import type { EndpointView } from '../../../../src/management/view.ts';
import type { ApiError } from '../../api/client.ts';
import { ownMember } from '../../format/own.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { ParameterControl } from '../endpoint/parameter-control.tsx';

interface RunFormProps {
  readonly parameters: EndpointView['parameters'];
  readonly values: Readonly<Record<string, string>>;
  readonly projects: readonly string[];
  readonly busy: boolean;
  /** The error of the last run, which may name parameters. */
  readonly error: ApiError | undefined;
  readonly onChange: (name: string, value: string) => void;
  readonly onRun: () => void;
  readonly onStop: () => void;
}

/** The declared parameters as a form. */
export function RunForm(props: RunFormProps) {
  const { parameters, values, projects, busy, error, onChange, onRun, onStop } = props;
  const id = useId();
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    onRun();
  };
  return (
    <form className="bench-form" onSubmit={onSubmit} noValidate aria-label="Parameters">
      {parameters.map((parameter) => (
        <Field
          key={parameter.name}
          id={`${id}-${parameter.name}`}
          label={
            <>
              {parameter.name}
              {parameter.required && <span className="muted small">required</span>}
            </>
          }
          fault={error?.errors.find((one) => one.parameter === parameter.name)?.message}
        >
          <ParameterControl
            id={`${id}-${parameter.name}`}
            parameter={parameter}
            value={ownMember(values, parameter.name) ?? ''}
            suggestions={parameter.name === 'project' ? projects : []}
            onChange={(value) => onChange(parameter.name, value)}
          />
        </Field>
      ))}
      <div className="bench-run">
        <Button type="submit" look="primary" aria-disabled={busy}>
          {busy ? 'Running…' : 'Run'}
        </Button>
        <Button disabled={!busy} onClick={onStop}>
          Stop
        </Button>
        <span className="small muted">
          <kbd>Ctrl</kbd> <kbd>Enter</kbd> in an editor
        </span>
      </div>
    </form>
  );
}

/** The values to run with: a required choice has no empty one. */
export function fillIn(
  parameters: EndpointView['parameters'],
  values: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(
    parameters.map(({ name, default: fallback, required, values: [first = ''] }) => [
      name,
      ownMember(values, name) ?? (required && fallback === '' ? first : fallback),
    ]),
  );
}

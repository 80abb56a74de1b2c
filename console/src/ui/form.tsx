import { type ComponentProps, type ReactNode, useEffect, useId, useRef } from 'react';
import type { ApiError } from '../api/client.ts';
import './form.css';

interface FormProps extends Omit<ComponentProps<'form'>, 'onSubmit'> {
  readonly onSubmit: (data: FormData) => void;
  /** What the service has rejected: the first control with a fault gets the focus. */
  readonly error?: unknown;
}

/** A form that the page sends. The service checks it, not the browser. */
export function Form({ onSubmit, error, ...props }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (error == null) return;
    const wrong = '[aria-invalid="true"], [data-wrong="true"] :is(input, select, button)';
    form.current?.querySelector<HTMLElement>(wrong)?.focus();
  }, [error]);
  return (
    <form
      noValidate
      ref={form}
      {...props}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit(new FormData(event.currentTarget));
      }}
    />
  );
}

/** The faults that the service reports for a member of a body or one inside it: `pins`, `pins.project`. */
export function faultOf(error: ApiError | null | undefined, member: string): string | undefined {
  const own = (error?.errors ?? []).filter(
    ({ parameter }) => parameter === member || parameter.startsWith(`${member}.`),
  );
  if (own.length === 0) return undefined;
  return own.map(({ parameter, message }) => `${parameter} ${message}`).join('; ');
}

interface Labelled {
  readonly label: ReactNode;
  readonly help?: ReactNode;
  /** The fault of the value. */
  readonly fault?: string | undefined;
}

interface FieldProps extends Labelled {
  readonly id: string;
  readonly children: ReactNode;
}

/** A labelled control, which takes `id`, and `describedBy(id)` as `aria-describedby`. */
export function Field({ id, label, children, ...about }: FieldProps) {
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children}
      <Help id={describedBy(id)} {...about} />
    </div>
  );
}

export function describedBy(id: string): string {
  return `${id}-help`;
}

function Help({ id, help, fault }: Pick<Labelled, 'help' | 'fault'> & { readonly id: string }) {
  return (
    <div id={id} className="field-help">
      {fault === undefined ? help : <span className="tone-bad">{fault}</span>}
    </div>
  );
}

type Control<Tag extends 'input' | 'select'> = Labelled &
  Omit<ComponentProps<Tag>, keyof Labelled | 'id' | 'value' | 'onChange' | 'className'> & {
    /** Without one the control keeps its value, and the form has it under `name`. */
    readonly value?: string;
    readonly onChange?: (value: string) => void;
  };

/** What the controls of fields share, and their own properties. */
function useControl<Props extends Labelled>({ label, help, fault, ...own }: Props) {
  const id = useId();
  const shared = {
    id,
    className: 'input',
    'aria-describedby': describedBy(id),
    'aria-invalid': fault !== undefined,
  };
  return { field: { id, label, help, fault }, props: { ...shared, ...own } };
}

type TextFieldProps = Control<'input'> & { readonly suggestions?: readonly string[] };

/** A line of text, or what `type` says. */
export function TextField({ suggestions, onChange, ...given }: TextFieldProps) {
  const { field, props } = useControl(given);
  const list = `${field.id}-list`;
  return (
    <Field {...field}>
      <input
        {...{ autoComplete: 'off', spellCheck: false, ...props }}
        {...(suggestions && { list })}
        onChange={(event) => onChange?.(event.target.value)}
      />
      {suggestions && <Suggestions id={list} values={suggestions} />}
    </Field>
  );
}

/** Values that a field of text with this `list` suggests, each once. */
export function Suggestions({ id, values }: { readonly id: string; readonly values: readonly string[] }) {
  return (
    <datalist id={id}>
      {[...new Set(values)].map((one) => (
        <option key={one} value={one} />
      ))}
    </datalist>
  );
}

interface Choices {
  /** Values, or with their labels. */
  readonly options: readonly (string | readonly [value: string, label: string])[];
}

/** One of a few values. @param children further options */
export function ChoiceField({ options, children, onChange, ...given }: Control<'select'> & Choices) {
  const { field, props } = useControl(given);
  return (
    <Field {...field}>
      <select {...props} onChange={(event) => onChange?.(event.target.value)}>
        {children}
        <Options options={options} />
      </select>
    </Field>
  );
}

export function Options({ options }: Choices) {
  return options.map((option) => {
    const [value, text] = typeof option === 'string' ? [option, option] : option;
    return (
      <option key={value} value={value}>
        {text}
      </option>
    );
  });
}

interface GroupProps extends Pick<Labelled, 'help' | 'fault'> {
  readonly legend: string;
  readonly children: ReactNode;
}

/** A group of controls for one value. */
export function Group({ legend, children, ...about }: GroupProps) {
  const id = useId();
  return (
    <fieldset className="field group" aria-describedby={id} data-wrong={about.fault !== undefined}>
      <legend>{legend}</legend>
      {children}
      <Help id={id} {...about} />
    </fieldset>
  );
}

interface ChecksProps {
  /** Under which the form has them. */
  readonly name: string;
  readonly items: readonly {
    readonly value: string;
    readonly label: ReactNode;
    /** At first. */
    readonly isChecked: boolean;
    readonly isDisabled?: boolean;
  }[];
  /** Whether each has a line of its own. */
  readonly isListed?: boolean;
}

/** Any of a few values. */
export function Checks({ name, items, isListed = false }: ChecksProps) {
  return (
    <div className={isListed ? 'choices is-listed' : 'choices'}>
      {items.map(({ value, label, isChecked, isDisabled }) => (
        <label className="field-check" key={value}>
          <input type="checkbox" {...{ name, value }} defaultChecked={isChecked} disabled={isDisabled} />
          <span>{label}</span>
        </label>
      ))}
    </div>
  );
}

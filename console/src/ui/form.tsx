import {
  type ChangeEvent,
  type ComponentProps,
  createContext,
  type ReactNode,
  use,
  useEffect,
  useId,
  useRef,
} from 'react';
import { ApiError } from '../api/client.ts';
import './form.css';

interface FormProps extends Omit<ComponentProps<'form'>, 'onSubmit'> {
  readonly onSubmit: (data: FormData) => void;
  /** What the service has rejected, which its controls show: the first of them gets the focus. */
  readonly error?: unknown;
}

const RejectedContext = createContext<ApiError | undefined>(undefined);

/** A form that the page sends. The service checks it, not the browser. */
export function Form({ onSubmit, error, ...props }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (error == null) return;
    const wrong = '[aria-invalid="true"], [data-wrong="true"] :is(input, select, button)';
    form.current?.querySelector<HTMLElement>(wrong)?.focus();
  }, [error]);
  return (
    <RejectedContext value={error instanceof ApiError ? error : undefined}>
      <form
        noValidate
        ref={form}
        {...props}
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit(new FormData(event.currentTarget));
        }}
      />
    </RejectedContext>
  );
}

/** The faults that the service reports for a member of the form's body or one inside it: `pins`, `pins.project`. */
export function useFault(member = ''): string | undefined {
  const own = (use(RejectedContext)?.errors ?? []).filter(
    ({ parameter }) => parameter === member || parameter.startsWith(`${member}.`),
  );
  if (own.length === 0) return undefined;
  return own.map(({ parameter, message }) => `${parameter} ${message}`).join('; ');
}

interface Labelled {
  readonly label: ReactNode;
  readonly help?: ReactNode;
  readonly fault?: string | undefined;
}

/** A labelled control, which takes `id`, and `describedBy(id)` as `aria-describedby`. */
export function Field(props: Labelled & Readonly<{ id: string; children: ReactNode }>) {
  const { id, label, children, ...about } = props;
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
  Omit<Own<Tag>, keyof Labelled | 'id' | 'value' | 'className'> & {
    /** Without one the control keeps its value, and the form has it under `name`. */
    readonly value?: string;
  };

/** What the controls of fields share, and their own properties. */
function useControl<Props extends Labelled & { name?: string | undefined }>(given: Props) {
  const rejected = useFault(given.name);
  const { label, help, fault = rejected, ...own } = given;
  const id = useId();
  const shared = { id, 'aria-describedby': describedBy(id), 'aria-invalid': fault !== undefined };
  return { field: { id, label, help, fault }, props: { ...shared, ...own } };
}

/** A control whose changes are its new values. */
type Own<Tag extends 'input' | 'select'> = Omit<ComponentProps<Tag>, 'onChange'> & {
  readonly onChange?: ((value: string, event: ChangeEvent<HTMLElement>) => void) | undefined;
};

interface Suggesting {
  /** Values that it suggests, each once. */
  readonly suggestions?: readonly string[];
}

export function Input({ className = '', suggestions = [], onChange, ...props }: Own<'input'> & Suggesting) {
  const list = useId();
  const values = [...new Set(suggestions)];
  return (
    <>
      <input
        autoComplete="off"
        spellCheck={false}
        list={values.length > 0 ? list : undefined}
        {...props}
        className={`input ${className}`.trim()}
        onChange={(event) => onChange?.(event.target.value, event)}
      />
      {values.length > 0 && (
        <datalist id={list}>
          {values.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </>
  );
}

interface Choices {
  /** Values, each once, or with their labels. */
  readonly options: readonly (string | readonly [value: string, label: string])[];
}

/** One of a few values. @param children options before these */
export function Select(all: Own<'select'> & Partial<Choices>) {
  const { className = '', options = [], children, onChange, ...props } = all;
  return (
    <select
      {...props}
      className={`input ${className}`.trim()}
      onChange={(event) => onChange?.(event.target.value, event)}
    >
      {children}
      <Options options={options} />
    </select>
  );
}

export function TextField(given: Control<'input'> & Suggesting) {
  const { field, props } = useControl(given);
  return (
    <Field {...field}>
      <Input {...props} />
    </Field>
  );
}

export function ChoiceField(given: Control<'select'> & Choices) {
  const { field, props } = useControl(given);
  return (
    <Field {...field}>
      <Select {...props} />
    </Field>
  );
}

export function Options({ options }: Choices) {
  return [...new Set(options)].map((option) => {
    const [value, text] = typeof option === 'string' ? [option, option] : option;
    return (
      <option key={value} value={value}>
        {text}
      </option>
    );
  });
}

interface GroupProps extends Pick<Labelled, 'help'> {
  /** Member of the body. */
  readonly name: string;
  readonly legend: string;
  readonly children: ReactNode;
}

export function Group({ name, legend, help, children }: GroupProps) {
  const id = useId();
  const fault = useFault(name);
  return (
    <fieldset className="field group" aria-describedby={id} data-wrong={fault !== undefined}>
      <legend>{legend}</legend>
      {children}
      <Help {...{ id, help, fault }} />
    </fieldset>
  );
}

/** A checkbox with its label. */
export function Check({ children, title, ...input }: ComponentProps<'input'>) {
  return (
    <label className="field-check" title={title}>
      <input type="checkbox" {...input} />
      <span>{children}</span>
    </label>
  );
}

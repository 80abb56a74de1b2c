import { type ComponentProps, type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react';
import type { ApiError } from '../api/client.ts';
import { ownMember } from '../format/values.ts';
import icon from '../icon.svg';

interface PageHeadProps {
  readonly title: string;
  readonly children?: ReactNode;
  /** What can be done; hidden in print. */
  readonly actions?: ReactNode;
}

export function PageHead({ title, children, actions }: PageHeadProps) {
  const head = (
    <div className="page-head">
      <h1>{title}</h1>
      {children !== undefined && <p>{children}</p>}
    </div>
  );
  if (actions === undefined) return head;
  return (
    <div className="page-title">
      {head}
      <div className="row">{actions}</div>
    </div>
  );
}

interface MissingPageProps extends PageHeadProps {
  readonly error: ApiError | undefined;
  /** Whether the key may not know it; by default by the status. */
  readonly isUnknown?: boolean;
  /** `No such alert`; the children say more. */
  readonly unknown: string;
}

/** A page without what it is about: that is being read, cannot be read, or is unknown to the key. */
export function MissingPage(props: MissingPageProps) {
  const { title, error, isUnknown = error?.status === 404, unknown, children } = props;
  return (
    <>
      <PageHead title={title} />
      {isUnknown ? <Empty title={unknown}>{children}</Empty> : <Reading error={error} />}
    </>
  );
}

/** `level:error · Explore · Tailrace` */
export function nameWindow(title: string): void {
  document.title = `${title} · Tailrace`;
}

interface PanelProps {
  readonly title: string;
  readonly actions?: ReactNode;
  /** Without padding, for tables. */
  readonly flush?: boolean;
  readonly children: ReactNode;
}

export function Panel({ title, actions, flush = false, children }: PanelProps) {
  const id = useId();
  return (
    <section className={flush ? 'panel is-flush' : 'panel'} aria-labelledby={id}>
      <div className="panel-head">
        <h2 id={id}>{title}</h2>
        {actions}
      </div>
      <div className="panel-body">{children}</div>
    </section>
  );
}

interface StatProps {
  readonly label: string;
  readonly value: ReactNode;
  readonly unit?: string;
  readonly tone?: 'ok' | 'warn' | 'bad';
  readonly below?: ReactNode;
}

/** One large number; inside a `dl`. */
export function Stat({ label, value, unit, tone, below }: StatProps) {
  return (
    <div className="stat">
      <dt>{label}</dt>
      <dd className={tone === undefined ? '' : `tone-${tone}`}>
        <span>{value}</span> {unit !== undefined && <span className="stat-unit">{unit}</span>}
        {below !== undefined && <div className="stat-below">{below}</div>}
      </dd>
    </div>
  );
}

/** Advice for a failure, by its code (docs/errors.md). */
const ADVICE: Readonly<Record<string, string>> = {
  unreachable: 'Check that the service runs at this address, and try again.',
  invalid_parameter: 'Change these values and run again.',
  forbidden: 'Sign in with a key that may do this.',
  endpoint_not_found: 'It may have been renamed or removed: choose one from the list.',
  query_failed: 'The query failed on this data. Try other values; the service’s log has the cause.',
  rate_limited: 'Wait a moment, then retry.',
  overloaded: 'The service is overloaded. Wait a moment, or query less data.',
  engine_unavailable:
    'The engine or the store of keys is unavailable; the service’s log has the reason. Try again in a moment.',
  query_timeout: 'Query a shorter range, or let the operator raise TAILRACE_QUERY_TIMEOUT_MS.',
  internal: 'The service’s log has the cause under the request id.',
};

export function ErrorNote({ error }: { readonly error: ApiError }) {
  const { message, code, status, errors, requestId, retryAfterSeconds } = error;
  const advice = ownMember(ADVICE, code);
  return (
    <div className="note is-bad" role="alert">
      <strong>{message}</strong>
      {errors.length > 1 && (
        <ul>
          {errors.map((one) => (
            <li key={`${one.parameter} ${one.message}`}>
              <code>{one.parameter}</code> {one.message}
            </li>
          ))}
        </ul>
      )}
      {advice !== undefined && <span>{advice}</span>}
      {status > 0 && (
        <span className="small muted">
          {status} <code>{code}</code>
          {retryAfterSeconds !== undefined && `  · retry in ${retryAfterSeconds} s`}
          {requestId !== undefined && ` · request ${requestId}`}
        </span>
      )}
    </div>
  );
}

/** Something that is not there yet: it is being read, or cannot be read. */
export function Reading({ error }: { readonly error?: ApiError | null | undefined }) {
  return error ? <ErrorNote error={error} /> : <p className="muted">Reading…</p>;
}

interface EmptyProps {
  readonly title: string;
  /** Whether it replaces a page, whose heading its title then is. */
  readonly isPage?: boolean;
  readonly children: ReactNode;
}

/** Replaces missing content: says what would be here and how to get it. */
export function Empty({ title, isPage = false, children }: EmptyProps) {
  return (
    <div className="empty">
      {isPage ? <h1>{title}</h1> : <strong>{title}</strong>}
      <p>{children}</p>
    </div>
  );
}

export type Tone = 'neutral' | 'ok' | 'warn' | 'bad' | 'accent';

export function Tag({ tone = 'neutral', children }: { readonly tone?: Tone; readonly children: ReactNode }) {
  return <span className={tone === 'neutral' ? 'tag' : `tag is-${tone}`}>{children}</span>;
}

export function Mark() {
  return <img src={icon} alt="" width="32" height="32" />;
}

interface ButtonProps extends ComponentProps<'button'> {
  /** `primary`: the likeliest of several; `danger`: what cannot be undone. */
  readonly look?: 'primary' | 'danger';
}

/** A button, which submits no form unless its type says so. */
export function Button({ look, className = '', ...props }: ButtonProps) {
  return (
    <button type="button" className={`button ${look ? `is-${look}` : ''} ${className}`.trim()} {...props} />
  );
}

/** A button beside others that matter more: without a frame. */
export function QuietButton({ className = '', ...props }: ComponentProps<'button'>) {
  return <button type="button" className={`button is-quiet ${className}`.trim()} {...props} />;
}

const SHOWN_MS = 2_000;

interface CopyButtonProps {
  /** A function if it depends on the time of the click. */
  readonly text: string | (() => string);
  readonly label?: string;
  readonly title?: string;
}

export function CopyButton({ text, label = 'Copy', title }: CopyButtonProps) {
  const [state, setState] = useState<'' | 'copied' | 'failed'>('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : text()); // rejected without HTTPS
      setState('copied');
    } catch {
      setState('failed');
    }
    setTimeout(() => setState(''), SHOWN_MS);
  };
  const words = { '': label, copied: 'Copied', failed: 'Select and copy by hand' };
  return (
    <QuietButton title={title} onClick={() => void copy()}>
      <span aria-live="polite">{words[state]}</span>
    </QuietButton>
  );
}

interface ChoiceProps<T extends string> {
  readonly label: string;
  /** Labels by id, in their order. */
  readonly options: Readonly<Partial<Record<T, string>>>;
  readonly selected: T;
  readonly onSelect: (id: T) => void;
}

/** Tabs by the ARIA pattern: arrow keys move between them. */
export function Tabs<T extends string>(props: ChoiceProps<T> & { readonly children: ReactNode }) {
  const { label, options, selected, onSelect, children } = props;
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    const ids = idsOf(options);
    const at = ids.indexOf(selected);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
    const tab = to === undefined ? undefined : ids.at(to % ids.length);
    if (tab === undefined) return;
    event.preventDefault();
    onSelect(tab);
    list.current?.querySelector<HTMLElement>(`[data-tab="${tab}"]`)?.focus();
  };
  return (
    <>
      <div className="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={onKeyDown}>
        {idsOf(options).map((tab) => (
          <button
            key={tab}
            type="button"
            role="tab"
            data-tab={tab}
            id={`${id}-${tab}`}
            aria-selected={tab === selected}
            aria-controls={`${id}-panel`}
            tabIndex={tab === selected ? 0 : -1}
            onClick={() => onSelect(tab)}
          >
            {options[tab]}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${selected}`} className="tab-panel">
        {children}
      </div>
    </>
  );
}

export function Segmented<T extends string>({ label, options, selected, onSelect }: ChoiceProps<T>) {
  const name = useId();
  return (
    <div className="segmented" role="radiogroup" aria-label={label}>
      {idsOf(options).map((id) => (
        <label key={id}>
          <input type="radio" name={name} checked={id === selected} onChange={() => onSelect(id)} />
          <span>{options[id]}</span>
        </label>
      ))}
    </div>
  );
}

function idsOf<T extends string>(options: Readonly<Partial<Record<T, string>>>): readonly T[] {
  return Object.keys(options) as T[]; // an object literal has no others
}

import { type RefObject, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useClient } from '../../api/client.ts';
import { Popover } from '../../ui/overlay/popover.tsx';
import type { ValuesOf } from './lines/field-list.tsx';
import { goToLines } from './lines/use-list.ts';
import './query-field.css';
import type { QueryFieldName } from './completion.ts';
import { tokenize } from './query-text.ts';
import { COMPLETED_CHARS_MAX, optionId, SuggestionList, useCompletion } from './use-completion.tsx';

interface QueryFieldProps {
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly onRun: (text: string) => void;
  readonly fields: readonly QueryFieldName[];
  readonly valuesOf: ValuesOf;
  /** The search that ran last, which becomes a recent one. */
  readonly searched: string;
  /** The service's message about `value`, such as `has ( without )`; `position` in UTF-16 units from 0. */
  readonly fault: { readonly message: string; readonly position?: number } | undefined;
}

/** The field of a search: completes fields and values, colours the text, shows a fault at its place. Enter runs it. */
export function QueryField(props: QueryFieldProps) {
  const { value, searched, onChange, onRun, fields, valuesOf, fault } = props;
  const id = useId();
  const keyId = useClient().self.id;
  const input = useRef<HTMLInputElement>(null);
  const [recent, setRecent] = useState<readonly string[]>([]);
  useEffect(() => setRecent(keepRecent(keyId, searched.trim())), [keyId, searched]);
  const completion = useCompletion({ input, text: value, fields, recent, valuesOf });
  const { suggestions, active, state, show } = completion;
  const note = NOTES[state];
  const isExpanded = suggestions.length > 0;
  const hasFault = fault !== undefined;
  useEffect(() => {
    // Enter has left the field, which is to be corrected.
    if (hasFault && document.activeElement === document.body) input.current?.focus();
  }, [hasFault]);
  const run = () => {
    show('closed');
    const text = value.trim();
    onChange(text); // a fault is about the text that ran
    onRun(text);
  };
  return (
    <div className="query-field">
      <div className="query-row">
        <div className="query-box">
          <QueryPaint text={value} faultAt={fault?.position} input={input} />
          <input
            ref={input}
            className="input"
            role="combobox"
            aria-label="Search"
            aria-autocomplete="list"
            aria-expanded={isExpanded}
            aria-controls={isExpanded ? `${id}-list` : undefined}
            aria-activedescendant={active === -1 ? undefined : optionId(`${id}-list`, active)}
            aria-invalid={hasFault}
            aria-describedby={`${id}-fault`}
            placeholder="Search messages and fields: timeout level:>=error"
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            enterKeyHint="search"
            value={value}
            onChange={({ target }) => {
              onChange(target.value);
              show('typed');
            }}
            onSelect={completion.move}
            onClick={() => value.trim() === '' && show('asked')}
            onBlur={() => show('closed')}
            onKeyDown={(event) => {
              if (event.nativeEvent.isComposing) return;
              if (completion.onKeyDown(event)) event.preventDefault();
              else if (event.key === 'Enter') {
                run();
                goToLines(event.currentTarget);
              }
            }}
          />
          {(isExpanded || note !== undefined) && (
            <SuggestionList
              id={`${id}-list`}
              suggestions={suggestions}
              active={active}
              note={note}
              onAccept={completion.accept}
            />
          )}
        </div>
        <QueryHelp />
      </div>
      <span className="visually-hidden" role="status">
        {note ?? (isExpanded ? `${suggestions.length} suggestions` : '')}
      </span>
      <p id={`${id}-fault`} className="query-fault" aria-live="polite">
        {fault && `The search ${fault.message}`}
      </p>
    </div>
  );
}

const NOTES = {
  none: undefined,
  read: undefined,
  reading: 'Reading values…',
  failed: 'Values could not be read.',
};

const ROWS = [
  ['timeout', 'the text in the message, in any letter case, also within a word'],
  ['"connection refused"', 'a text with spaces, colons, parentheses or quotes; \\" is a quote'],
  ['conn*refused', 'the texts in this order'],
  ['response.status_code:500', 'this value of a field'],
  ['request.path:/rest/*', 'a value of this form; * is any text, in quotes a letter like any other'],
  ['response.status_code:>=500', 'a range: >, >=, <, <=, of numbers if the value is one'],
  ['level:>=warn', 'trace, debug, info, warn, error, fatal, and ranges of them'],
  ['request.search:*', 'a value that is not empty'],
  ['-timeout   not timeout', 'events without it'],
  ['a b   a or b   (a or b) c', 'both, or one of them; and binds closer than or'],
] as const;

/** The language of searches, as docs/search.md has it. */
function QueryHelp() {
  return (
    <Popover title="Search syntax" label="Syntax">
      {() => (
        <>
          <table className="query-help">
            <thead>
              <tr>
                <th scope="col">Write</th>
                <th scope="col">To find events with</th>
              </tr>
            </thead>
            <tbody>
              {ROWS.map(([example, meaning]) => (
                <tr key={example}>
                  <th scope="row">
                    <code>{example}</code>
                  </th>
                  <td>{meaning}</td>
                </tr>
              ))}
            </tbody>
          </table>
          <p className="small muted">
            Fields are <code>source</code>, <code>project</code>, <code>level</code>, <code>id</code>,{' '}
            <code>timestamp</code>, <code>event_message</code>, and paths in the metadata. A name with other
            characters goes in quotes: <code>headers."x.request:id":*</code>
          </p>
        </>
      )}
    </Popover>
  );
}

interface QueryPaintProps {
  readonly text: string;
  /** UTF-16 units. */
  readonly faultAt: number | undefined;
  readonly input: RefObject<HTMLInputElement | null>;
}

/** The coloured text below a field whose own text is transparent, and a mark at its fault. Follows the field's scrolling. */
function QueryPaint({ text, faultAt, input }: QueryPaintProps) {
  const content = useRef<HTMLDivElement>(null);
  const tokens = useMemo(
    () =>
      text.length > COMPLETED_CHARS_MAX
        ? [{ kind: 'word' as const, from: 0, until: text.length }]
        : tokenize(text),
    [text],
  );
  useLayoutEffect(() => {
    const follow = () => {
      if (content.current && input.current)
        content.current.style.translate = `${-input.current.scrollLeft}px`;
    };
    follow();
    const ending = new AbortController();
    const { signal } = ending;
    for (const name of ['scroll', 'input', 'keyup', 'focus', 'blur'])
      input.current?.addEventListener(name, follow, { signal });
    // Not every browser reports the scrolling of a field, but a caret or a selection that scrolls it.
    document.addEventListener('selectionchange', follow, { signal });
    return () => ending.abort();
  });
  return (
    <div className="query-paint" aria-hidden="true">
      <div ref={content}>
        {tokens.map(({ kind, from, until }) => (
          <span key={from} className={`query-token is-${kind}`}>
            {text.slice(from, until)}
          </span>
        ))}
        {faultAt !== undefined && (
          <div className="query-mark">
            {text.slice(0, faultAt)}
            <mark>{text[faultAt] ?? ' '}</mark>
          </div>
        )}
      </div>
    </div>
  );
}

const COUNT_MAX = 10;

const nameOf = (keyId: string) => `tailrace.recent.${keyId}`;

/** Keeps a search among the last ones of a key in this browser tab. @returns them, the newest first */
function keepRecent(keyId: string, text: string): readonly string[] {
  const others = readRecent(keyId).filter((other) => other !== text);
  const recent = (text === '' ? others : [text, ...others]).slice(0, COUNT_MAX);
  sessionStorage.setItem(nameOf(keyId), JSON.stringify(recent));
  return recent;
}

function readRecent(keyId: string): readonly string[] {
  const kept: unknown = JSON.parse(sessionStorage.getItem(nameOf(keyId)) ?? '[]');
  return Array.isArray(kept) ? kept.filter((text) => typeof text === 'string') : [];
}

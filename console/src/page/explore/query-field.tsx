import { type KeyboardEvent, type RefObject, useEffect, useId, useMemo, useRef, useState } from 'react';
import { Popover } from '../../ui/overlay/popover.tsx';
import { goToLines } from './lines/line-list.tsx';
import './query-field.css';
import { showText } from '../../format/show.ts';
import { useAnalysis } from './analysis/use-analysis.tsx';
import { findPlace, type Place, type Suggestion, suggest, textToInsert } from './completion.ts';
import { type FieldValue, toFieldValue, UNIQUE, useExploring } from './exploring.ts';

interface QueryFieldProps {
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly onRun: (text: string) => void;
  /** The service's message about `value`, such as `has ( without )`. */
  readonly fault: { readonly message: string } | undefined;
}

export function QueryField({ value, onChange, onRun, fault }: QueryFieldProps) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const completion = useCompletion(input, value);
  const { suggestions, active, note, show } = completion;
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
          <input
            ref={input}
            className="input"
            role="combobox"
            aria-label="Search"
            aria-autocomplete="list"
            aria-expanded={isExpanded}
            aria-controls={isExpanded ? `${id}-list` : undefined}
            aria-activedescendant={active === -1 ? undefined : `${id}-list-${active}`}
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
          {(isExpanded || note !== undefined) && <SuggestionList id={`${id}-list`} completion={completion} />}
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

// Longer texts are pasted rather than typed, and the service rejects them by default.
const COMPLETED_CHARS_MAX = 8_192;

/** `typed`: the list has what continues the text before the caret; `asked`: everything that may stand there. */
type Mode = 'closed' | 'typed' | 'asked';

type Completion = ReturnType<typeof useCompletion>;

function useCompletion(input: RefObject<HTMLInputElement | null>, text: string) {
  const { fields } = useExploring();
  const [caret, setCaret] = useState(0);
  const [mode, setMode] = useState<Mode>('closed');
  // By text: values that arrive later shift its index.
  const [activeInsert, setActiveInsert] = useState<string>();
  const place = useMemo(
    () => (mode === 'closed' || text.length > COMPLETED_CHARS_MAX ? undefined : findPlace(text, caret)),
    [mode, text, caret],
  );
  const { values, note } = useFieldValues(place?.field);
  const suggestions = useMemo(
    () => (place === undefined ? [] : suggest({ text, place, fields, values, isAsked: mode === 'asked' })),
    [text, place, fields, values, mode],
  );
  const active = suggestions.findIndex(({ insert }) => insert === activeInsert);
  const show = (next: Mode): boolean => {
    setMode(next);
    setActiveInsert(undefined);
    setCaret(input.current?.selectionStart ?? 0);
    return true;
  };
  const accept = (suggestion: Suggestion | undefined): boolean => {
    if (input.current === null || place === undefined || suggestion === undefined) return false;
    insertInto(input.current, place, suggestion);
    show(suggestion.insert.endsWith(' ') ? 'closed' : 'typed');
    return true;
  };
  const choose = (step: number): boolean => {
    // One more than there are suggestions: the circle has a stop without a choice.
    const stops = suggestions.length + 1;
    setActiveInsert(suggestions[((active + 1 + step + stops) % stops) - 1]?.insert);
    return true;
  };
  const isOpen = suggestions.length > 0;
  const onKeyDown = ({ key, ctrlKey, shiftKey }: KeyboardEvent): boolean => {
    switch (key) {
      case 'ArrowDown':
        return isOpen ? choose(1) : show('asked');
      case 'ArrowUp':
        return isOpen && choose(-1);
      case ' ':
        return ctrlKey && show('asked');
      case 'Enter':
        return accept(suggestions[active]);
      case 'Tab':
        return !shiftKey && accept(suggestions[active] ?? (place?.typed === '' ? undefined : suggestions[0]));
      case 'Escape':
        return (isOpen || note !== undefined) && show('closed');
      default:
        return false;
    }
  };
  return {
    suggestions,
    active,
    note,
    show,
    accept,
    move: () => setCaret(input.current?.selectionStart ?? 0),
    /** @returns whether the key is used up */
    onKeyDown,
  };
}

/** Inserts a text as if it were typed: the field's own event reports it, the caret is behind it, and undo takes it back. */
function insertInto(input: HTMLInputElement, { from, until }: Place, suggestion: Suggestion): void {
  input.setSelectionRange(from, until);
  // The one way that keeps the field's history: after `setRangeText` undo would mix old and new text.
  document.execCommand('insertText', false, textToInsert(suggestion, input.value.slice(until)));
}

function SuggestionList({ id, completion }: { readonly id: string; readonly completion: Completion }) {
  const { suggestions, active, note, accept } = completion;
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  return (
    <div className="suggestions">
      {suggestions.length > 0 && (
        <div
          ref={list}
          id={id}
          role="listbox"
          aria-label="Suggestions"
          tabIndex={-1}
          onMouseDown={(event) => event.preventDefault()} // the field keeps the focus, even while the list is scrolled
        >
          {suggestions.map((suggestion, i) => (
            <div
              key={`${suggestion.kind} ${suggestion.insert}`}
              id={`${id}-${i}`}
              role="option"
              tabIndex={-1}
              aria-selected={i === active}
              className="suggestion"
              onMouseDown={() => accept(suggestion)}
            >
              <span className={`suggestion-label is-${suggestion.kind}`}>{showText(suggestion.label)}</span>
              <span className="suggestion-detail">{suggestion.detail}</span>
            </div>
          ))}
        </div>
      )}
      {note === undefined ? (
        <p className="suggestions-foot suggestions-keys">
          <kbd>↑</kbd> <kbd>↓</kbd> choose · <kbd>Tab</kbd> complete · <kbd>Enter</kbd> run · <kbd>Esc</kbd>{' '}
          close
        </p>
      ) : (
        <p className="suggestions-foot">{note}</p>
      )}
    </div>
  );
}

const NONE: readonly FieldValue[] = [];
// While a name is typed each letter may end a field.
const DELAY_MS = 150;

/** The most frequent values of a field, read once it is wanted for a moment; the read ends when another one is. */
function useFieldValues(wanted: string | undefined) {
  const { valuesPath } = useExploring();
  const isWanted = wanted !== undefined && !UNIQUE.includes(wanted);
  // Values of all events in the range: the search that ran may be the one that is being changed.
  const path = isWanted ? valuesPath(wanted, '') : undefined;
  const { rows = NONE, error, isReading } = useAnalysis(path, toFieldValue, DELAY_MS);
  if (!isWanted) return { values: NONE };
  if (isReading) return { values: NONE, note: 'Reading values…' };
  return { values: rows, ...(error !== null && { note: 'Values could not be read.' }) };
}

import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import { pause } from '../../api/follow.ts';
import { showText } from '../../format/log-text.ts';
import { findPlace, type Place, type Suggestion, suggest, textToInsert } from './completion.ts';
import { useExploring } from './exploring.ts';
import { type FieldValue, UNIQUE } from './fields.ts';

// Longer texts are pasted rather than typed, and the service rejects them by default.
const COMPLETED_CHARS_MAX = 8_192;

/** `typed`: the list has what continues the text before the caret; `asked`: everything that may stand there. */
type Mode = 'closed' | 'typed' | 'asked';

/** The list of suggestions of a text field and its keys. */
export function useCompletion(input: RefObject<HTMLInputElement | null>, text: string) {
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
    /** About the values of the field. */
    note,
    show,
    accept,
    /** Follows the caret. */
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

interface SuggestionListProps {
  readonly id: string;
  readonly suggestions: readonly Suggestion[];
  /** -1: none. */
  readonly active: number;
  readonly note: string | undefined;
  readonly onAccept: (suggestion: Suggestion) => void;
}

/** The options of a combobox, which keeps the focus. */
export function SuggestionList({ id, suggestions, active, note, onAccept }: SuggestionListProps) {
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
              id={optionId(id, i)}
              role="option"
              tabIndex={-1}
              aria-selected={i === active}
              className="suggestion"
              onMouseDown={() => onAccept(suggestion)}
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

export function optionId(listId: string, index: number): string {
  return `${listId}-${index}`;
}

const NONE: readonly FieldValue[] = [];
// While a name is typed each letter may end a field.
const DELAY_MS = 150;

/** The most frequent values of a field, read once it is wanted for a moment; the read ends when another one is. */
function useFieldValues(wanted: string | undefined) {
  const { valuesOf } = useExploring();
  const isWanted = wanted !== undefined && !UNIQUE.includes(wanted);
  // Of all events in the range: the search that ran may be the one that is being changed.
  const { queryKey, queryFn } = valuesOf(wanted ?? '', '');
  const { data = NONE, status } = useQuery({
    queryKey,
    queryFn: async (context) => {
      await pause(DELAY_MS, context.signal);
      return queryFn(context);
    },
    enabled: isWanted,
    // A list that is open does not change; another range or field is another query.
    staleTime: Number.POSITIVE_INFINITY,
  });
  return isWanted ? { values: data, note: NOTES[status] } : { values: NONE, note: undefined };
}

const NOTES = {
  success: undefined,
  pending: 'Reading values…',
  error: 'Values could not be read.',
};

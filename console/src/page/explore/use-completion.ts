import { type KeyboardEvent, type RefObject, useMemo, useState } from 'react';
import type { ValuesOf } from '../../ui/lines/field-list.tsx';
import {
  findPlace,
  type Place,
  type QueryFieldName,
  type Suggestion,
  suggest,
  textToInsert,
} from './completion.ts';
import { useFieldValues } from './use-field-values.ts';

interface CompletionOptions {
  readonly input: RefObject<HTMLInputElement | null>;
  readonly text: string;
  readonly fields: readonly QueryFieldName[];
  readonly recent: readonly string[];
  readonly valuesOf: ValuesOf;
}

// Longer texts are pasted rather than typed, and the service rejects them by default.
export const COMPLETED_CHARS_MAX = 8_192;

/** `typed`: the list has what continues the text before the caret; `asked`: everything that may stand there. */
type Mode = 'closed' | 'typed' | 'asked';

/** The list of suggestions of a text field and its keys. */
export function useCompletion({ input, text, fields, recent, valuesOf }: CompletionOptions) {
  const [caret, setCaret] = useState(0);
  const [mode, setMode] = useState<Mode>('closed');
  // By text: values that arrive later shift its index.
  const [activeInsert, setActiveInsert] = useState<string>();
  const place = useMemo(
    () => (mode === 'closed' || text.length > COMPLETED_CHARS_MAX ? undefined : findPlace(text, caret)),
    [mode, text, caret],
  );
  const { values, state } = useFieldValues(place?.kind === 'value' ? place.field : undefined, valuesOf);
  const suggestions = useMemo(
    () =>
      place === undefined ? [] : suggest({ text, place, fields, values, recent, isAsked: mode === 'asked' }),
    [text, place, fields, values, recent, mode],
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
    show(suggestion.insert.endsWith(' ') || suggestion.kind === 'recent' ? 'closed' : 'typed');
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
        return (isOpen || state === 'reading' || state === 'failed') && show('closed');
      default:
        return false;
    }
  };
  return {
    suggestions,
    active,
    state,
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

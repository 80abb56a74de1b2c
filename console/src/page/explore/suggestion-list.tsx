import { useEffect, useRef } from 'react';
import { showText } from '../../format/log-text.ts';
import type { Suggestion } from './completion.ts';

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
              <span className={`suggestion-label query-token is-${suggestion.kind}`}>
                {showText(suggestion.label)}
              </span>
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

import { useEffect, useId, useRef, useState } from 'react';
import { useClient } from '../../api/client.ts';
import type { ValuesOf } from '../../ui/lines/field-list.tsx';
import { goToLines } from '../../ui/lines/use-line-keys.ts';
import type { QueryFieldName } from './completion.ts';
import { QueryHelp } from './query-help.tsx';
import { QueryPaint } from './query-paint.tsx';
import { keepRecent } from './recent-query.ts';
import { optionId, SuggestionList } from './suggestion-list.tsx';
import { useCompletion } from './use-completion.ts';
import './query-field.css';

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

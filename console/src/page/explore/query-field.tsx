import { useEffect, useId, useRef } from 'react';
import { Popover } from '../../ui/overlay/popover.tsx';
import { goToLines } from './lines/use-list.ts';
import './query-field.css';
import { optionId, SuggestionList, useCompletion } from './use-completion.tsx';

interface QueryFieldProps {
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly onRun: (text: string) => void;
  /** The service's message about `value`, such as `has ( without )`. */
  readonly fault: { readonly message: string } | undefined;
}

/** The field of a search: completes fields and values, and shows a fault. Enter runs it. */
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

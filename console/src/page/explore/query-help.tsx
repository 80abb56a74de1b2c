import { Popover } from '../../ui/overlay/popover.tsx';

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
export function QueryHelp() {
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

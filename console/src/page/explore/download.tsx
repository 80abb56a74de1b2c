import { useState } from 'react';
import { findNext } from '../../api/answer.ts';
import { useClient } from '../../api/queries.ts';
import { formatCount } from '../../format/show.ts';
import { Popover } from '../../ui/overlay/popover.tsx';
import { Button, QuietButton } from '../../ui/page-part.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { useExploring } from './exploring.ts';
import { LINES_MAX } from './lines/line.ts';
import { useWork } from './lines/use-work.tsx';
import { searchPath } from './search.ts';

const FORMATS = [
  ['csv', 'CSV', 'text/csv'],
  ['ndjson', 'NDJSON', 'application/x-ndjson'],
] as const;
type Format = (typeof FORMATS)[number][0];

const PAGE_ROWS = 1_000;

/** Saves the events of the search, the newest first, whether the list shows them or not. */
export function Download() {
  const client = useClient();
  const { search } = useExploring();
  const { state, start, stop } = useWork();
  const [rows, setRows] = useState(0);
  const [isCut, setCut] = useState(false);
  const save = (format: Format, type: string) =>
    start(async (signal) => {
      const parts: string[] = [];
      let [cursor, count] = ['', 0];
      do {
        setRows(count);
        const more = { format, limit: String(PAGE_ROWS), cursor };
        const { text, headers } = await client.callRaw(searchPath(search, search, more), { signal });
        // Each page of CSV begins with the names of the columns.
        parts.push(format === 'csv' && cursor !== '' ? text.slice(text.indexOf('\n') + 1) : text);
        cursor = findNext(headers) ?? '';
        count += cursor === '' ? countRows(text, format) : PAGE_ROWS;
      } while (cursor !== '' && count < LINES_MAX);
      setRows(count);
      setCut(cursor !== '');
      saveFile(new Blob(parts, { type }), `search.${format}`);
    });
  return (
    <Popover title="Download" label="Download">
      {() => (
        <div className="explore-download small">
          <div className="explore-download-formats">
            {FORMATS.map(([format, label, type]) => (
              <Button key={format} disabled={state.kind === 'running'} onClick={() => save(format, type)}>
                {label}
              </Button>
            ))}
            {state.kind === 'running' && <QuietButton onClick={stop}>Stop</QuietButton>}
          </div>
          <p className="muted number" role="status">
            {state.kind === 'failed' && <span className="tone-bad">{state.error.message}</span>}
            {state.kind === 'running' && `${formatCount(rows)} events read…`}
            {state.kind === 'done' &&
              `Saved ${isCut ? 'the newest ' : ''}${formatCount(rows)} events${isCut ? '; there are more: choose a shorter range for those' : ''}.`}
            {(state.kind === 'idle' || state.kind === 'stopped') &&
              `All that match, at most the newest ${formatCount(LINES_MAX)}.`}
          </p>
        </div>
      )}
    </Popover>
  );
}

/** Lines, but those within the quotes of CSV. */
function countRows(text: string, format: Format): number {
  const bare = format === 'csv' ? text.replaceAll(/"[^"]*"/g, '') : text;
  return Math.max(0, bare.split('\n').length - 1 - (format === 'csv' ? 1 : 0));
}

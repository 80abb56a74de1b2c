import { useState } from 'react';
import { findNext } from '../../api/answer.ts';
import { type Client, useClient } from '../../api/client.ts';
import { formatCount } from '../../format/number.ts';
import { Button, QuietButton } from '../../ui/button.tsx';
import { Popover } from '../../ui/overlay/popover.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { LINES_MAX } from './lines/line.ts';
import { useWork } from './lines/use-work.tsx';
import { type Search, searchPath } from './search/search.ts';

const FORMATS = [
  ['csv', 'CSV', 'text/csv'],
  ['ndjson', 'NDJSON', 'application/x-ndjson'],
] as const;
type Format = (typeof FORMATS)[number][0];

/** Saves the events of the search, the newest first, whether the list shows them or not. */
export function Download({ search }: { readonly search: Search }) {
  const client = useClient();
  const { state, start, stop } = useWork();
  const [rows, setRows] = useState(0);
  const [isCut, setCut] = useState(false);
  const save = (format: Format, type: string) =>
    start(async (signal) => {
      setRows(0);
      const parts: string[] = [];
      const isWhole = await readAll(client, search, {
        ...{ format, signal },
        onPage(text, count) {
          parts.push(text);
          setRows(count);
        },
      });
      if (signal.aborted) return;
      setCut(!isWhole);
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

interface ReadOptions {
  readonly format: Format;
  readonly signal: AbortSignal;
  readonly onPage: (text: string, rows: number) => void;
}

const PAGE_ROWS = 1_000;

/** @returns whether that was all @throws ApiError */
async function readAll(
  client: Client,
  search: Search,
  { format, signal, onPage }: ReadOptions,
): Promise<boolean> {
  let cursor: string | undefined;
  for (let rows = 0; rows < LINES_MAX; ) {
    const more = { format, limit: String(PAGE_ROWS), ...(cursor !== undefined && { cursor }) };
    const { text, headers } = await client.callRaw(searchPath(search, search, more), { signal });
    // Each page of CSV begins with the names of the columns.
    const isNext = format === 'csv' && cursor !== undefined;
    cursor = findNext(headers);
    rows += cursor === undefined ? countRows(text, format) : PAGE_ROWS;
    onPage(isNext ? text.slice(text.indexOf('\n') + 1) : text, rows);
    if (cursor === undefined) return true;
  }
  return false;
}

/** Lines, but those within the quotes of CSV. */
function countRows(text: string, format: Format): number {
  const bare = format === 'csv' ? text.replaceAll(/"[^"]*"/g, '') : text;
  return Math.max(0, bare.split('\n').length - 1 - (format === 'csv' ? 1 : 0));
}

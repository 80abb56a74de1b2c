import type { EventSourceMessage } from 'eventsource-parser';
import type { Client } from './client.ts';

/** What is done with the rows of a live tail (docs/pages.md), and when it fails. */
interface TailHandlers {
  readonly signal: AbortSignal;
  /** Reads what came before a tail that begins with new rows only. @throws ApiError */
  readonly catchUp: () => Promise<void>;
  readonly onOpen: () => void;
  /** Takes rows as JSON, oldest first. */
  readonly onRows: (rows: readonly string[]) => void;
  readonly onFailure: (error: unknown) => void;
}

// Rows of a burst are shown at once: each change of the list is sorted and drawn.
const COLLECT_MS = 100;

// Between attempts to connect.
const PAUSE_MS = 2_000;

/** Follows the live tail at a path of the API until `signal` aborts; connects again if it ends. */
export async function followTail(
  openEvents: Client['openEvents'],
  path: string,
  { pauseMs = PAUSE_MS, ...handlers }: TailHandlers & { readonly pauseMs?: number },
): Promise<void> {
  const { signal } = handlers;
  let lastId = '';
  while (!signal.aborted) {
    try {
      const headers: Record<string, string> = lastId === '' ? {} : { 'last-event-id': lastId };
      const events = await openEvents(path, { headers, signal });
      handlers.onOpen();
      if (lastId === '') await handlers.catchUp();
      lastId = await readEvents(events, lastId, handlers);
    } catch (error) {
      if (signal.aborted) return;
      handlers.onFailure(error);
      // The cursor may be too old, or of another definition.
      if ((error as { status?: number }).status === 400) lastId = '';
    }
    await pause(pauseMs, signal);
  }
}

/** @returns where the next tail goes on */
async function readEvents(
  events: ReadableStream<EventSourceMessage>,
  from: string,
  { onRows, signal }: TailHandlers,
): Promise<string> {
  let lastId = from;
  let rows: string[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    timer = undefined;
    if (!signal.aborted && rows.length > 0) onRows(rows);
    rows = [];
  };
  const reader = events.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    const { event, id, data } = next.value;
    if (event !== 'row') continue;
    rows.push(data);
    lastId = id ?? lastId;
    timer ??= setTimeout(flush, COLLECT_MS);
  }
  clearTimeout(timer);
  flush();
  return lastId;
}

/** Resolves after some time, at once if the signal aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    setTimeout(resolve, ms);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

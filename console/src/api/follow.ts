import type { EventSourceMessage } from 'eventsource-parser';
import type { Client } from './client.ts';

/** A live tail (docs/pages.md), and what is done with its rows. */
export interface Followed {
  /** Connects after the event with this id; to new rows only if it is empty. @throws ApiError */
  readonly open: (lastId: string) => Promise<ReadableStream<EventSourceMessage>>;
  /** Reads what came before a tail that begins with new rows only. @throws ApiError */
  readonly catchUp: () => Promise<void>;
  /** Takes rows as JSON, oldest first. */
  readonly onRows: (rows: readonly string[]) => void;
  readonly onFailure: (error: unknown) => void;
  /** Before it connects again. */
  readonly pauseMs: number;
  readonly signal: AbortSignal;
}

// Rows of a burst are shown at once: each change of the list is sorted and drawn.
const COLLECT_MS = 100;

/** Follows a live tail until `signal` aborts; connects again if it ends. */
export async function follow(followed: Followed): Promise<void> {
  const { open, catchUp, onFailure, pauseMs, signal } = followed;
  let lastId = '';
  while (!signal.aborted) {
    try {
      const events = await open(lastId);
      if (lastId === '') await catchUp();
      lastId = await readEvents(events, lastId, followed);
    } catch (error) {
      if (signal.aborted) return;
      onFailure(error);
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
  { onRows, signal }: Followed,
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
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
  });
}

interface TailHandlers extends Pick<Followed, 'onRows' | 'onFailure'> {
  readonly catchUp: (signal: AbortSignal) => Promise<void>;
  /** After it has connected. */
  readonly onOpen: () => void;
}

// Between attempts to connect.
const PAUSE_MS = 2_000;

/** Follows the live tail at a path of the API. @returns a function that stops it */
export function followTail(client: Client, path: string, handlers: TailHandlers): () => void {
  const { catchUp, onOpen, onRows, onFailure } = handlers;
  const controller = new AbortController();
  const { signal } = controller;
  const open = async (lastId: string) => {
    const headers: Record<string, string> = lastId === '' ? {} : { 'last-event-id': lastId };
    const events = await client.openEvents(path, { headers, signal });
    onOpen();
    return events;
  };
  void follow({ open, catchUp: () => catchUp(signal), onRows, onFailure, pauseMs: PAUSE_MS, signal });
  return () => controller.abort();
}

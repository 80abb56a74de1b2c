import { setTimeout as delay } from 'node:timers/promises';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { InputError, StoppedError, TailraceError } from '../errors.ts';
import { NDJSON_FORMAT, splitLines } from '../query/format.ts';
import type { RawParameters } from '../query/parameters.ts';
import { EVENT_STREAM } from '../serve/resolve.ts';
import {
  endpointPath,
  ignoredIn,
  mediaTypeIn,
  openRemote,
  queryRemote,
  type Remote,
  refuseIgnored,
} from './remote.ts';

interface Followed {
  readonly endpoint: string;
  readonly raw: RawParameters;
}

const RECONNECT_MS = 1_000;
// Longer than a service takes to start again.
const ATTEMPTS_MAX = 60;
// Text of a row and its cursor.
const EVENT_CHARS_MAX = 64 * 1024 * 1024;
/** Reasons after which the same tail can continue; after others the caller has to decide. */
const TEMPORARY = ['shutdown', 'unavailable', 'slow_reader', 'key_changed'];

/**
 * Prints the rows of an endpoint of a running service, oldest first, then each new one as it comes, until `signal` aborts. Connects
 * again if the connection is lost.
 *
 * @param print writes a row, JSON on one line
 * @throws as `queryRemote`
 */
export async function followRemote(
  remote: Remote,
  followed: Followed,
  { print, signal }: { readonly print: (row: string) => void; readonly signal: AbortSignal },
): Promise<never> {
  const printed = new Set<string>();
  let lastId = '';
  let failures = 0;

  async function readEvents(): Promise<void> {
    const events = await openEvents(remote, followed, { lastId, signal });
    // Connected only now: rows that come after the page are events.
    if (lastId === '') await printPage();
    failures = 0;
    for await (const { event, id, data } of events) {
      if (event === 'end') return checkEnd(data);
      if (event !== 'row') continue;
      if (!printed.delete(data)) print(data);
      lastId = id ?? lastId;
    }
  }

  async function printPage(): Promise<void> {
    const { body } = await queryRemote(remote, { ...followed, format: NDJSON_FORMAT }, signal);
    const rows = splitLines(body).map(String).reverse();
    for (const row of rows) if (!printed.has(row)) print(row);
    printed.clear(); // rows that are older than the page do not come as events
    for (const row of rows) printed.add(row);
  }

  for (;;) {
    try {
      await readEvents();
    } catch (error) {
      if (signal.aborted) throw new StoppedError(`stopped by ${signal.reason}`, { cause: error });
      if (!isLost(error) || ++failures > ATTEMPTS_MAX) throw error;
    }
    await delay(RECONNECT_MS, undefined, { signal }).catch(() => {});
  }
}

/** Connects after the event of `lastId`, or to new rows only if that is empty. */
async function openEvents(
  remote: Remote,
  followed: Followed,
  { lastId, signal }: { readonly lastId: string; readonly signal: AbortSignal },
) {
  const headers = { accept: EVENT_STREAM, ...(lastId !== '' && { 'last-event-id': lastId }) };
  const response = await openRemote(remote, endpointPath(followed), { headers, signal });
  const ignored = ignoredIn(response.headers);
  if (ignored.length > 0) await response.body?.cancel();
  await refuseIgnored(remote, followed.endpoint, { ignored, signal });
  if (response.body === null || mediaTypeIn(response.headers) !== EVENT_STREAM)
    throw new InputError([`${remote.url} sent an answer instead of a live tail; leave -p format out`]);
  return response.body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>) // it takes any bytes
    .pipeThrough(new EventSourceParserStream({ onError: 'terminate', maxBufferSize: EVENT_CHARS_MAX }));
}

/** @throws InputError unless the tail can continue */
function checkEnd(data: string): void {
  const { reason, message } = JSON.parse(data) as { reason: string; message: string };
  if (!TEMPORARY.includes(reason)) throw new InputError([`the live tail has ended (${reason}): ${message}`]);
}

/** Whether a failure is one of the connection, or of a service that is restarting. */
function isLost(error: unknown): boolean {
  if (error instanceof TailraceError)
    return error.code === 'engine_unavailable' || error.code === 'overloaded';
  return !(error instanceof InputError);
}

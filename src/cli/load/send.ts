import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { InputError, messageOf, StoppedError } from '../../errors.ts';
import { createFilterCounts } from '../../ingest/filter/filter.ts';
import { DROPPED_HEADER, WITHOUT_PROJECT_HEADER } from '../../ingest/rejected.ts';
import { writeHeader } from '../../lib/network.ts';
import { backOffMs } from '../../lib/task.ts';
import { describeRedirect, type Remote, readFailure, sendRequest } from '../remote.ts';
import type { FileLine } from './lines.ts';

/** The target of a load: a service, or the rules of a source for a dry run. */
export interface LineSink {
  /** Stores the good lines, and reports those that are rejected, in the order of the file. */
  send(lines: readonly FileLine[]): Promise<void>;
  readonly counts: LoadCounts;
}

export type LoadCounts = ReturnType<typeof createCounts>;

/** `withoutProject`: stored events that belong to no project. */
export function createCounts() {
  return { stored: 0, rejected: 0, withoutProject: 0, filtered: createFilterCounts() };
}

export interface SenderOptions extends Remote {
  /** Name or UUID of the source. */
  readonly source: string;
  /** The project of events that name none; empty leaves it to the service. */
  readonly project: string;
  readonly onRejected: (line: number, reason: string) => void;
  /** Called before each wait for a retry. */
  readonly onRetry: (reason: string, waitMs: number) => void;
  /** Resolves after so many ms, or rejects when the load is stopped. */
  readonly wait: (ms: number) => Promise<unknown>;
}

/** The service returns the reasons of at most this many events of one request. */
export const BATCH_LINES_MAX = 1_000;
const TRIES_MAX = 10;
const BACK_OFF = { firstMs: 500, longestMs: 30_000 };
// A service that neither responds nor closes the connection is retried like an unavailable one.
const REQUEST_MS_MAX = 120_000;

/**
 * Sends lines to a running service, each call as one request with an Idempotency-Key, so that one that is sent again
 * after a broken connection is stored once.
 */
export function createSender(options: SenderOptions): LineSink {
  const counts = createCounts();

  async function send(lines: readonly FileLine[]): Promise<void> {
    const sent = lines.filter(({ fault }) => fault === undefined);
    const accepted = sent.length === 0 ? NOTHING : await sendUntilAccepted(sent, options);
    let event = 0;
    for (const { number, fault } of lines) {
      const reason = fault ?? accepted.reasons.get(++event);
      if (reason === undefined) continue;
      counts.rejected++;
      options.onRejected(number, reason);
    }
    counts.stored += sent.length - accepted.reasons.size - accepted.dropped;
    counts.withoutProject += accepted.withoutProject;
    counts.filtered.drop += accepted.dropped;
  }

  return { send, counts };
}

/**
 * Retries failures that may pass, with a delay that doubles, or as long as `Retry-After` asks.
 *
 * @throws InputError if the service rejects the request, StoppedError if the load is stopped meanwhile
 */
async function sendUntilAccepted(lines: readonly FileLine[], options: SenderOptions): Promise<Accepted> {
  const { url, onRetry, wait } = options;
  const { body, headers } = await pack(lines.map(({ text }) => text).join('\n'));
  const request = { body, headers: { ...headers, 'idempotency-key': randomUUID() } };
  for (let tries = 1; ; tries++) {
    const outcome = await post(request, options);
    if ('reasons' in outcome) return outcome;
    const { failure, isFinal, retryAfterMs } = outcome;
    if (isFinal) throw new InputError([`${url} rejects the events: ${failure}`]);
    if (tries === TRIES_MAX)
      throw new Error(`${url} did not accept the events in ${TRIES_MAX} tries: ${failure}`);
    const waitMs = Math.max(backOffMs(tries, BACK_OFF), Math.min(retryAfterMs, BACK_OFF.longestMs));
    onRetry(failure, waitMs);
    await wait(waitMs).catch((cause) => {
      const lost = `line ${lines[0]?.number} and those after it are not stored`;
      throw new StoppedError(`stopped while ${url} did not accept the events: ${failure}; ${lost}`, {
        cause,
      });
    });
  }
}

interface Accepted {
  /** Why events are rejected, by their number in the batch, from 1. */
  readonly reasons: ReadonlyMap<number, string>;
  readonly withoutProject: number;
  /** Events that the rules of the source leave out. */
  readonly dropped: number;
}

const NOTHING: Accepted = { reasons: new Map(), withoutProject: 0, dropped: 0 };

interface Failure {
  readonly failure: string;
  /** Whether another try would fail the same way. */
  readonly isFinal: boolean;
  /** 0 if the service does not say. */
  readonly retryAfterMs: number;
}

interface Packed {
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

async function post(
  { body, headers }: Packed,
  { source, project, ...remote }: SenderOptions,
): Promise<Accepted | Failure> {
  try {
    const response = await sendRequest(remote, `/api/logs?source=${encodeURIComponent(source)}`, {
      signal: AbortSignal.timeout(REQUEST_MS_MAX),
      body,
      headers: {
        'content-type': 'application/x-ndjson',
        ...headers,
        ...(project !== '' && { 'x-project': writeHeader(project) }),
      },
    });
    const { status } = response;
    const count = (header: string) => Number(response.headers[header] ?? 0);
    if (status === 200 || status === 406)
      return {
        reasons: readReasons(JSON.parse(response.bytes.toString())),
        withoutProject: count(WITHOUT_PROJECT_HEADER),
        dropped: count(DROPPED_HEADER),
      };
    const other = `${STATUS_CODES[status] ?? ''}${describeRedirect(response.headers.location)}`;
    const failure = `${status} ${readFailure(response.bytes)?.message ?? other}`;
    const retryAfterMs = count('retry-after') * 1_000 || 0;
    return { failure, isFinal: status !== 429 && status < 500, retryAfterMs };
  } catch (error) {
    return { failure: `it cannot be reached: ${messageOf(error)}`, isFinal: false, retryAfterMs: 0 };
  }
}

// Half of the ratio that the service rejects as a bomb (read-body.ts).
const RATIO_MAX = 100;

/** Compresses a body, unless it is so repetitive that the service would reject it as a bomb. */
async function pack(text: string): Promise<Packed> {
  const plain = Buffer.from(text);
  const zipped = await promisify(gzip)(plain);
  return zipped.length * RATIO_MAX < plain.length
    ? { body: plain, headers: {} }
    : { body: zipped, headers: { 'content-encoding': 'gzip' } };
}

function readReasons(body: unknown): Accepted['reasons'] {
  const { message } = body as { message: string | string[] }; // Tailrace's responses with 200 and 406
  const found = [message].flat().map((line) => /^event (\d+): (.*)$/s.exec(line));
  return new Map(found.flatMap((one) => (one === null ? [] : [[Number(one[1]), one[2] ?? '']])));
}

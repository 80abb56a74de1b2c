import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { InputError, messageOf, StoppedError } from '../../errors.ts';
import { DROPPED_HEADER, WITHOUT_PROJECT_HEADER } from '../../ingest/rejected.ts';
import { createBatcher } from '../../ingest/writer.ts';
import { writeHeader } from '../../lib/network.ts';
import { backOffMs } from '../../lib/task.ts';
import { formatCount } from '../format.ts';
import { describeRedirect, type Remote, readFailure, sendRequest } from '../remote.ts';
import type { LineSink } from './lines.ts';

export interface RemoteSinkOptions extends Remote {
  /** Name or UUID of the source. */
  readonly source: string;
  /** The project of events that name none; empty leaves it to the service. */
  readonly project: string;
  readonly onRejected: (line: number, reason: string) => void;
  /** Called with the number of events of a request that belong to no project, as the service reports it. */
  readonly onWithoutProject: (events: number) => void;
  /** Called before each wait for a retry. */
  readonly onRetry: (reason: string, waitMs: number) => void;
  /** Resolves after so many ms, or rejects when the load is stopped. */
  readonly wait: (ms: number) => Promise<void>;
}

interface Line {
  readonly number: number;
  readonly text: string;
  /** Why it is not sent. */
  readonly reason?: string;
}

const NOTHING_SENT: Accepted = { reasons: new Map(), withoutProject: 0, dropped: 0 };
// The service returns the reasons of at most this many events of one request.
const BATCH_LINES_MAX = 1_000;
const BATCH_CHARS_MAX = 1024 * 1024;
const TRIES_MAX = 10;
const BACK_OFF = { firstMs: 500, longestMs: 30_000 };
// A service that neither responds nor closes the connection is retried like an unavailable one.
const REQUEST_MS_MAX = 120_000;

/**
 * Sends lines to a running service in batches. Each batch has an Idempotency-Key, so that one that is sent again after a
 * broken connection is stored once.
 */
export function createRemoteSink(options: RemoteSinkOptions): LineSink {
  let stored = 0;
  let dropped = 0;
  const batcher = createBatcher<Line>({
    itemsMax: BATCH_LINES_MAX,
    charsMax: BATCH_CHARS_MAX,
    async send(lines) {
      const sent = lines.filter(({ reason }) => reason === undefined);
      const { reasons, ...taken } = sent.length === 0 ? NOTHING_SENT : await sendUntilTaken(sent, options);
      const reasonOf = new Map([...reasons].map(([i, reason]) => [sent[i], reason]));
      for (const line of lines) {
        const reason = line.reason ?? reasonOf.get(line);
        if (reason !== undefined) options.onRejected(line.number, reason);
      }
      stored += sent.length - reasons.size - taken.dropped;
      dropped += taken.dropped;
    },
  });
  return {
    add: (number, text) => batcher.add({ number, text }, text.length),
    reject: (number, reason) => batcher.add({ number, text: '', reason }, 0),
    flush: batcher.flush,
    get stored() {
      return stored;
    },
    describeFiltered: () => (dropped > 0 ? `, ${formatCount(dropped)} by drop` : ''),
  };
}

/**
 * Retries failures that may pass, with a delay that doubles, or as long as `Retry-After` asks.
 *
 * @throws InputError if the service rejects the request, StoppedError if the load is stopped meanwhile
 */
async function sendUntilTaken(lines: readonly Line[], options: RemoteSinkOptions): Promise<Accepted> {
  const { url, onRetry, wait } = options;
  const body = await pack(lines.map(({ text }) => text).join('\n'));
  const idempotencyKey = randomUUID();
  for (let tries = 1; ; tries++) {
    const outcome = await post(body, idempotencyKey, options);
    if ('reasons' in outcome) {
      options.onWithoutProject(outcome.withoutProject);
      return outcome;
    }
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
  /** Why events are rejected, by their index in the batch. */
  readonly reasons: ReadonlyMap<number, string>;
  readonly withoutProject: number;
  /** Events that the rules of the source leave out. */
  readonly dropped: number;
}

type Outcome = Accepted | Failure;

interface Failure {
  readonly failure: string;
  /** Whether another try would fail the same way. */
  readonly isFinal: boolean;
  /** 0 if the service does not say. */
  readonly retryAfterMs: number;
}

async function post(
  { bytes, headers }: Packed,
  idempotencyKey: string,
  { source, project, ...remote }: RemoteSinkOptions,
): Promise<Outcome> {
  try {
    const response = await sendRequest(remote, `/api/logs?source=${encodeURIComponent(source)}`, {
      signal: AbortSignal.timeout(REQUEST_MS_MAX),
      body: bytes,
      headers: {
        'content-type': 'application/x-ndjson',
        ...headers,
        'idempotency-key': idempotencyKey,
        ...(project !== '' && { 'x-project': writeHeader(project) }),
      },
    });
    const { status } = response;
    if (status === 200 || status === 406) {
      const count = (header: string) => Number(response.headers[header] ?? 0);
      return {
        reasons: readReasons(JSON.parse(response.bytes.toString())),
        withoutProject: count(WITHOUT_PROJECT_HEADER),
        dropped: count(DROPPED_HEADER),
      };
    }
    const retryAfterMs = Number(response.headers['retry-after'] ?? 0) * 1_000 || 0;
    const other = `${STATUS_CODES[status] ?? ''}${describeRedirect(response.headers.location)}`;
    const failure = `${status} ${readFailure(response.bytes)?.message ?? other}`;
    return { failure, isFinal: status !== 429 && status < 500, retryAfterMs };
  } catch (error) {
    return { failure: `it cannot be reached: ${messageOf(error)}`, isFinal: false, retryAfterMs: 0 };
  }
}

interface Packed {
  readonly bytes: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

// Half of the ratio that the service rejects as a bomb (read-body.ts).
const RATIO_MAX = 100;

const compress = promisify(gzip);

/** Compresses a body, unless it is so repetitive that the service would reject it as a bomb. */
async function pack(text: string): Promise<Packed> {
  const plain = Buffer.from(text);
  const zipped = await compress(plain);
  return zipped.length * RATIO_MAX < plain.length
    ? { bytes: plain, headers: {} }
    : { bytes: zipped, headers: { 'content-encoding': 'gzip' } };
}

function readReasons(body: unknown): ReadonlyMap<number, string> {
  const { message } = body as { message: string | string[] }; // Tailrace's responses with 200 and 406
  const reasons = new Map<number, string>();
  for (const line of Array.isArray(message) ? message : []) {
    const [, number, reason] = /^event (\d+): (.*)$/s.exec(line) ?? [];
    if (reason !== undefined) reasons.set(Number(number) - 1, reason);
  }
  return reasons;
}

import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { InputError, messageOf, StoppedError } from '../errors.ts';
import type { LineSink } from './load.ts';
import { WITHOUT_PROJECT_HEADER } from './without-project.ts';

export interface RemoteSinkOptions {
  /** Of the service, such as http://127.0.0.1:4000; a path in it, as behind a proxy, is kept. */
  readonly url: string;
  readonly key: string;
  /** Name or UUID of the source. */
  readonly source: string;
  /** Whose an event is that does not say so itself; empty leaves it to the service. */
  readonly project: string;
  readonly onRejected: (line: number, reason: string) => void;
  /** Called with the number of events of a request that belong to no project, as the service reports it. */
  readonly onWithoutProject: (events: number) => void;
  /** Told before each wait for another try. */
  readonly onRetry: (reason: string, waitMs: number) => void;
  /** Resolves after so many ms, or rejects when the load is stopped. */
  readonly wait: (ms: number) => Promise<void>;
}

interface Batch {
  readonly numbers: number[];
  readonly texts: string[];
}

// The service tells the reason of at most so many events of one request.
const BATCH_LINES_MAX = 1_000;
const BATCH_CHARS_MAX = 1024 * 1024;
const TRIES_MAX = 10;
const WAIT_MS_MAX = 30_000;
// A service that neither answers nor hangs up is tried again, like one that is away.
const REQUEST_MS_MAX = 120_000;

const compress = promisify(gzip);

/**
 * Sends lines to a running service. Each batch has an Idempotency-Key, so that one that is sent again after a broken
 * connection is stored once.
 */
export function createRemoteSink(options: RemoteSinkOptions): LineSink {
  let batch: Batch = { numbers: [], texts: [] };
  let chars = 0;
  let stored = 0;
  // One request after another; the first that fails for good ends the row.
  let sends: Promise<void> = Promise.resolve();

  async function post(full: Batch): Promise<void> {
    const reasons = await send(full, options);
    for (const [i, reason] of reasons) options.onRejected(full.numbers[i] ?? 0, reason);
    stored += full.texts.length - reasons.size;
  }

  function sendOff(): Promise<void> {
    const before = sends;
    if (batch.texts.length === 0) return before;
    const full = batch;
    batch = { numbers: [], texts: [] };
    chars = 0;
    sends = before.then(() => post(full));
    sends.catch(() => {}); // thrown to whoever adds or flushes next
    return before;
  }

  return {
    add(number, text) {
      batch.numbers.push(number);
      batch.texts.push(text);
      chars += text.length;
      return batch.texts.length >= BATCH_LINES_MAX || chars >= BATCH_CHARS_MAX ? sendOff() : undefined;
    },
    async flush() {
      sendOff().catch(() => {}); // told by `sends`
      await sends;
    },
    get stored() {
      return stored;
    },
  };
}

/** The reasons of refused events, by their place in the batch. */
async function send(batch: Batch, options: RemoteSinkOptions): Promise<Map<number, string>> {
  const body = await pack(batch.texts.join('\n'));
  const key = randomUUID();
  for (let tries = 1; ; tries++) {
    const answer = await request(body, key, options).catch((error: unknown) => messageOf(error));
    if (typeof answer !== 'string' && (answer.status === 200 || answer.status === 406)) {
      options.onWithoutProject(Number(answer.headers.get(WITHOUT_PROJECT_HEADER)));
      return readReasons(answer);
    }
    const reason = typeof answer === 'string' ? answer : `${answer.status} ${await readMessage(answer)}`;
    if (typeof answer !== 'string' && !isWorthAnotherTry(answer.status)) {
      throw new InputError([`${options.url} does not take the events: ${reason}`]);
    }
    if (tries === TRIES_MAX)
      throw new Error(`${options.url} did not take the events in ${TRIES_MAX} tries: ${reason}`);
    const waitMs = waitBefore(tries, typeof answer === 'string' ? undefined : answer);
    options.onRetry(reason, waitMs);
    await options.wait(waitMs).catch((cause) => {
      const lost = `line ${batch.numbers[0]} and those after it are not stored`;
      throw new StoppedError(`stopped while ${options.url} did not take the events: ${reason}; ${lost}`, {
        cause,
      });
    });
  }
}

interface Packed {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly headers: Readonly<Record<string, string>>;
}

// Half of what the service takes for a bomb by default (TAILRACE_RATIO_MAX).
const RATIO_MAX = 100;

/** Compressed, unless it repeats itself so much that the service would refuse it as a bomb. */
async function pack(text: string): Promise<Packed> {
  const plain = Buffer.from(text);
  const zipped = await compress(plain);
  return zipped.length * RATIO_MAX < plain.length
    ? { bytes: new Uint8Array(plain), headers: {} }
    : { bytes: new Uint8Array(zipped), headers: { 'content-encoding': 'gzip' } };
}

function request(
  { bytes, headers }: Packed,
  idempotencyKey: string,
  { url, key, source, project }: RemoteSinkOptions,
): Promise<Response> {
  return fetch(`${url.replace(/\/+$/, '')}/api/logs?source=${encodeURIComponent(source)}`, {
    method: 'POST',
    signal: AbortSignal.timeout(REQUEST_MS_MAX),
    body: bytes,
    headers: {
      'x-api-key': key,
      'content-type': 'application/x-ndjson',
      ...headers,
      'idempotency-key': idempotencyKey,
      ...(project !== '' && { 'x-project': project }),
    },
  });
}

function isWorthAnotherTry(status: number): boolean {
  return status === 429 || status >= 500;
}

function waitBefore(tries: number, answer: Response | undefined): number {
  const told = Number(answer?.headers.get('retry-after') ?? Number.NaN);
  const doubled = 500 * 2 ** (tries - 1);
  return Math.min(Number.isNaN(told) ? doubled : Math.max(told * 1000, doubled), WAIT_MS_MAX);
}

async function readReasons(answer: Response): Promise<Map<number, string>> {
  const { message } = (await answer.json()) as { message: string | string[] };
  const reasons = new Map<number, string>();
  for (const line of Array.isArray(message) ? message : []) {
    const [, number, reason] = /^event (\d+): (.*)$/s.exec(line) ?? [];
    if (reason !== undefined) reasons.set(Number(number) - 1, reason);
  }
  return reasons;
}

async function readMessage(answer: Response): Promise<string> {
  const body = (await answer.json().catch(() => undefined)) as { error?: { message?: string } } | undefined;
  return body?.error?.message ?? answer.statusText;
}

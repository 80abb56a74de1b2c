import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { attempt, type Outgoing, type Send, SendError, type Target } from './receiver.ts';

// Of a response that is not 2xx: enough for its reason. The rest is not read.
const RESPONSE_BYTES_MAX = 1_024;
// Of the message itself; the receiver may accept the next one.
const TEMPORARY: ReadonlySet<number> = new Set([408, 425, 429]);

/** A request to a receiver. */
export interface Post {
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Posts what becomes of a message as JSON, one request after the other. Any 2xx is success; its body is not read.
 * Redirects are not followed.
 *
 * @throws SendError naming the status and the start of the response
 */
export function createPosting(target: Target, toPosts: (outgoing: Outgoing) => readonly Post[]): Send {
  return async (outgoing, signal) => {
    for (const post of toPosts(outgoing))
      await attempt(target, signal, async (ends) => judge(await respond(target, post, ends)));
  };
}

function respond(
  { url, lookup }: Target,
  { body, headers }: Post,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const options = {
      method: 'POST',
      agent: false, // closes the connection after the response
      ...{ lookup, signal },
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'content-length': Buffer.byteLength(text),
        'user-agent': 'Tailrace',
        ...headers,
      },
    };
    request(url, options, resolve).on('error', reject).end(text);
  });
}

async function judge(response: IncomingMessage): Promise<void> {
  const { statusCode: status = 0, headers } = response;
  try {
    if (status >= 200 && status < 300) return;
    if (status >= 300 && status < 400)
      throw new SendError(`returned ${status}; redirects are not followed`, { isRejected: true });
    throw new SendError(`returned ${status}: ${await readStart(response)}`, {
      retryAfterMs: parseRetryAfter(headers['retry-after']),
      isRejected: status < 500 && !TEMPORARY.has(status),
    });
  } finally {
    response.on('error', () => {}); // of the part that nobody reads
    response.destroy();
  }
}

/** Returns the start of the body; what cannot be read is left out, since the status is known. */
async function readStart(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= RESPONSE_BYTES_MAX) break;
    }
  } catch {}
  return Buffer.concat(chunks).toString('utf8', 0, RESPONSE_BYTES_MAX);
}

/** Parses seconds or an HTTP date, which is compared with this machine's clock. */
function parseRetryAfter(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.max(ms, 0) : undefined;
}

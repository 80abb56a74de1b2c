import { type Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { pathOf, type Question } from './questions.ts';
import { KEY } from './server.ts';

export interface Call {
  readonly path: string;
  /** NDJSON for a POST; by default a GET is sent. */
  readonly body?: Buffer | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
}

/** Sends one request on a connection of `agent`. @throws without a complete response */
export function send(url: string, agent: Agent, { path, body, headers }: Call): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const read = (response: IncomingMessage) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text, headers: response.headers }),
      );
    };
    const options = {
      agent,
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'x-api-key': KEY,
        ...(body && { 'content-type': 'application/x-ndjson', 'content-length': body.length }),
        ...headers,
      },
    };
    request(`${url}${path}`, options, read).on('error', reject).end(body);
  });
}

/**
 * Requests an answer that is not cached.
 *
 * @returns the duration, ms
 * @throws unless the status is 200
 */
export async function askCold(url: string, agent: Agent, question: Question): Promise<number> {
  const path = pathOf(question);
  const startMs = performance.now();
  const { status, text } = await send(url, agent, { path, headers: { 'cache-control': 'no-cache' } });
  const ms = performance.now() - startMs;
  if (status !== 200) throw new Error(`${path} was answered ${status}: ${text.slice(0, 500)}`);
  return ms;
}

import { type Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { pathOf, type Question } from './questions.ts';
import { KEY } from './server.ts';

export interface Call {
  readonly path: string;
  /** NDJSON, sent as POST; without it a GET. */
  readonly body?: Buffer | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
}

/** Sends one request on a connection of `agent`. @throws when no whole answer came */
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
 * Asks an endpoint for an answer that no cache of the service has.
 *
 * @returns how long it took, ms
 * @throws when it is not answered 200
 */
export async function askCold(url: string, agent: Agent, question: Question): Promise<number> {
  const path = pathOf(question);
  const startMs = performance.now();
  const { status, text } = await send(url, agent, { path, headers: { 'cache-control': 'no-cache' } });
  const ms = performance.now() - startMs;
  if (status !== 200) throw new Error(`${path} was answered ${status}: ${text.slice(0, 500)}`);
  return ms;
}

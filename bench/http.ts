import { type Agent, type IncomingMessage, request } from 'node:http';
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
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
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

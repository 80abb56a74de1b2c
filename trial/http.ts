import { type Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { KEY } from './server.ts';

export const QUERY_PATH = '/api/endpoints/query';

/** Takes requests at a gateway, about 1 KB each. */
export const INGEST_PATH = '/api/logs?source_name=cloudflare.logs.prod';

export interface Call {
  readonly path: string;
  /** NDJSON, sent as POST. Without a body the request is a GET. */
  readonly body?: Buffer | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
}

/** Sends one request on a connection of `agent`. @throws if the connection ends before the response does */
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

import { request as httpRequest, type IncomingHttpHeaders, type RequestOptions } from 'node:http';
import { connect } from 'node:net';
import { expect, vi } from 'vitest';
import { ERROR_CODES, type ErrorCode } from '../../src/errors.ts';
import type { Keyring } from '../../src/keys/keyring.ts';
import type { Core } from '../../src/service/open-core.ts';
import { trusted } from '../../src/sql/sql.ts';
import { type AnswerBody, PRIVATE_KEY } from './service.ts';

export { QUERY_PATH } from '../../trial/http.ts';

/** The source to which tests send, unless what they test is the source. */
export const EDGE = 'cloudflare.logs.prod';
export const TO_EDGE = `/api/logs?source_name=${EDGE}`;

export type Body = string | Uint8Array<ArrayBuffer> | object;

/** What a route returns, or an error. */
type BodyOf<T> = (T extends { readonly result: unknown } ? Omit<AnswerBody, 'result'> : AnswerBody) & T;

export interface HttpAnswer<T = unknown> {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: BodyOf<T>;
}

/**
 * GET of a path written by hand, so that what the URL parser would mend goes out as it is.
 *
 * @param headers sent as given; the private key is sent unless `x-api-key` is given, and no key at all where it is empty
 */
export async function get<T>(url: string, path: string, headers: Record<string, string> = {}) {
  return await request<T>(url, path, { headers });
}

/** What a route returns, with the private key unless `key` is another. */
export async function read<T>(url: string, path: string, key = PRIVATE_KEY): Promise<BodyOf<T>> {
  const { status, text, body } = await get<T>(url, path, { 'x-api-key': key });
  expect(status, text).toBe(200);
  return body;
}

export async function request<T>(url: string, path: string, init: RequestInit = {}): Promise<HttpAnswer<T>> {
  const headers = new Headers({ 'x-api-key': PRIVATE_KEY });
  for (const [name, value] of new Headers(init.headers)) headers.set(name, value);
  if (headers.get('x-api-key') === '') headers.delete('x-api-key');
  const response = await fetch(`${url}${path}`, { ...init, headers });
  const text = await response.text();
  const json = response.headers.get('content-type')?.startsWith('application/json') === true && text !== '';
  return { status: response.status, headers: response.headers, text, body: json ? JSON.parse(text) : {} };
}

/** POST with the private key and as JSON, unless `headers` say otherwise; an object goes out as its JSON. */
export async function post<T>(
  url: string,
  path: string,
  body: Body,
  headers: Record<string, string> = {},
): Promise<HttpAnswer<T>> {
  const bytes = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  return await request<T>(url, path, {
    method: 'POST',
    body: bytes,
    headers: { 'content-type': 'application/json', ...headers },
  });
}

/** A request by Node's own client, which sends any header, such as Host; the bytes of the response as they come. */
export function sendPlain(url: string, options: RequestOptions) {
  type Answer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: Buffer };
  return new Promise<Answer>((resolve, reject) => {
    const sent = httpRequest(url, options, async (response) => {
      const body = Buffer.concat(await response.toArray());
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
    });
    sent.on('error', reject).end();
  });
}

/**
 * That an answer is the error `code`, in the one shape that errors have, and with the headers that go with it.
 *
 * @param said a part of its message
 */
export function expectError(
  answer: Omit<HttpAnswer, 'text'>,
  code: ErrorCode,
  said: string | RegExp = /\S/,
): void {
  const { status } = ERROR_CODES[code];
  const message = typeof said === 'string' ? expect.stringContaining(said) : expect.stringMatching(said);
  const request_id = answer.headers.get('x-request-id');
  const error = { code, message, status, request_id, errors: expect.any(Array) };
  expect(answer.body).toEqual({ error });
  expect(answer.status).toBe(status);
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(answer.headers.get('retry-after')).toEqual(
    status === 503 || status === 429 ? expect.stringMatching(/^[1-9]\d*$/) : null,
  );
  expect(answer.headers.has('www-authenticate')).toBe(status === 401);
  expect(answer.headers.has('allow')).toBe(status === 405);
}

/** Does `work` while every key takes a look-up: the listener hands requests on to the framework. */
export async function throughFramework<T>(keyring: Keyring, work: () => Promise<T>): Promise<T> {
  const { authenticate } = keyring;
  const spy = vi.spyOn(keyring, 'authenticate').mockImplementation(async (key) => authenticate(key));
  try {
    return await work();
  } finally {
    spy.mockRestore();
  }
}

/** The head of a POST as it goes over the wire, up to the body. */
export function postHead(path: string, headers: Readonly<Record<string, string | number>>): string {
  const all = { host: 'a', 'x-api-key': PRIVATE_KEY, 'content-type': 'application/json', ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return `POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
}

/** A connection on which a test writes by hand; `closed` resolves when either side has closed it. */
export async function openRaw(url: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text;
  });
  socket.on('error', () => {}); // a reset; `close` follows
  const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
  await new Promise<void>((resolve) => void socket.once('connect', () => resolve()));
  return { socket, received: () => received, closed };
}

/** Sends bytes on a connection; resolves with everything that came back once the server has closed it. */
export async function sendRaw(url: string, bytes: string): Promise<string> {
  const { socket, received, closed } = await openRaw(url);
  socket.write(bytes);
  await closed;
  return received();
}

/** The value of a Prometheus metric with these labels; 0 where it has never been counted. */
export async function readMetric(
  url: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  const { text } = await get(url, '/metrics');
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const lines = text
    .split('\n')
    .filter((one) => /^[^#{ ]+/.exec(one)?.[0] === name && wanted.every((label) => one.includes(label)));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

/** Rows of a table that belong to a project, in the order of their ids, past every filter of reading. */
export async function rowsOf(
  core: Core,
  project: string,
  { table = 'edge_logs', columns = '*' } = {},
): Promise<Record<string, unknown>[]> {
  return await core.engine.inspect(
    trusted(`SELECT ${columns} FROM tailrace.${table} WHERE project = '${project}' ORDER BY id`),
  );
}

export async function idsOf(core: Core, project: string, table?: string): Promise<string[]> {
  const rows = await rowsOf(core, project, { columns: 'id', ...(table !== undefined && { table }) });
  return rows.map((row) => String(row['id']));
}

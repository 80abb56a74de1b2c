import type { Core } from '../../src/service/open-core.ts';
import { trusted } from '../../src/sql/sql.ts';
import { type HttpAnswer, request } from './http.ts';
import { PRIVATE_KEY } from './service.ts';

/** The source to which tests send, unless what they test is the source. */
export const EDGE = 'cloudflare.logs.prod';
export const TO_EDGE = `/api/logs?source_name=${EDGE}`;

export type Body = string | Uint8Array<ArrayBuffer> | object;

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

/** The head of a POST as it goes over the wire, up to the body. */
export function postHead(path: string, headers: Readonly<Record<string, string | number>>): string {
  const all = {
    host: 'a',
    'x-api-key': PRIVATE_KEY,
    'content-type': 'application/json',
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return `POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
}

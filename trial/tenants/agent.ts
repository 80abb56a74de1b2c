import { ERROR_CODES } from '../../src/errors.ts';
import type { Service } from '../../src/service/service.ts';
import type { TestCaller } from './callers.ts';
import type { Question } from './oracle.ts';

/** An answer, with the status that GET has for it. `hidden`: there is no such tool for the key. */
export interface AgentAnswer {
  readonly status: number | 'hidden';
  readonly text: string;
}

interface RpcMessage {
  readonly result?: { readonly isError?: boolean; readonly content: readonly { readonly text: string }[] };
}

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
// Undeclared arguments are rejected; GET ignores them.
const DECLARED = ['project', 'interval', 'project_tier'];

/** Asks by a tool of /mcp. */
export async function askAsAgent(
  app: Service['app'],
  caller: TestCaller,
  { endpoint, parameters }: Question,
): Promise<AgentAnswer> {
  const other = endpoint === 'logs.all' ? 'interval' : 'project_tier';
  const args = Object.entries(parameters).filter(([name]) => DECLARED.includes(name) && name !== other);
  const params = { name: endpoint.replaceAll(/[.-]/g, '_'), arguments: Object.fromEntries(args) };
  const { statusCode, body } = await app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { ...HEADERS, ...caller.headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  });
  if (statusCode !== 200) return { status: statusCode, text: body };
  // An answer that takes long comes as a stream of events, with comments that keep the connection open.
  const message = /^data: (.*)$/m.exec(body)?.[1] ?? body;
  const { result } = JSON.parse(message) as RpcMessage;
  const [{ text } = { text: '' }] = result?.content ?? [];
  if (result === undefined) return { status: 'hidden', text: body };
  const code = Object.entries(ERROR_CODES).find(([name]) => text.startsWith(`${name}: `))?.[1];
  return { status: result.isError === true ? (code?.status ?? 500) : 200, text };
}

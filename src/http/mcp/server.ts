import {
  createMcpHandler,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
} from '@modelcontextprotocol/server';
import type { FastifyRequest } from 'fastify';
import { toToolName } from '../../definitions/endpoint.ts';
import type { Source } from '../../definitions/source.ts';
import { describeNearest } from '../../lib/nearest.ts';
import { toSourceView, visibleSources } from '../../management/definitions.ts';
import { shorten } from '../../query/parameters.ts';
import { getCaller } from '../plugins/auth.ts';
import { callTool, type Exchange, findTools, type McpParts } from './call.ts';

/**
 * Handles one message of an agent. Each message has its own server, which knows the caller: nothing outlives the request, any replica
 * can respond, and the key is checked each time.
 *
 * @throws Error if the SDK fails
 */
export async function serveMcp(parts: McpParts, exchange: Exchange): Promise<Response> {
  const { request } = exchange;
  let cause: Error | undefined;
  const handler = createMcpHandler(() => createServer(parts, exchange), {
    onerror(error) {
      cause = error;
    },
  });
  const response = await handler.fetch(toWebRequest(request), { parsedBody: request.body });
  if (response.status >= 500) throw new Error('the MCP server failed', { cause });
  return response;
}

/** Keeps only the headers of the protocol: the SDK needs no key. The body has been parsed. */
function toWebRequest({ headers }: FastifyRequest): Request {
  const sent = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === 'string' && /^(?:accept|content-type|mcp-.*)$/.test(name)
      ? [[name, value] as const]
      : [],
  );
  return new Request('http://localhost/mcp', {
    method: 'POST',
    headers: new Headers(sent.map(([...one]) => one)),
  });
}

const INSTRUCTIONS =
  'Each tool runs a saved query over log data and returns its rows. It changes no data. An answer that is too large has only its first rows, and "truncated", which says how to get fewer.';

/** Checks arguments by the definitions instead of JSON Schemas, so that messages are those of the API. */
function createServer(parts: McpParts, exchange: Exchange): Server {
  const caller = getCaller(exchange.request);
  const sources = visibleSources(parts.registry.sources, caller);
  const options = { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS };
  const server = new Server({ name: 'tailrace', title: 'Tailrace', version: parts.version }, options);
  server.setRequestHandler('tools/list', () => ({
    tools: findTools(parts, caller).map((endpoint) => parts.describeTool(endpoint, caller.pins)),
  }));
  server.setRequestHandler('tools/call', ({ params: { name, arguments: args = {} } }) => {
    const endpoints = findTools(parts, caller);
    const tools = endpoints.map((one) => toToolName(one.name));
    const endpoint = endpoints[tools.indexOf(name)];
    if (endpoint !== undefined) return callTool(parts, exchange, { endpoint, args });
    const message = `no tool is called ${shorten(name)}${describeNearest(name, tools) || ';'} tools/list returns those that this key may call`;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
  });
  server.setRequestHandler('resources/list', () => ({ resources: sources.map(describeSource) }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    const source = sources.find((one) => uriOf(one) === uri);
    if (source === undefined) throw new ResourceNotFoundError(uri, `there is no resource ${shorten(uri)}`);
    return { contents: [{ uri, mimeType: JSON_TYPE, text: JSON.stringify(toSourceView(source)) }] };
  });
  return server;
}

const JSON_TYPE = 'application/json';

function uriOf({ name }: Source): string {
  return `tailrace://sources/${name}`;
}

/** Describes a source as a resource: its table and columns, for SELECTs that agents write. */
function describeSource(source: Source) {
  const { name, description } = source;
  return { uri: uriOf(source), name, description, mimeType: JSON_TYPE };
}

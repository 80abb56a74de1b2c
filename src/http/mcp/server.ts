import {
  type CallToolResult,
  createMcpHandler,
  ProtocolError,
  ProtocolErrorCode,
  Server,
} from '@modelcontextprotocol/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Endpoint, toToolName } from '../../definitions/endpoint.ts';
import { SQL_PARAMETER } from '../../definitions/parameter.ts';
import { type ParameterFault, TailraceError } from '../../errors.ts';
import type { Caller } from '../../keys/keyring.ts';
import { describeNearest } from '../../lib/nearest.ts';
import { visibleEndpoints } from '../../management/definitions.ts';
import { NDJSON_FORMAT } from '../../query/format.ts';
import {
  describeUndeclared,
  findUndeclared,
  invalidParameters,
  type RawParameters,
  shorten,
} from '../../query/parameters.ts';
import { keepsPins } from '../../query/pins.ts';
import type { Answer } from '../../query/run.ts';
import { describeServed } from '../../serve/describe.ts';
import type { Inquiry } from '../../serve/resolve.ts';
import type { AppParts } from '../parts.ts';
import { countRejection } from '../plugins/auth.ts';
import { noteFailure } from '../plugins/errors.ts';
import { describeRun, getCaller } from '../route.ts';
import { describeTyped, readValue } from '../routes/query.ts';

/** One message of an agent, and its response. */
export interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/**
 * Handles one message of an agent. Each message has its own server, which knows the caller: nothing outlives the
 * request, any replica can respond, and the key is checked each time.
 * @throws Error if the SDK fails
 */
export async function serveMcp(parts: AppParts, exchange: Exchange): Promise<Response> {
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
  const sent = new Headers();
  for (const [name, value] of Object.entries(headers))
    if (typeof value === 'string' && /^(?:accept|content-type|mcp-.*)$/.test(name)) sent.set(name, value);
  return new Request('http://localhost/mcp', { method: 'POST', headers: sent });
}

const INSTRUCTIONS =
  'Each tool runs a saved query over log data and returns its rows. It changes no data. An ' +
  'answer that is too large has only its first rows, and "truncated", which says how to get ' +
  'fewer.';

/** Checks arguments by the definitions instead of JSON Schemas, so that messages are those of the API. */
function createServer(parts: AppParts, exchange: Exchange): Server {
  const caller = getCaller(exchange.request);
  const options = { capabilities: { tools: {} }, instructions: INSTRUCTIONS };
  const server = new Server({ name: 'tailrace', title: 'Tailrace', version: parts.version }, options);
  server.setRequestHandler('tools/list', () => ({
    tools: findTools(parts, caller).map((endpoint) => parts.describeTool(endpoint, caller.pins)),
  }));
  server.setRequestHandler('tools/call', ({ params: { name, arguments: args = {} } }) => {
    const endpoints = findTools(parts, caller);
    const tools = endpoints.map((one) => toToolName(one.name));
    const endpoint = endpoints[tools.indexOf(name)];
    if (endpoint !== undefined) return callTool(parts, exchange, { endpoint, args });
    const message =
      `no tool is called ${shorten(name)}${describeNearest(name, tools) || ';'} tools/list returns ` +
      'those that this key may call';
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
  });
  return server;
}

// Rows in an answer, some 13,000 tokens: a part of a model's context, which other answers share. More are left out.
const ROWS_BYTES_MAX = 51_200;

/** Lists the endpoints that a caller may call, without those that cannot apply the pins of its key. */
function findTools({ registry }: AppParts, caller: Caller): readonly Endpoint[] {
  const { pins } = caller;
  return visibleEndpoints(registry.endpoints, caller).filter((endpoint) => keepsPins(endpoint, pins));
}

/** Calls an endpoint as GET and POST do. A failure is a result, too: agents read it and try again. */
async function callTool(
  parts: AppParts,
  exchange: Exchange,
  { endpoint, args }: { readonly endpoint: Endpoint; readonly args: Readonly<Record<string, unknown>> },
): Promise<CallToolResult> {
  const { request, reply } = exchange;
  request.endpointName = endpoint.name;
  try {
    return await findRows(parts, exchange, { endpoint, parameters: readArguments(endpoint, args) });
  } catch (error) {
    if (reply.raw.destroyed || !(error instanceof Error)) throw error; // the agent has hung up
    countRejection(error, request, parts.keyring);
    return toResult(noteFailure(error, request));
  }
}

// A row is a line, so that an answer that is too long is cut without being parsed.
const ACCEPTS_LINES: Inquiry['accepts'] = { type: () => NDJSON_FORMAT.mediaTypes[0], encodings: () => false };

async function findRows(
  { config, resolve, cached, metrics }: AppParts,
  { request, reply }: Exchange,
  { endpoint, parameters }: { readonly endpoint: Endpoint; readonly parameters: RawParameters },
): Promise<CallToolResult> {
  const caller = getCaller(request);
  const execution = describeRun(request, reply);
  const { question } = await resolve({
    ...{ caller, endpoint, parameters, headers: {}, accepts: ACCEPTS_LINES, sandboxed: execution },
    ...{ url: undefined, ignored: undefined },
  });
  const served = cached.find(question, {}) ?? (await cached.compute(question, execution));
  metrics.served(endpoint.name, served.outcome, served.answer.rows);
  request.detail = describeServed(served);
  const { rows, missing } = takeRows(served.answer, config.mcpBytesMax ?? ROWS_BYTES_MAX);
  const truncated = missing && JSON.stringify(`${missing}; ${describeArguments(endpoint, caller)}`);
  const text = `{"result":[${rows}]${truncated === undefined ? '' : `,"truncated":${truncated}`}}`;
  return { content: [{ type: 'text', text }], structuredContent: parseRows(text, endpoint) };
}

/** @throws TailraceError `query_failed` if a text of the query is not JSON; GET would send it as it is */
function parseRows(text: string, { name }: Endpoint): Record<string, unknown> {
  try {
    const rows: Record<string, unknown> = JSON.parse(text);
    return rows;
  } catch (cause) {
    const message = `${name} returned invalid JSON: a column of type json has a string that is not JSON`;
    throw new TailraceError('query_failed', message, { cause });
  }
}

/** @throws TailraceError `invalid_parameter` that names each argument that is not declared, or of another JSON type */
function readArguments(
  { parameters, sandboxing }: Endpoint,
  args: Readonly<Record<string, unknown>>,
): RawParameters {
  const known = [...parameters.map(({ name }) => name), ...(sandboxing ? [SQL_PARAMETER] : [])];
  const errors: ParameterFault[] = describeUndeclared(findUndeclared(known, args), known).map(
    ({ parameter, ...fault }) => ({ ...fault, parameter: JSON.stringify(parameter) }),
  );
  const raw: Record<string, string | string[]> = {};
  for (const name of known.filter((one) => Object.hasOwn(args, one))) {
    const parameter = parameters.find((one) => one.name === name);
    const value = readValue(args[name], parameter);
    if (value !== undefined) raw[name] = value;
    else errors.push({ parameter: name, message: `must be a string${describeTyped(args[name], parameter)}` });
  }
  if (errors.length > 0) throw invalidParameters(errors);
  return raw;
}

/** Takes the whole rows within the first bytes of an answer of lines, and says which those are, unless they are all. */
function takeRows({ body, rows, last }: Answer, bytesMax: number) {
  const end = body.length <= bytesMax ? body.length : body.lastIndexOf('\n', bytesMax) + 1;
  const lines = body.toString('utf8', 0, end).split('\n').slice(0, -1);
  const bound = `since an answer has at most ${bytesMax} bytes of rows`;
  if (end < body.length)
    return { rows: lines.join(), missing: `the first ${lines.length} of ${rows} rows, ${bound}` };
  const page = last && `the first ${rows} rows, a full page: there may be more`;
  return { rows: lines.join(), missing: page };
}

/** Says how to get a shorter answer. */
function describeArguments({ parameters, sandboxing }: Endpoint, { pins }: Caller): string {
  const free = parameters.map(({ name }) => name).filter((name) => !Object.hasOwn(pins, name));
  const names = [...free, ...(sandboxing ? [SQL_PARAMETER] : [])].join(', ');
  return names === '' ? 'no argument narrows it' : `ask for less with ${names}`;
}

function toResult({ code, message, retryAfterSeconds }: TailraceError): CallToolResult {
  const wait = retryAfterSeconds === undefined ? '' : `; try again in ${retryAfterSeconds} s`;
  return { isError: true, content: [{ type: 'text', text: `${code}: ${message}${wait}` }] };
}

import type { FastifyReply, FastifyRequest } from 'fastify';
import { TailraceError } from '../../errors.ts';
import { shorten } from '../../query/parameters.ts';
import { acceptJson } from '../json-body.ts';
import type { AppParts } from '../parts.ts';
import { defineRoute, type RouteGroup, URL_BYTES_MAX } from '../route.ts';

/**
 * Serves endpoints as tools for agents: the Model Context Protocol over Streamable HTTP, by the official SDK. Without
 * sessions, which the protocol has not needed since 2026-07-28: GET and DELETE, which are about sessions, get 405.
 */
export const mcpRoutes: RouteGroup = {
  bodyBytesMax: URL_BYTES_MAX, // the arguments of a call are what a URL could hold
  setup(app, { config }) {
    acceptJson(app, chooseArguments);
    app.addHook('onRequest', (request, _reply, done) => done(findOriginFault(request, config.corsOrigins)));
  },
  routes: [
    defineRoute('POST /mcp', ['query'], {
      summary: '[Endpoints as tools for agents](agents.md) (Model Context Protocol)',
      body: { required: true, content: {} }, // checked by the SDK
      handle: answerMessage,
    }),
  ],
};

/** Checks the Origin, as the protocol demands against DNS rebinding. Programs send no Origin. */
function findOriginFault(
  { headers: { origin = '' } }: FastifyRequest,
  origins: string,
): TailraceError | undefined {
  if (origin === '' || origins === '*' || origins.split(',').includes(origin)) return undefined;
  const listed = 'TAILRACE_CORS_ORIGINS lists those that may; programs send a key, and no Origin';
  const message = `pages of ${shorten(origin)} may not call this; ${listed}`;
  return new TailraceError('forbidden', message);
}

/** Returns the message with the exact arguments of a call. The SDK checks the rest; it does not support BigInt. */
function chooseArguments(message: unknown, exact: unknown): unknown {
  const [params, exactParams] = [readParams(message), readParams(exact)];
  if (typeof message !== 'object' || params === undefined || exactParams === undefined) return message;
  return { ...message, params: { ...params, arguments: exactParams.arguments } };
}

/** Returns the parameters of a tool call; `undefined` for any other message. */
function readParams(message: unknown): { readonly arguments: unknown } | undefined {
  if (typeof message !== 'object' || message === null || !('params' in message)) return undefined;
  const { params } = message;
  return typeof params === 'object' && params !== null && 'arguments' in params ? params : undefined;
}

async function answerMessage(
  parts: AppParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (Array.isArray(request.body)) {
    const message = 'a batch is rejected, since a request counts once for the rate of its key';
    throw new TailraceError('invalid_request', `${message}; send one message in each request`);
  }
  const { serveMcp } = await import('../mcp/server.ts'); // its SDK is loaded only if it is used
  const response = await serveMcp(parts, { request, reply });
  const type = response.headers.get('content-type');
  if (type !== null) reply.header('content-type', type);
  const body = Buffer.from(await response.arrayBuffer());
  return reply.code(response.status).send(body.length === 0 ? undefined : body);
}

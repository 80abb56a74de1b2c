import type { IncomingMessage, Server } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { TLSSocket } from 'node:tls';
import accepts from '@fastify/accepts';
import Fastify, {
  type FastifyInstance,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from 'fastify';
import { TailraceError } from '../errors.ts';
import { createAdmit } from '../serve/admit.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { acceptJson } from './json-body.ts';
import { createListener, findHeadFault, HEADERS_CHARS_MAX, listenBefore } from './listener.ts';
import type { AppParts } from './parts.ts';
import { type Admissions, countRejection } from './plugins/auth.ts';
import { createCorsHead, registerCors } from './plugins/cors.ts';
import { createClientErrorHandler, sendError } from './plugins/errors.ts';
import {
  createAddressReader,
  createObserve,
  createRequestId,
  type Observe,
  observeReply,
  registerObserve,
} from './plugins/observe.ts';
import { describeTooMany, PARAMETERS_MAX, parseQueryString, URL_BYTES_MAX } from './route.ts';
import { createNotFound } from './routes/console.ts';
import { registerRoutes } from './routes/index.ts';
import { followTlsFiles } from './tls.ts';

// A few thousand clients, each with some connections, within the file descriptors of a process; more are dropped. Node
// drops the new one: a proxy in front keeps clients without a key from holding them all.
const CONNECTIONS_MAX = 4_096;
// Slow clients lose their connection: the largest body arrives within a minute over the slowest lines.
const HEAD_MS_MAX = 10_000;
const REQUEST_MS_MAX = 60_000;
// Longer than proxies keep an idle connection, which would otherwise send on one that just closes.
const KEEP_ALIVE_MS = 72_000;
// A socket without traffic for this long beyond the longest query is dead.
const IDLE_GRACE_MS = 30_000;
// Half a year. Without includeSubDomains, which would decide for other services of the domain.
const HSTS_SECONDS = 15_552_000;

/** Builds the HTTP side of the service; it does not listen. */
export async function buildApp(parts: AppParts): Promise<FastifyInstance> {
  const { config, keyring, authenticate, readAmbient, logger, metrics, sharedRates, tls, now } = parts;
  const addressOf = createAddressReader(config.trustProxy);
  const observe = createObserve(parts);
  const headers = createSecurityHeaders(tls !== undefined);
  const app = createApp(parts, headers, observe);
  boundConnections(app.server, metrics);
  // Node would respond with a bare 417. An `Expect` other than 100-continue is ignored.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  const admit = createAdmit({
    limits: config,
    authenticate,
    sharedRates,
    now,
    onLimited: metrics.rateLimited.inc,
    onLocalRate: metrics.rateHeldLocally.inc,
  });
  const admissions: Admissions = { admit, handedOn: new WeakMap(), readAmbient, publicUrl: config.publicUrl };
  app.decorate('admissions', admissions);
  app.setErrorHandler<Error>(async (error, request, reply) => {
    countRejection(error, request, keyring);
    await undefined; // a parser that rejects the rest of the packet responds by itself, and first
    return sendError(error, request, reply);
  });
  app.setNotFoundHandler(createNotFound(parts.pages));
  registerObserve(app, observe); // before any hook that rejects: rejected requests are counted too
  app.addHook('onRequest', (request, reply, done) => {
    // A route may replace each header. `no-store`: a cache between caller and service ignores `X-API-KEY`, and could
    // give one key the response for another.
    reply.headers(headers).header('cache-control', 'no-store');
    checkHead(request);
    done();
  });
  app.addHook('preParsing', ({ raw }, _reply, payload, done) => done(null, bodyOf(raw) ?? payload));
  const closing = registerClosing(app);
  await app.register(accepts);
  await registerCors(app, config.corsOrigins);
  acceptJson(app); // before the routes, which inherit the parsers
  await registerRoutes(app, parts);
  await app.ready();
  const cors = createCorsHead(config.corsOrigins);
  listenBefore(
    app.server,
    createListener({ ...parts, admissions, observe, addressOf, headers, cors, closing }),
  );
  if (app.server instanceof HttpsServer) app.server.once('close', followTlsFiles(config, app.server, logger));
  return app;
}

/** Counts connections, and drops those beyond the bound. */
function boundConnections(server: Server, metrics: Metrics): void {
  server.maxConnections = CONNECTIONS_MAX;
  server.on('connection', (socket: Socket) => {
    metrics.connectionOpened();
    socket.once('close', metrics.connectionClosed);
  });
  server.on('drop', () => metrics.connectionsDropped.inc());
}

function createApp(
  { config, logger, tls }: AppParts,
  headers: Readonly<Record<string, string>>,
  observe: Observe,
): FastifyInstance {
  const { requestTimeoutMs: requestTimeout = REQUEST_MS_MAX } = config;
  const headerBytesMax = URL_BYTES_MAX + HEADERS_CHARS_MAX;
  const options: FastifyServerOptions = {
    loggerInstance: logger,
    // Fastify's own lines contain the URL, and so the values of parameters; plugins/observe.ts writes ours.
    logController: new LogController({ disableRequestLogging: true }),
    // Our lines have the request's id; a logger per request costs more than a cached answer.
    childLoggerFactory: (parent) => parent,
    genReqId: ({ headers }) => createRequestId(headers),
    bodyLimit: config.bodyBytesMax,
    requestTimeout,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionTimeout: config.queryTimeoutMs + IDLE_GRACE_MS,
    // A number of proxies would let a client that bypasses them claim any address.
    trustProxy: config.trustProxy === '' ? false : config.trustProxy,
    routerOptions: {
      maxParamLength: URL_BYTES_MAX,
      ignoreDuplicateSlashes: false,
      querystringParser: parseQueryString,
    },
    clientErrorHandler: createClientErrorHandler(headerBytesMax, headers),
    // No hook runs for a URL that the router cannot read.
    frameworkErrors: (error, request, reply) => {
      observeReply(observe, request, reply);
      reply.headers(headers);
      void sendError(error, request, reply);
    },
    forceCloseConnections: 'idle',
    return503OnClosing: false, // requests that arrive during shutdown are served; see service.ts
  };
  const http = {
    maxHeaderSize: headerBytesMax,
    requestTimeout, // here too: otherwise Node rejects headersTimeout above its default
    headersTimeout: Math.min(HEAD_MS_MAX, requestTimeout),
    connectionsCheckingInterval: 1_000,
    optimizeEmptyRequests: true, // the events of an empty stream cost a cached answer some percent; see bodyOf
    requireHostHeader: false, // Node would respond with a bare 400; the hook above sends our error body
  };
  const server = tls === undefined ? { http } : { https: { ...http, ...tls } };
  return Fastify({ ...options, ...server });
}

/**
 * Returns an empty stream for the parser of a request without a body: Node's own has ended before anyone listens
 * (`optimizeEmptyRequests`), and a parser, which runs if there is a Content-Type, would wait for its end.
 */
function bodyOf({ readableEnded, headers }: IncomingMessage): Readable | undefined {
  return readableEnded && headers['content-type'] !== undefined ? Readable.from([]) : undefined;
}

/** @throws TailraceError if the URL is too long, or the head is one that Node's parser accepts and the service does not */
function checkHead({ url, raw }: FastifyRequest): void {
  if (url.length > URL_BYTES_MAX)
    throw new TailraceError('uri_too_long', `the URL is longer than ${URL_BYTES_MAX} bytes`);
  const hasMany = url.split('&', PARAMETERS_MAX + 1).length > PARAMETERS_MAX;
  const fault = hasMany ? describeTooMany('URL') : findHeadFault(raw);
  if (fault !== undefined) throw new TailraceError('invalid_request', fault);
}

/**
 * The headers of every response: a browser that opens one of the API must not load or run anything, or show it inside
 * another page. With TLS it must never connect without it.
 */
function createSecurityHeaders(https: boolean): Readonly<Record<string, string>> {
  return {
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    ...(https && { 'strict-transport-security': `max-age=${HSTS_SECONDS}` }),
  };
}

/**
 * Lets `close` end with the last running request. Otherwise it would also wait for connections that need not be open:
 * connections without any request, such as a browser opens in advance, which Node counts as busy, and connections
 * with a running request, which would then idle for the keep-alive time.
 * @returns aborts when `close` begins
 */
function registerClosing(app: FastifyInstance): AbortSignal {
  const sockets = new Set<Socket>();
  const used = new WeakSet<Socket>();
  const closing = new AbortController();
  const { signal } = closing;
  for (const event of ['connection', 'secureConnection']) {
    app.server.on(event, (socket: Socket) => {
      if (signal.aborted) socket.destroy(); // its handshake ended only now
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
  }
  // Under TLS the handshake itself sends bytes.
  if (app.server instanceof HttpsServer)
    app.server.on('request', ({ socket }: IncomingMessage) => used.add(socket));
  const isUnused = (socket: Socket) =>
    socket instanceof TLSSocket ? !used.has(socket) : socket.bytesRead === 0;
  app.addHook('preClose', (done) => {
    closing.abort();
    for (const socket of sockets) if (isUnused(socket)) socket.destroy();
    done();
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (signal.aborted) reply.header('connection', 'close');
    done();
  });
  return signal;
}

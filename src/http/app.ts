import { Server as HttpsServer } from 'node:https';
import accepts from '@fastify/accepts';
import Fastify, {
  type FastifyInstance,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from 'fastify';
import { TailraceError } from '../errors.ts';
import { createAdmit } from '../serve/admit.ts';
import { createDescribe } from '../serve/describe.ts';
import { createResolve } from '../serve/resolve.ts';
import { boundConnections } from './connections.ts';
import type { HttpContext } from './context.ts';
import { createListener, findHeadFault, HEADERS_CHARS_MAX, listenBefore } from './listener.ts';
import { noteRefusal, registerAdmissions } from './plugins/auth.ts';
import { createClientErrorHandler } from './plugins/client-error.ts';
import { registerClosing } from './plugins/closing.ts';
import { createCorsHead, registerCors } from './plugins/cors.ts';
import { acceptEmptyJson } from './plugins/empty-body.ts';
import { sendError } from './plugins/errors.ts';
import { registerMethodCheck } from './plugins/method.ts';
import {
  createObserve,
  createPeerReader,
  createRequestId,
  type Observe,
  observeReply,
  registerObserve,
} from './plugins/observe.ts';
import { createSecurityHeaders, registerSecurityHeaders } from './plugins/security-headers.ts';
import { hasTooManyParameters, PARAMETERS_MAX, parseQueryString } from './query-string.ts';
import { ALLOWED_METHODS, registerRoutes } from './routes/index.ts';
import { followTlsFiles } from './tls.ts';

// A socket on which nothing moves for this long beyond the longest query is dead.
const IDLE_GRACE_MS = 30_000;

/** Builds the HTTP side of the service; it does not listen. */
export async function buildApp(context: HttpContext): Promise<FastifyInstance> {
  const { config, logger, metrics } = context;
  const headerBytesMax = config.urlBytesMax + HEADERS_CHARS_MAX;
  const peers = createPeerReader(config.trustProxy);
  const observe = createObserve({ metrics, record: context.record, logger, peers });
  const headers = createSecurityHeaders(context.tls !== undefined);
  const app = createApp(context, { headerBytesMax, headers, observe });
  const connections = boundConnections(app.server, {
    limits: config,
    onOpen: metrics.connectionsOpen,
    onClosed: metrics.connectionClosed,
  });
  // Node would answer a bare 417. What else than 100-continue a caller may expect, nothing here does.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  const admit = createAdmit({
    ...{ limits: config, keyring: context.keyring, sharedRates: context.sharedRates, now: context.now },
    onLimited: metrics.rateLimited,
    onLocalRate: metrics.rateHeldLocally,
  });
  const admissions = registerAdmissions(app, admit);
  const { resolve, recall } = createResolve({ ...context, parameterBytesMax: config.parameterBytesMax });
  const describe = createDescribe();
  app.setErrorHandler<Error>(async (error, request, reply) => {
    noteRefusal(error, request, context.keyring);
    await undefined; // a parser that refuses the rest of the packet responds by itself, and first
    return sendError(error, request, reply);
  });
  app.setNotFoundHandler((request) => {
    throw new TailraceError(
      'not_found',
      `nothing is served at ${pathOf(request)}; endpoints are at /api/endpoints/query/<uuid or name>`,
    );
  });
  registerObserve(app, observe); // before any hook that refuses: what is refused is counted too
  registerSecurityHeaders(app, headers);
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.url.length > config.urlBytesMax) {
      throw new TailraceError('uri_too_long', `the URL is longer than ${config.urlBytesMax} bytes`);
    }
    if (hasTooManyParameters(request.url)) {
      throw new TailraceError(
        'invalid_request',
        `the URL has more than ${PARAMETERS_MAX} parameters; send those that the endpoint declares`,
      );
    }
    const fault = findHeadFault(request.raw);
    if (fault !== undefined) throw new TailraceError('invalid_request', fault);
    done();
  });
  app.addHook('preParsing', ({ caller, raw }, _reply, payload, done) => {
    if (caller !== undefined) connections.trust(raw.socket);
    done(null, payload);
  });
  const closing = registerClosing(app);
  await app.register(accepts);
  await registerCors(app, config.corsOrigins);
  acceptEmptyJson(app); // before the routes, which take over the parsers that there are
  await registerRoutes(app, { ...context, resolve, describe });
  registerMethodCheck(app, ALLOWED_METHODS);
  await app.ready();
  const cors = createCorsHead(config.corsOrigins);
  const steps = { admissions, recall, cached: context.cached, describe };
  const around = { observe, peers, metrics, connections, headers, cors, closing };
  listenBefore(app.server, createListener({ ...steps, ...around }), connections);
  if (app.server instanceof HttpsServer) {
    const unfollow = followTlsFiles(config, app.server, logger);
    app.server.once('close', unfollow);
  }
  return app;
}

interface Parts {
  readonly headerBytesMax: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly observe: Observe;
}

function createApp(
  { config, logger, tls }: HttpContext,
  { headerBytesMax, headers, observe }: Parts,
): FastifyInstance {
  const options: FastifyServerOptions = {
    loggerInstance: logger,
    // Fastify's own lines hold the URL, and with it the parameters' values; plugins/observe.ts writes ours.
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (parent) => parent, // ours have the request's id in them; a logger for each request costs more than a cached answer
    genReqId: ({ headers }) => createRequestId(headers),
    bodyLimit: config.bodyBytesMax,
    requestTimeout: config.requestTimeoutMs,
    keepAliveTimeout: config.keepAliveTimeoutMs,
    connectionTimeout: config.queryTimeoutMs + IDLE_GRACE_MS,
    // A count of proxies would let whoever reaches the service past them name any address as his own.
    trustProxy: config.trustProxy === '' ? false : config.trustProxy,
    routerOptions: {
      maxParamLength: config.urlBytesMax,
      ignoreDuplicateSlashes: false,
      querystringParser: parseQueryString,
    },
    clientErrorHandler: createClientErrorHandler({
      headerBytesMax,
      requestTimeoutMs: config.requestTimeoutMs,
      headers,
    }),
    // A URL that the router cannot read: no hook runs for it.
    frameworkErrors: (error, request, reply) => {
      observeReply(observe, request, reply);
      reply.headers(headers);
      void sendError(error, request, reply);
    },
    forceCloseConnections: 'idle',
    return503OnClosing: false, // what still comes in while we close is answered; see service.ts
  };
  const http = {
    maxHeaderSize: headerBytesMax,
    requestTimeout: config.requestTimeoutMs, // again: Node refuses headersTimeout above its own default otherwise
    headersTimeout: config.requestTimeoutMs,
    connectionsCheckingInterval: 1_000,
    requireHostHeader: false, // Node would answer a bare 400; the hook above does it in the shape of errors
  };
  const server = tls === undefined ? { http } : { https: { ...http, ...tls } };
  return Fastify({ ...options, ...server });
}

/** The path without its parameters, cut short: it goes into a message. */
function pathOf(request: FastifyRequest): string {
  return (request.url.split('?')[0] ?? '').slice(0, 100);
}

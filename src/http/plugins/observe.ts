import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import proxyAddress from '@fastify/proxy-addr';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { TailraceError } from '../../errors.ts';
import type { Caller } from '../../keys/keyring.ts';
import type { Credential } from '../../people/credential.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { RejectedRequestLog } from '../../telemetry/rejected-requests.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller that the accepted key identifies; see `getCaller`. */
    caller: Caller | undefined;
    /** What identifies the caller. */
    sent: Credential;
    /** The endpoint's name, once it is known. */
    endpointName: string | undefined;
    /** The error that was sent. */
    rejection: TailraceError | undefined;
    /** Logged at debug level only: callers without a key could fill the disk. */
    quiet: boolean;
    /** The start of the response, by `performance.now()`, if it lasts as long as the caller wants. */
    responseMs: number | undefined;
    /** Added to the request's log line. */
    detail: Readonly<Record<string, unknown>> | undefined;
  }
}

const REQUEST_ID = /^[\w.-]{1,100}$/;

/** Returns the caller's id of a request, if it is fit for a header and a log; otherwise a new one. */
export function createRequestId(headers: IncomingHttpHeaders): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}

/** Returns the address of the client. */
export type AddressReader = (request: IncomingMessage) => string;

/**
 * Reads the headers of proxies, if they are trusted, as the framework does (its `trustProxy`).
 * @param trustProxy addresses joined by commas; empty: no proxy is trusted
 */
export function createAddressReader(trustProxy: string): AddressReader {
  if (trustProxy === '') return ({ socket }) => socket.remoteAddress ?? '';
  const isTrusted = proxyAddress.compile(trustProxy.split(','));
  return (request) => proxyAddress(request, isTrusted);
}

// Never sent: the counted status if the caller hung up before the response. nginx uses the same number.
export const HUNG_UP = 499;

/** What is counted and logged of a request, never a URL, a key or a parameter's value; of an error only its code. */
type Observed = Pick<FastifyRequest, 'id' | 'method' | 'caller' | 'ip' | 'endpointName' | 'detail'> &
  Partial<Pick<FastifyRequest, 'rejection' | 'quiet'>>;

interface End {
  readonly route: string;
  readonly status: number;
  readonly ms: number;
}

/** Counts and logs a request, once it is over. */
export type Observe = (request: Observed, end: End) => void;

export interface ObserveOptions {
  readonly metrics: Pick<Metrics, 'request' | 'failed'>;
  readonly rejectedRequests: Pick<RejectedRequestLog, 'add'>;
  readonly logger: FastifyBaseLogger;
}

export function createObserve(options: ObserveOptions): Observe {
  const { metrics, rejectedRequests, logger } = options;
  return (request, end) => {
    const { method, caller, ip: address, endpointName: endpoint, rejection: error } = request;
    const { route, status, ms } = end;
    const keyId = caller?.keyId;
    if (error !== undefined) rejectedRequests.add({ error, method, route, keyId, address });
    metrics.request({ route, endpoint: endpoint ?? '', status, seconds: ms / 1000 });
    if (endpoint !== undefined && error !== undefined) metrics.failed(endpoint, error.code);
    const line = { reqId: request.id, method, route, status, ms: Math.round(ms * 10) / 10, key: keyId };
    const level = request.quiet === true ? 'debug' : 'info';
    logger[level]({ ...line, ip: address, endpoint, error: error?.code, ...request.detail });
  };
}

/** Observes a request of the framework when its response is closed: unlike `onResponse`, even if the caller hung up. */
export function observeReply(observe: Observe, request: FastifyRequest, reply: FastifyReply): void {
  const startMs = performance.now();
  reply.header('x-request-id', request.id);
  reply.raw.once('close', () => {
    const isSent = reply.raw.writableFinished || request.responseMs !== undefined;
    const status = isSent ? reply.statusCode : HUNG_UP;
    const route = request.routeOptions.url ?? 'none';
    observe(request, { route, status, ms: (request.responseMs ?? performance.now()) - startMs });
  });
}

const UNSET = ['caller', 'sent', 'endpointName', 'rejection', 'responseMs', 'detail'] as const;

export function registerObserve(app: FastifyInstance, observe: Observe): void {
  for (const name of UNSET) app.decorateRequest(name, undefined);
  app.decorateRequest('quiet', false);
  app.addHook('onRequest', (request, reply, done) => {
    observeReply(observe, request, reply);
    done();
  });
}

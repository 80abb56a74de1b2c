import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import proxyAddress from '@fastify/proxy-addr';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorCode, TailraceError } from '../../errors.ts';
import type { Caller } from '../../keys/keyring.ts';
import type { Credential } from '../../people/credential.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { RejectedRequestLog } from '../../telemetry/rejected-requests.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The accepted key's id. */
    keyId: string | undefined;
    /** The caller that the accepted key identifies; see `getCaller`. */
    caller: Caller | undefined;
    /** What identifies the caller. */
    sent: Credential;
    /** The endpoint's name, once it is known. */
    endpointName: string | undefined;
    /** The code of the error that was sent. */
    failure: ErrorCode | undefined;
    /** That error. */
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

/** What is counted and logged of a request, never a URL, a key or a parameter's value; `rejection` is only counted. */
type Observed = Pick<FastifyRequest, 'id' | 'method' | 'keyId' | 'ip' | 'endpointName' | 'detail'> &
  Partial<Pick<FastifyRequest, 'failure' | 'rejection' | 'quiet'>>;

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
    const { method, keyId, ip: address, endpointName: endpoint = '', failure, rejection: error } = request;
    const { route, status, ms } = end;
    if (error !== undefined) rejectedRequests.add({ error, method, route, keyId, address });
    metrics.request({ route, endpoint, status, seconds: ms / 1000 });
    if (endpoint !== '' && failure !== undefined) metrics.failed(endpoint, failure);
    const level = request.quiet === true ? 'debug' : 'info';
    if (isLogged(logger, level)) logger[level](toLine(request, end));
  };
}

function toLine(request: Observed, { route, status, ms }: End): Record<string, unknown> {
  const { id: reqId, method, keyId: key, ip, endpointName: endpoint, failure: error, detail } = request;
  return { reqId, method, route, status, ms: Math.round(ms * 10) / 10, key, ip, endpoint, error, ...detail };
}

/** A method of pino that Fastify's type of a logger leaves out; any other logger decides by itself. */
function isLogged(
  log: FastifyBaseLogger & { isLevelEnabled?: (level: string) => boolean },
  level: string,
): boolean {
  return log.isLevelEnabled?.(level) ?? true;
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

const UNSET = [
  'keyId',
  'caller',
  'sent',
  'endpointName',
  'failure',
  'rejection',
  'responseMs',
  'detail',
] as const;

export function registerObserve(app: FastifyInstance, observe: Observe): void {
  for (const name of UNSET) app.decorateRequest(name, undefined);
  app.decorateRequest('quiet', false);
  app.addHook('onRequest', (request, reply, done) => {
    observeReply(observe, request, reply);
    done();
  });
}

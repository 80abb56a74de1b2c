import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorCode } from '../../errors.ts';
import type { RecordRequest, ServedRequest } from '../../ingest/request-recorder.ts';
import type { Caller } from '../../keys/keyring.ts';
import type { Metrics } from '../../telemetry/metrics.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The accepted key's id. */
    keyId: string | undefined;
    /** The caller that the accepted key identifies. */
    caller: Caller | undefined;
    /** The endpoint's name, once it is known. */
    endpointName: string | undefined;
    /** The code of the error that was sent. */
    failure: ErrorCode | undefined;
    /** Logged at debug level only and not recorded as an event: callers without a key could fill the disk. */
    quiet: boolean;
    /** Added to the request's log line. */
    detail: Readonly<Record<string, unknown>> | undefined;
  }
}

// Never sent: the status counted if the caller hung up before the response. nginx uses the same number.
export const HUNG_UP = 499;

export type Observe = (request: FastifyRequest, reply: FastifyReply) => void;

/**
 * Logs and counts each request when it ends: caller, route, outcome. Never a URL, a key or a parameter's value.
 */
export function createObserve(metrics: Metrics, record: RecordRequest | undefined): Observe {
  return (request, reply) => {
    const startMs = performance.now();
    reply.header('x-request-id', request.id);
    // Unlike Fastify's onResponse, `close` is also emitted if the caller has hung up.
    reply.raw.once('close', () => {
      const route = request.routeOptions.url ?? 'none';
      const status = reply.raw.writableFinished ? reply.statusCode : HUNG_UP;
      const ms = performance.now() - startMs;
      const endpoint = request.endpointName ?? '';
      metrics.request({ route, endpoint, status, seconds: ms / 1000 });
      if (request.endpointName !== undefined && request.failure !== undefined) {
        metrics.failed(request.endpointName, request.failure);
      }
      if (!request.quiet) record?.(toServedRequest(request, status, ms));
      if (isLogged(request.log, levelOf(request)))
        writeLine(request.log, toLogFields(request, route), { status, ms });
    });
  };
}

/** The request's part of its log line. */
interface RequestLogFields
  extends Pick<
    FastifyRequest,
    'id' | 'method' | 'keyId' | 'ip' | 'endpointName' | 'failure' | 'detail' | 'quiet'
  > {
  readonly route: string;
}

function toLogFields(request: FastifyRequest, route: string): RequestLogFields {
  const { id, method, keyId, ip, endpointName, failure, detail, quiet } = request;
  return { id, method, route, keyId, ip, endpointName, failure, detail, quiet };
}

function levelOf({ quiet }: Pick<RequestLogFields, 'quiet'>): 'debug' | 'info' {
  return quiet ? 'debug' : 'info';
}

export function writeLine(
  log: FastifyBaseLogger,
  request: RequestLogFields,
  { status, ms }: { status: number; ms: number },
): void {
  log[levelOf(request)]({
    reqId: request.id,
    method: request.method,
    route: request.route,
    status,
    ms: Math.round(ms * 10) / 10,
    key: request.keyId,
    ip: request.ip,
    endpoint: request.endpointName,
    error: request.failure,
    ...request.detail,
  });
}

/** Asks pino, so that no line is built in vain. Fastify's logger type lacks the method; other loggers filter by themselves. */
export function isLogged(
  log: FastifyBaseLogger & { isLevelEnabled?: (level: string) => boolean },
  level: string,
): boolean {
  return log.isLevelEnabled?.(level) ?? true;
}

function toServedRequest(request: FastifyRequest, status: number, durationMs: number): ServedRequest {
  const path = request.url.split('?')[0] ?? '';
  return { method: request.method, path, host: request.host, status, durationMs, requestId: request.id };
}

export function registerObserve(app: FastifyInstance, observe: Observe): void {
  for (const name of ['keyId', 'caller', 'endpointName', 'failure', 'detail'] as const)
    app.decorateRequest(name, undefined);
  app.decorateRequest('quiet', false);
  app.addHook('onRequest', (request, reply, done) => {
    observe(request, reply);
    done();
  });
}

import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorCode } from '../../errors.ts';
import type { RecordRequest, ServedRequest } from '../../ingest/request-recorder.ts';
import type { Caller } from '../../keys/keyring.ts';
import type { Metrics } from '../metrics.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The accepted key's id. */
    keyId: string | undefined;
    /** Whoever stands behind the accepted key. */
    caller: Caller | undefined;
    /** The endpoint's name, once it is known. */
    endpointName: string | undefined;
    /** The code of the error that was sent. */
    failure: ErrorCode | undefined;
    /** Neither logged above the level debug nor recorded as an event: anyone could cause it, as often as they like. */
    quiet: boolean;
    /** Added to the request's log line. */
    detail: Readonly<Record<string, unknown>> | undefined;
  }
}

// Never sent: how a call is counted whose caller hung up before the answer. nginx's number for it.
const HUNG_UP = 499;

export type Observe = (request: FastifyRequest, reply: FastifyReply) => void;

/**
 * One log line and one count a request, when it is over: who, which route, what came of it. Never a URL, a key or a
 * parameter's value.
 */
export function createObserve(metrics: Metrics, record: RecordRequest | undefined): Observe {
  return (request, reply) => {
    const startMs = performance.now();
    reply.header('x-request-id', request.id);
    // Unlike Fastify's onResponse this also comes where the caller has gone.
    reply.raw.once('close', () => {
      const route = request.routeOptions.url ?? 'none';
      const status = reply.raw.writableFinished ? reply.statusCode : HUNG_UP;
      const ms = performance.now() - startMs;
      const endpoint = request.endpointName ?? '';
      metrics.request({ route, endpoint, status, seconds: ms / 1000 });
      if (request.endpointName !== undefined && request.failure !== undefined) {
        metrics.failed(request.endpointName, request.failure);
      }
      if (!request.quiet) record?.(describeServed(request, status, ms));
      writeLine(request, route, { status, ms });
    });
  };
}

function writeLine(
  request: FastifyRequest,
  route: string,
  { status, ms }: { status: number; ms: number },
): void {
  const level = request.quiet ? 'debug' : 'info';
  if (!isEnabled(request.log, level)) return;
  request.log[level]({
    reqId: request.id,
    method: request.method,
    route,
    status,
    ms: Math.round(ms * 10) / 10,
    key: request.keyId,
    ip: request.ip,
    endpoint: request.endpointName,
    error: request.failure,
    ...request.detail,
  });
}

/** Pino's own question, which Fastify's type of a logger leaves out; any other logger decides by itself. */
function isEnabled(
  log: FastifyBaseLogger & { isLevelEnabled?: (level: string) => boolean },
  level: string,
): boolean {
  return log.isLevelEnabled?.(level) ?? true;
}

function describeServed(request: FastifyRequest, status: number, durationMs: number): ServedRequest {
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

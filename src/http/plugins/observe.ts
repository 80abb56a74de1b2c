import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorCode } from '../../errors.ts';
import type { RecordRequest } from '../../ingest/request-recorder.ts';
import type { Metrics } from '../metrics.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The accepted key's id. */
    keyId: string | undefined;
    /** The endpoint's name, once it is known. */
    endpointName: string | undefined;
    /** The code of the error that was sent. */
    failure: ErrorCode | undefined;
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
      record?.({
        method: request.method,
        path: request.url.split('?')[0] ?? '',
        host: request.host,
        status,
        durationMs: ms,
        requestId: request.id,
      });
      request.log.info({
        method: request.method,
        ip: request.ip,
        route,
        status,
        ms: Math.round(ms * 10) / 10,
        key: request.keyId,
        endpoint: request.endpointName,
        error: request.failure,
        ...request.detail,
      });
    });
  };
}

export function registerObserve(app: FastifyInstance, observe: Observe): void {
  for (const name of ['keyId', 'endpointName', 'failure', 'detail'] as const)
    app.decorateRequest(name, undefined);
  app.addHook('onRequest', (request, reply, done) => {
    observe(request, reply);
    done();
  });
}

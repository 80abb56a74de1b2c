import type { FastifyInstance } from 'fastify';
import type { ErrorCode } from '../../errors.ts';
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

/** One log line and one count a request: who, which route, what came of it. Never a URL, a key or a parameter's value. */
export function registerObserve(app: FastifyInstance, metrics: Metrics): void {
  for (const name of ['keyId', 'endpointName', 'failure', 'detail'] as const)
    app.decorateRequest(name, undefined);
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    const endpoint = request.endpointName ?? '';
    metrics.request({ route, endpoint, status: reply.statusCode, seconds: reply.elapsedTime / 1000 });
    if (request.endpointName !== undefined && request.failure !== undefined) {
      metrics.failed(request.endpointName, request.failure);
    }
    request.log.info({
      method: request.method,
      route,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      key: request.keyId,
      endpoint: request.endpointName,
      error: request.failure,
      ...request.detail,
    });
    done();
  });
}

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
export const HUNG_UP = 499;

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
      if (isLogged(request.log, levelOf(request)))
        writeLine(request.log, describe(request, route), { status, ms });
    });
  };
}

/** What a line tells of a request. */
export interface Told
  extends Pick<
    FastifyRequest,
    'id' | 'method' | 'keyId' | 'ip' | 'endpointName' | 'failure' | 'detail' | 'quiet'
  > {
  readonly route: string;
}

function describe(request: FastifyRequest, route: string): Told {
  const { id, method, keyId, ip, endpointName, failure, detail, quiet } = request;
  return { id, method, route, keyId, ip, endpointName, failure, detail, quiet };
}

function levelOf({ quiet }: Pick<Told, 'quiet'>): 'debug' | 'info' {
  return quiet ? 'debug' : 'info';
}

export function writeLine(
  log: FastifyBaseLogger,
  told: Told,
  { status, ms }: { status: number; ms: number },
): void {
  log[levelOf(told)]({
    reqId: told.id,
    method: told.method,
    route: told.route,
    status,
    ms: Math.round(ms * 10) / 10,
    key: told.keyId,
    ip: told.ip,
    endpoint: told.endpointName,
    error: told.failure,
    ...told.detail,
  });
}

/** Pino's own question, which Fastify's type of a logger leaves out; any other logger decides by itself. */
export function isLogged(
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

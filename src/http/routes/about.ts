import type { Endpoint } from '../../definitions/endpoint.ts';
import type { Registry } from '../../definitions/registry.ts';
import type { Source } from '../../definitions/source.ts';
import { TailraceError } from '../../errors.ts';
import { isListed } from '../../keys/grant.ts';
import type { Caller } from '../../keys/keyring.ts';
import { visibleEndpoints } from '../../management/definitions.ts';
import { COMPRESS, chooseEncoding } from '../../serve/negotiate.ts';
import { PROMETHEUS_TYPE } from '../../telemetry/prometheus.ts';
import { object, type Schema } from '../openapi/schema.ts';
import { defineGroup, getCaller, json, operation } from '../route.ts';

/**
 * Whether a key sees a series: with a list, only series of its items, and series without an endpoint, source or
 * receiver.
 */
function findShown({ findEndpoint, findSource }: Registry, { endpoints, sources }: Caller) {
  if (endpoints === undefined && sources === undefined) return undefined;
  const isOf = (list: Caller['endpoints'], found: Endpoint | Source | undefined) =>
    list === undefined || (found !== undefined && isListed(list, found));
  return ({ endpoint = '', source, receiver }: Readonly<Record<string, string | number>>) =>
    receiver === undefined &&
    (endpoint === '' || isOf(endpoints, findEndpoint(String(endpoint)))) &&
    (source === undefined || isOf(sources, findSource(String(source))));
}

const READY: Schema = {
  type: 'object',
  required: ['status'],
  properties: {
    status: { const: 'ready' },
    storing: { type: 'string', description: 'Why nothing can be stored; left out while it can.' },
    alerts: { type: 'string', description: 'Why alerts are not evaluated or sent; left out while they are.' },
    retention: { type: 'string', description: 'Why retention has stopped; left out while it runs.' },
    roles: { type: 'string', description: 'Says that the roles file is not valid; left out while it is.' },
  },
};

/** Serves what supervisors, Prometheus and clients of the API read about the service. */
export const aboutRoutes = defineGroup({
  tag: 'service',
  routes: [
    operation('get_health', 'GET /health', 'none', {
      summary: 'Whether the service works',
      answer: { 200: json('The service works.', object({ status: { const: 'ok' } })) },
      errors: ['engine_unavailable'],
      handle: async ({ engine }) => {
        if (engine.gauges().state === 'lost')
          throw new TailraceError('engine_unavailable', 'the engine cannot be started; see the log');
        return { status: 'ok' };
      },
    }),
    // Without a key, so no notice names a source.
    operation('get_ready', 'GET /ready', 'none', {
      summary: 'Whether calls are served',
      answer: { 200: json('Calls are served; lists the problems that an operator has to solve.', READY) },
      errors: ['engine_unavailable'],
      handle: async ({ notReady, readNotices }) => {
        const reason = notReady();
        if (reason !== undefined) throw new TailraceError('engine_unavailable', reason);
        const notices = await readNotices();
        return { status: 'ready', ...Object.fromEntries(notices.map((one) => [one.topic, one.message])) };
      },
    }),
    // With a key: metrics name every endpoint and its use.
    operation('get_metrics', 'GET /metrics', ['manage', 'metrics'], {
      summary: 'Metrics in Prometheus’ format',
      answer: {
        200: { description: 'Metrics.', content: { 'text/plain': { schema: { type: 'string' } } } },
      },
      handle: async ({ metrics, registry }, request, reply) => {
        reply.header('content-type', PROMETHEUS_TYPE);
        return await metrics.registry.render(findShown(registry, getCaller(request)));
      },
    }),
    operation('get_openapi', 'GET /openapi.json', 'optional', {
      summary: 'The OpenAPI document, with the endpoints that the key may read',
      answer: { 200: json('An OpenAPI 3.1 document.', { type: 'object' }) },
      async handle({ registry, describeApi }, request, reply) {
        const { caller } = request;
        const vary = 'X-API-KEY, Authorization, Cookie, Accept-Encoding';
        reply.header('cache-control', 'private, no-cache').header('vary', vary);
        const document = describeApi(caller && visibleEndpoints(registry.endpoints, caller));
        const encoding = chooseEncoding(request.accepts());
        if (encoding === 'identity') return document;
        // It repeats itself: a tenth of its bytes are sent.
        const body = await COMPRESS[encoding](Buffer.from(JSON.stringify(document)));
        reply.header('content-encoding', encoding).type('application/json; charset=utf-8');
        return reply.send(body);
      },
    }),
  ],
});

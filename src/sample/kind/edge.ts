import type { Micros } from '../../lib/instant.ts';
import type { Random } from '../../lib/random.ts';
import type { FunctionCall } from '../call.ts';
import { type Description, isoInstant, type Moment } from '../kind.ts';
import { BROWSERS, VISITORS, type Visitor } from '../visitor.ts';
import { pickRoute, type Route } from './edge-route.ts';

/** A request at the gateway of a project, in `cloudflare.logs.prod`. */
export function describeRequest(moment: Moment): Description {
  const { random, project, at, failing } = moment;
  const route = pickRoute(random);
  const { method, type, medianBytes, isSocket = false } = route;
  const visitor = random.pick(isSocket ? BROWSERS : VISITORS);
  return describeExchange(random, {
    // With a websocket, a page cannot send its own headers.
    visitor: isSocket ? { ...visitor, clientInfo: null } : visitor,
    host: project.host,
    method,
    path: fillIn(route.path, random),
    search: route.search === null ? null : fillIn(route.search, random),
    status: pickStatus(route, moment),
    type,
    medianBytes,
    originMs: random.logNormal(route.medianMs, 0.6) * (failing ? 8 : 1),
    at,
  });
}

/** The request of a call, which the gateway forwards to the function. */
export function describeCallRequest(call: FunctionCall, random: Random): Description {
  const { at, project, called, status, executionMs } = call;
  return describeExchange(random, {
    visitor: random.pick(VISITORS),
    host: project.host,
    method: called.method,
    path: `/functions/v1/${called.name}`,
    search: null,
    status,
    type: JSON_TYPE,
    medianBytes: 420,
    originMs: executionMs + random.whole(2, 12),
    at,
  });
}

/** A request and its response. */
interface Exchange {
  readonly visitor: Visitor;
  readonly host: string;
  readonly method: string;
  readonly path: string;
  readonly search: string | null;
  readonly status: number;
  readonly type: string;
  readonly medianBytes: number;
  readonly originMs: number;
  readonly at: Micros;
}

const JSON_TYPE = 'application/json; charset=utf-8';

function describeExchange(random: Random, exchange: Exchange): Description {
  const { visitor, host, method, path, search, status } = exchange;
  const url = `https://${host}${path}${search ?? ''}`;
  const ray = `${random.hex()}${random.hex()}-${visitor.colo}`;
  const request = {
    cf: visitor.cf,
    headers: {
      accept: '*/*',
      cf_connecting_ip: visitor.address,
      cf_ipcountry: visitor.country,
      cf_ray: ray,
      content_length: method === 'GET' ? null : String(random.whole(40, 900)),
      content_type: method === 'GET' ? null : 'application/json',
      host,
      user_agent: visitor.userAgent,
      x_client_info: visitor.clientInfo,
      x_forwarded_proto: 'https',
      x_real_ip: visitor.address,
    },
    host,
    method,
    path,
    port: null,
    protocol: 'https:',
    sb: [],
    search,
    url,
  };
  return {
    message: `${method} | ${status} | ${visitor.address} | ${ray} | ${url} | ${visitor.userAgent}`,
    metadata: { request, response: describeResponse(exchange, ray, random) },
  };
}

function describeResponse(
  { status, type, medianBytes, originMs, at }: Exchange,
  ray: string,
  random: Random,
) {
  const wentWell = status < 400;
  const bytes = wentWell ? Math.round(random.logNormal(medianBytes, 0.9)) : 120;
  return {
    headers: {
      cf_cache_status: type.startsWith('image/') && wentWell ? random.pick(['HIT', 'MISS']) : 'DYNAMIC',
      cf_ray: ray,
      content_length: bytes === 0 ? null : String(bytes),
      content_type: (wentWell ? type : JSON_TYPE) || null,
      date: isoInstant(at),
      sb_gateway_version: '1',
    },
    origin_time: Math.round(originMs),
    status_code: status,
  };
}

const OUTAGE_SHARE = 0.35;

function pickStatus(route: Route, { random, failing }: Moment): number {
  if (failing && random.chance(OUTAGE_SHARE)) return random.pick([500, 502, 503, 503, 504]);
  const luck = random.next();
  if (luck < 0.003) return random.pick([500, 500, 502, 504]);
  if (luck < 0.028) return random.pick(route.refusals);
  return route.status;
}

function fillIn(text: string, random: Random): string {
  return text.includes('{') ? text.replace('{id}', random.uuid()) : text;
}

import { type Description, isoInstant, type Moment } from '../kind.ts';
import { VISITORS } from '../visitor.ts';
import { pickRoute, type Route } from './edge-route.ts';

/** A request at the gateway of a project, as `cloudflare.logs.prod` has it. */
export function describeRequest(moment: Moment): Description {
  const { random, project } = moment;
  const route = pickRoute(random);
  const visitor = random.pick(VISITORS);
  const path = fillIn(route.path, moment);
  const search = route.search === null ? null : fillIn(route.search, moment);
  const url = `https://${project.host}${path}${search ?? ''}`;
  const status = pickStatus(route, moment);
  const ray = `${random.hex()}${random.hex()}-${visitor.colo}`;
  const request = {
    cf: visitor.cf,
    headers: {
      accept: '*/*',
      cf_connecting_ip: visitor.address,
      cf_ipcountry: visitor.country,
      cf_ray: ray,
      content_length: route.method === 'GET' ? null : String(random.whole(40, 900)),
      content_type: route.method === 'GET' ? null : 'application/json',
      host: project.host,
      user_agent: visitor.userAgent,
      x_client_info: visitor.clientInfo,
      x_forwarded_proto: 'https',
      x_real_ip: visitor.address,
    },
    host: project.host,
    method: route.method,
    path,
    port: null,
    protocol: 'https:',
    sb: [],
    search,
    url,
  };
  return {
    message: `${route.method} | ${status} | ${visitor.address} | ${ray} | ${url} | ${visitor.userAgent}`,
    metadata: { request, response: describeResponse(route, status, ray, moment) },
  };
}

function describeResponse(route: Route, status: number, ray: string, { random, at, failing }: Moment) {
  const wentWell = status < 400;
  const bytes = wentWell ? Math.round(random.logNormal(route.medianBytes, 0.9)) : 120;
  return {
    headers: {
      cf_cache_status: route.type.startsWith('image/') && wentWell ? random.pick(['HIT', 'MISS']) : 'DYNAMIC',
      cf_ray: ray,
      content_length: bytes === 0 ? null : String(bytes),
      content_type: (wentWell ? route.type : 'application/json; charset=utf-8') || null,
      date: isoInstant(at),
      sb_gateway_version: '1',
    },
    origin_time: Math.round(random.logNormal(route.medianMs, 0.6) * (failing ? 8 : 1)),
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

function fillIn(text: string, { random, project }: Moment): string {
  if (!text.includes('{')) return text;
  return text.replace('{id}', random.uuid()).replace('{function}', project.pickFunction(random).name);
}

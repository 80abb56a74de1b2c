import { MICROS_PER_SECOND, type Micros } from '../lib/instant.ts';
import { createRandom, createWeighted, type Random } from '../lib/random.ts';

/** What a source has of a sample: the requests of these areas, each as one event. */
export interface SampleKind {
  readonly areas: string;
  /** Returns the message and the metadata, as in the event's JSON. */
  readonly describe: (request: SampleRequest, random: Random) => Description;
}

type Description = { readonly message: string; readonly metadata: object };

/** Every source of a sample, by its name. */
export const SAMPLE_KINDS: Readonly<Record<string, SampleKind>> = {
  'cloudflare.logs.prod': { areas: 'frwast', describe: describeRequest },
  'deno-relay-logs': { areas: 'f', describe: describeInvocation },
  'deno-subhosting-events': { areas: 'f', describe: describeOutput },
  'gotrue.logs.prod': { areas: 'a', describe: describeAuth },
  'storage.logs.prod.2': { areas: 's', describe: describeStorage },
  'postgres.logs': createServer('w', {
    usual: ['LOG', 'connection authorized: user=authenticator database=postgres SSL enabled'],
    unusual: ['ERROR', 'duplicate key value violates unique constraint "orders_pkey"'],
    toMetadata: ({ project }, error_severity, random) => ({
      host: `db-${project}`,
      parsed: { error_severity, user_name: 'authenticator', process_id: random.whole(300, 65_000) },
    }),
  }),
  'postgREST.logs.prod': createServer('w', {
    usual: ['info', 'Schema cache queried in 18.4 milliseconds'],
    unusual: ['warning', 'Attempting to reconnect to the database in 1 seconds...'],
    toMetadata: ({ project }, level) => ({ host: `rest-${project}`, level, version: '13.0.7' }),
  }),
  'realtime.logs.prod': createServer('t', {
    usual: ['info', 'Joined channel room:lobby'],
    unusual: ['error', 'InvalidJWTToken: token has expired'],
    toMetadata: ({ project }, level) => ({ external_id: project, level, project }),
  }),
  'pgbouncer.logs.prod': createServer('t', {
    usual: ['log', 'login attempt: db=postgres user=postgres tls=TLSv1.3/TLS_AES_256_GCM_SHA384'],
    unusual: ['warning', 'pooler error: query_wait_timeout'],
    toMetadata: ({ project }, level) => ({ host: `db-${project}`, level, pid: 412 }),
  }),
  logs: createServer('t', {
    usual: ['info', 'sent a receipt'],
    unusual: ['warn', 'the mail server is slow, trying again'],
    toMetadata(_, level, random) {
      const trace_id = random.uuid().replaceAll('-', '');
      return { level, service: 'mailer', host: `worker-${random.whole(1, 4)}`, trace_id };
    },
  }),
};

interface Server {
  readonly usual: readonly [level: string, message: string];
  /** One in twenty. */
  readonly unusual: readonly [level: string, message: string];
  readonly toMetadata: (request: SampleRequest, level: string, random: Random) => object;
}

function createServer(areas: string, { usual, unusual, toMetadata }: Server): SampleKind {
  return {
    areas,
    describe(request, random) {
      const [level, message] = random.chance(0.05) ? unusual : usual;
      return { message, metadata: toMetadata(request, level, random) };
    },
  };
}

/** A request at the gateway. */
function describeRequest(request: SampleRequest, random: Random): Description {
  const { visitor, host, time, method, path, status, ms } = request;
  const { address, userAgent, clientInfo, ...cf } = visitor;
  const url = `https://${host}${path}`;
  const ray = `${random.hex()}${random.hex()}-${cf.colo}`;
  const caller = { cf_connecting_ip: address, cf_ipcountry: cf.country, cf_ray: ray, x_real_ip: address };
  const body = method === 'GET' ? null : String(random.whole(40, 900));
  const program = { user_agent: userAgent, x_client_info: clientInfo };
  const headers = {
    accept: '*/*',
    content_length: body,
    host,
    x_forwarded_proto: 'https',
    ...caller,
    ...program,
  };
  const sent = { cf_cache_status: 'DYNAMIC', cf_ray: ray, content_length: String(random.whole(100, 4_000)) };
  const type = { content_type: 'application/json; charset=utf-8', date: time };
  return {
    message: `${method} | ${status} | ${address} | ${ray} | ${url} | ${userAgent}`,
    metadata: {
      request: { cf, headers, host, method, path, port: null, protocol: 'https:', search: null, url },
      response: { headers: { ...sent, ...type }, origin_time: Math.round(ms), status_code: status },
    },
  };
}

/** One invocation of a function. */
function describeInvocation(request: SampleRequest, random: Random): Description {
  const { called, host, method, path, status, ms } = request;
  const url = `https://${host}${path}`;
  return {
    message: `${method} | ${status} | ${url}`,
    metadata: {
      ...{ ...called, execution_id: random.uuid(), execution_time_ms: ms },
      request: { headers: { host }, host, method, pathname: path, protocol: 'https:', url },
      response: { headers: { content_type: 'application/json' }, status_code: status },
    },
  };
}

const OUTPUT = [
  { event_type: 'Boot', level: 'log', message: 'booted (time: 31ms)\n' },
  { event_type: 'Log', level: 'info', message: 'processed event in one attempt\n' },
  { event_type: 'Shutdown', level: 'log', message: 'shutdown\n' },
];
const BROKEN = {
  ...{ event_type: 'UncaughtException', level: 'error' },
  message: "TypeError: Cannot read properties of undefined (reading 'currency')\n    at main.ts:42:11\n",
};

/** The output of a function, its start and its end. */
function describeOutput(request: SampleRequest, random: Random): Description {
  const { called, time, isBroken, status } = request;
  const { message, ...output } = isBroken && status >= 500 ? BROKEN : random.pick(OUTPUT);
  return { message, metadata: { ...called, ...output, execution_id: random.uuid(), timestamp: time } };
}

/** A request at a project's auth server: the message is the log line itself, as JSON. */
function describeAuth({ project, time, visitor, method, path, status, ms }: SampleRequest): Description {
  const line = {
    ...{ component: 'api', duration: Math.round(ms * 1_000_000), level: levelOf(status), method, status },
    error: status < 400 ? null : 'invalid_grant: Invalid Refresh Token',
    ...{ path: path.replace('/auth/v1', ''), remote_addr: visitor.address, time },
  };
  return { message: JSON.stringify(line), metadata: { ...line, host: `auth-${project}` } };
}

/** A request at a project's storage server. */
function describeStorage(request: SampleRequest): Description {
  const { project, host, visitor, method, path, status, ms } = request;
  const { address, userAgent } = visitor;
  const url = path.replace('/storage/v1', '');
  const req = { headers: { user_agent: userAgent }, hostname: host, method, url };
  return {
    message: `${project} | ${method} | ${status} | ${address} | ${url} | ${userAgent}`,
    metadata: { level: levelOf(status), project, req, res: { statusCode: status }, responseTime: ms },
  };
}

function levelOf(status: number): string {
  return status >= 500 ? 'error' : status >= 400 ? 'warning' : 'info';
}

/** The content of a sample. The same options, including `end`, always give the same events. */
export interface SampleOptions {
  /** Events of all sources together. */
  readonly rows: number;
  readonly seed: number;
  /** Days that the events reach back. */
  readonly days: number;
  readonly projects: number;
  /** The instant up to which there are events. */
  readonly end: Micros;
}

/** The planted incident: so long before the end of a sample, a deploy of this function makes it slow and fail. */
export const INCIDENT = { name: 'send-receipt', seconds: 40 * 60, failing: 0.6, medianMs: 4_000 };

/** A request to a project. Each source has those of some areas: the gateway all, a server its own. */
type SampleRequest = ReturnType<typeof sampleRequests> extends Generator<infer Request> ? Request : never;

type Route = readonly [area: string, method: string, path: string, status: number, medianMs: number];

/** Areas: functions, reads and writes of tables, auth, storage and a websocket. `{}` stands for a UUID. */
const ROUTES: readonly Route[] = [
  ['f', 'POST', '/functions/v1/stripe-webhook', 200, 85],
  ['f', 'GET', '/functions/v1/search', 200, 42],
  ['f', 'POST', '/functions/v1/resize-image', 201, 240],
  ['f', 'POST', `/functions/v1/${INCIDENT.name}`, 200, 130],
  ['r', 'GET', '/rest/v1/orders', 206, 24],
  ['r', 'GET', '/rest/v1/products', 200, 22],
  ['w', 'POST', '/rest/v1/order_items', 201, 28],
  ['w', 'PATCH', '/rest/v1/profiles', 204, 26],
  ['a', 'POST', '/auth/v1/token', 200, 48],
  ['a', 'GET', '/auth/v1/user', 200, 12],
  ['s', 'GET', '/storage/v1/object/public/avatars/{}.webp', 200, 65],
  ['s', 'POST', '/storage/v1/object/uploads/{}.webp', 200, 210],
  ['t', 'GET', '/realtime/v1/websocket', 101, 9],
];
const ROUTES_OF = Map.groupBy(ROUTES, ([area]) => area);
/** The areas of each twenty requests. */
export const AREAS = [...'frasrfwrasfrtrfsrafw'];

// None is part of another or of a path: usage.api-counts finds a project inside the URL.
const PROJECTS = 'aurora basalt cobalt dahlia ember fjord glacier harbor indigo juniper kestrel lagoon'.split(
  ' ',
);
const REJECTED = [400, 401, 403, 404, 429];
const FAILED = [500, 502, 503, 504];

// An address reserved for documentation (RFC 5737), and a network (RFC 5398): no sample contains a real one.
const VISITORS = Array.from({ length: 240 }, (_, i) => ({
  address: `192.0.2.${i + 1}`,
  userAgent: `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 Chrome/${130 + (i % 12)}.0.0.0`,
  clientInfo: `supabase-js-web/2.${50 + (i % 25)}.0`,
  country: ['DE', 'US', 'BR', 'JP'][i % 4],
  colo: ['FRA', 'IAD', 'GRU', 'NRT'][i % 4],
  asn: 64_496 + (i % 16),
}));

/** Generates requests in order of time. Lazy: memory does not grow with their number. */
export function* sampleRequests(count: number, { seed, days, projects, end }: Omit<SampleOptions, 'rows'>) {
  // `end` is part of the seed, so that a second sample differs.
  const random = createRandom(`${seed}/requests/${end}`);
  const deployMicros = end - INCIDENT.seconds * MICROS_PER_SECOND;
  const pickProject = createWeighted(
    // Zipf's law: the second has half the traffic of the first.
    Array.from({ length: projects }, (_, i) => [1 / (i + 1), PROJECTS[i] ?? `site-${i}`] as const),
  );
  let i = 0;
  for (const at of spreadInstants(count, { days, end, random })) {
    const area = AREAS[i++ % AREAS.length] ?? '';
    const [, method, path, usual, medianMs] = random.pick(ROUTES_OF.get(area) ?? []);
    const project = pickProject(random);
    // It calls the function of the incident after its deploy.
    const isBroken = path.endsWith(INCIDENT.name) && at >= deployMicros;
    const version = isBroken ? '8' : '7';
    const function_id = `${path.slice(path.lastIndexOf('/') + 1)}-${project}`;
    yield {
      ...{ area, at, project, method, isBroken, host: `${project}.example.com` },
      /** Metadata of a function that it calls. */
      called: { function_id, deployment_id: `${function_id}_${version}`, project_ref: project, version },
      /** `2026-11-20T07:00:00.123Z` */
      time: new Date(at / 1000).toISOString(),
      path: path.replace('{}', random.uuid),
      status: pickStatus(random, usual, isBroken),
      ms: Math.round(random.logNormal(isBroken ? INCIDENT.medianMs : medianMs, 0.6) * 1_000) / 1_000,
      visitor: random.pick(VISITORS),
    };
  }
}

function pickStatus(random: Random, usual: number, isBroken: boolean): number {
  if (isBroken && random.chance(INCIDENT.failing)) return 500;
  const luck = random.next();
  if (luck < 0.002) return random.pick(FAILED);
  return luck < 0.025 ? random.pick(REJECTED) : usual;
}

const SLOT_MICROS = 300 * MICROS_PER_SECOND;
const SLOTS_OF_DAY = 288;
// The last hour, and how many times the traffic of noon it has: short ranges show something at any time of day.
const RUSH = { slots: 12, level: 4 };

/** Instants in order: many by day, few by night. The last is within five minutes of `end`. */
function* spreadInstants(
  count: number,
  { days, end, random }: { readonly days: number; readonly end: Micros; readonly random: Random },
): Generator<Micros> {
  const slots = days * SLOTS_OF_DAY;
  const startOf = (slot: number) => end - (slots - slot) * SLOT_MICROS;
  const weights = Float64Array.from({ length: slots }, (_, slot) => {
    const day = startOf(slot) / (SLOTS_OF_DAY * SLOT_MICROS);
    return slot >= slots - RUSH.slots ? RUSH.level : 0.6 - 0.4 * Math.cos(2 * Math.PI * (day - 1 / 12));
  });
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let [passed, placed] = [0, 0];
  for (const [slot, weight] of weights.entries()) {
    passed += weight; // summed as `total` is, so the last share is exactly 1
    const inSlot = Math.floor((passed / total) * count) - placed;
    // Rounded up: the beginning may be the instant at which retention ends.
    for (let i = 1; i <= inSlot; i++)
      yield startOf(slot) + Math.ceil(((i - random.next()) / inSlot) * SLOT_MICROS);
    placed += inSlot;
  }
}

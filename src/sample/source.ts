import type { Random } from '../lib/random.ts';
import type { SampleRequest } from './request.ts';

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

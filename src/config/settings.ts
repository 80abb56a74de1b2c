// Longer than other files: one table, a row a setting, which is read and changed as a whole.
import { parseCluster, parseServerUrl } from './clickhouse.ts';
import { parseControlUrl } from './control-url.ts';
import { BY_MACHINE, type Machine } from './machine.ts';
import { parseOrigins, parseProxies } from './network.ts';
import { parseRedisUrl } from './replicas.ts';

/** One environment variable: how it is written, what it means, what it is without it. */
export interface Setting<T> {
  readonly env: string;
  /** Other variables that mean the same; `env` wins where both are set. */
  readonly aliases: readonly string[];
  readonly help: string;
  readonly unit: string;
  /** A function: what it is depends on the machine (machine.ts). */
  readonly fallback: T | ((machine: Machine) => T);
  /** How such a function is said in docs/settings.md. */
  readonly fallbackText?: string;
  /** Never shown: a key. */
  readonly secret: boolean;
  /** @throws Error whose message says what would be right */
  readonly parse: (text: string) => T;
}

const MIB = 1024 * 1024;
// Messages name the same example on every machine.
const EXAMPLE: Machine = { cores: 2, memoryBytes: 8192 * MIB };

/** Every setting. docs/settings.md is made from this table (`npm run docs`), and the tests hold them equal. */
export const SETTINGS = {
  host: text(
    'TAILRACE_HOST',
    '127.0.0.1',
    'Address to listen on. `0.0.0.0` opens the service to the network.',
  ),
  port: integer('TAILRACE_PORT', 4000, [0, 65_535], 'port', 'Port to listen on; 0 takes a free one.'),
  dataDir: text(
    'TAILRACE_DATA_DIR',
    './data',
    'Folder of the store and the keys; owned by one process at a time.',
  ),
  endpointsDir: checked(
    'TAILRACE_ENDPOINTS_DIR',
    'Folder of the endpoint definitions. Empty: `./endpoints`, or, where there is no such folder, the endpoints that ship with Tailrace.',
    parseText,
  ),
  sourcesDir: checked(
    'TAILRACE_SOURCES_DIR',
    'Folder of the source definitions. Empty: `./sources`, or, where there is no such folder, the sources that ship with Tailrace.',
    parseText,
  ),
  privateKey: secret('TAILRACE_PRIVATE_KEY', ['LOGFLARE_PRIVATE_ACCESS_TOKEN'], 'A key with every scope.'),
  publicKey: secret(
    'TAILRACE_PUBLIC_KEY',
    ['LOGFLARE_PUBLIC_ACCESS_TOKEN'],
    'A key that may only send events.',
  ),
  tokenSecret: secret(
    'TAILRACE_TOKEN_SECRET',
    [],
    'Signs the short-lived tokens; the same for all who shall take them. Empty: one is made for the data directory.',
    32,
  ),
  controlUrl: hidden(
    'TAILRACE_CONTROL_URL',
    'Address of a PostgreSQL database for keys, their audit trail and Idempotency-Keys, shared by all processes that name it, such as `postgresql://user:password@postgres.example.com:5432/tailrace?sslmode=verify-full`. Empty: SQLite in the data directory.',
    parseControlUrl,
  ),
  controlStaleSeconds: integer(
    'TAILRACE_CONTROL_STALE_SECONDS',
    60,
    [0, 86_400],
    'seconds',
    'How long keys that were seen are still accepted while that database is away; a revocation cannot be heard of meanwhile. 0: not at all.',
  ),
  clickhouseUrl: hidden(
    'CLICKHOUSE_URL',
    'Address of a ClickHouse server, such as `https://user:password@clickhouse.example.com:8443/tailrace`. Empty: the embedded engine.',
    parseServerUrl,
  ),
  clickhouseUser: text(
    'CLICKHOUSE_USER',
    '',
    'The user that makes the tables and stores events, where the URL names none.',
  ),
  clickhousePassword: hidden('CLICKHOUSE_PASSWORD', 'Its password, where the URL has none.'),
  clickhouseReadUser: text(
    'CLICKHOUSE_READ_USER',
    '',
    'The user that runs queries, who needs to read only. Empty: the same user as for everything else.',
  ),
  clickhouseReadPassword: hidden('CLICKHOUSE_READ_PASSWORD', 'The password of `CLICKHOUSE_READ_USER`.'),
  clickhouseSandboxUser: text(
    'CLICKHOUSE_SANDBOX_USER',
    '',
    'The user that runs SELECTs which callers write themselves (query sandboxing). It gets connections of its own, for half of `TAILRACE_READERS` queries at once, at least one. Empty: the user that runs the other queries.',
  ),
  clickhouseSandboxPassword: hidden(
    'CLICKHOUSE_SANDBOX_PASSWORD',
    'The password of `CLICKHOUSE_SANDBOX_USER`.',
  ),
  clickhouseCaFile: text(
    'CLICKHOUSE_CA_FILE',
    '',
    'File of the authority that signed the ClickHouse server’s certificate, PEM. Empty: those that Node knows.',
  ),
  clickhouseCertFile: text(
    'CLICKHOUSE_CERT_FILE',
    '',
    'File of a certificate of our own for the ClickHouse server, PEM.',
  ),
  clickhouseKeyFile: text('CLICKHOUSE_KEY_FILE', '', 'File of that certificate’s private key, PEM.'),
  cluster: checked(
    'TAILRACE_CLUSTER',
    'Name of a cluster in the ClickHouse servers’ configuration, over which the tables are spread by project. Empty: one server.',
    parseCluster,
  ),
  redisUrl: hidden(
    'TAILRACE_REDIS_URL',
    'Address of a Redis or Valkey, such as `rediss://user:password@redis.example.com:6379/0`, through which replicas share answers and rates. Empty: each has its own.',
    parseRedisUrl,
  ),
  defaultProject: text(
    'TAILRACE_DEFAULT_PROJECT',
    '',
    'Project of events that name none, and whose request names none in X-Project. Empty: they belong to no project.',
  ),
  otlpSource: text(
    'TAILRACE_OTLP_SOURCE',
    '',
    'Source of OTLP records whose request names none in X-Source.',
  ),
  recordRequestsAs: text(
    'TAILRACE_RECORD_REQUESTS_AS',
    '',
    'Project under which the requests that Tailrace serves are stored as edge events. Empty: they are not.',
  ),
  tlsCertFile: text(
    'TAILRACE_TLS_CERT_FILE',
    '',
    'File of the certificate and those above it, PEM. With it the service speaks HTTPS; read again when it changes.',
  ),
  tlsKeyFile: text('TAILRACE_TLS_KEY_FILE', '', 'File of the certificate’s private key, PEM, not encrypted.'),
  corsOrigins: checked(
    'TAILRACE_CORS_ORIGINS',
    'Origins whose pages may read answers in a browser, joined by commas, such as `https://app.example.com`; `*` for all. Empty: none.',
    parseOrigins,
  ),
  trustProxy: checked(
    'TAILRACE_TRUST_PROXY',
    'Proxies whose X-Forwarded headers are believed: their addresses or networks, such as `10.0.0.0/8`, joined by commas. Empty: nobody’s.',
    parseProxies,
  ),
  logLevel: choice(
    'TAILRACE_LOG_LEVEL',
    'info',
    ['trace', 'debug', 'info', 'warn', 'error', 'silent'],
    'Least level logged.',
  ),

  readers: integer(
    'TAILRACE_READERS',
    { of: BY_MACHINE.readers, text: 'one for each core, at least 2, at most 16' },
    [1, 256],
    'queries',
    'Queries that run at once; of one key at most one less, where there are several. More than the cores of the engine’s machine only adds waiting. The embedded engine takes 16 at most.',
  ),
  queryQueueMax: integer(
    'TAILRACE_QUERY_QUEUE_MAX',
    1000,
    [1, 100_000],
    'queries',
    'Queries that may wait for a reader; one more is answered 503 at once.',
  ),
  queryQueuePerKeyMax: integer(
    'TAILRACE_QUERY_QUEUE_PER_KEY_MAX',
    100,
    [1, 100_000],
    'queries',
    'Queries of one key and its tokens that may wait for a reader; one more is answered 503 at once.',
  ),
  queryQueuePerTokenMax: integer(
    'TAILRACE_QUERY_QUEUE_PER_TOKEN_MAX',
    20,
    [1, 100_000],
    'queries',
    'Queries of one signed token that may wait for a reader; one more is answered 503 at once.',
  ),
  queryQueueTimeoutMs: integer(
    'TAILRACE_QUERY_QUEUE_TIMEOUT_MS',
    5_000,
    [10, 3_600_000],
    'ms',
    'Longest a query may wait for a reader; then it is answered 503.',
  ),
  ratePerSecond: integer(
    'TAILRACE_RATE_PER_SECOND',
    0,
    [0, 1_000_000],
    'requests',
    'Requests a second of a key that has no rate of its own, over time; more are answered 429. 0: no limit.',
  ),
  rateBurst: integer(
    'TAILRACE_RATE_BURST',
    0,
    [0, 1_000_000],
    'requests',
    'Requests that such a key may send at once after a pause. 0: as many as TAILRACE_RATE_PER_SECOND.',
  ),
  authFailuresPerMinuteMax: integer(
    'TAILRACE_AUTH_FAILURES_PER_MINUTE_MAX',
    600,
    [0, 1_000_000],
    'requests',
    'Requests with a missing or wrong key from one address; more are answered 429. 0: no limit.',
  ),
  queryTimeoutMs: integer(
    'TAILRACE_QUERY_TIMEOUT_MS',
    30_000,
    [100, 3_600_000],
    'ms',
    'Longest a query may take, its wait included; then it is stopped and answered 504.',
  ),
  queryMemoryBytesMax: integer(
    'TAILRACE_QUERY_MEMORY_BYTES_MAX',
    {
      of: BY_MACHINE.queryMemoryBytesMax,
      text: 'a quarter of the default of `TAILRACE_ENGINE_MEMORY_BYTES_MAX`',
    },
    [16 * MIB, Number.MAX_SAFE_INTEGER],
    'bytes',
    'Most memory one query may take; then it is stopped and answered 422.',
  ),
  engineMemoryBytesMax: integer(
    'TAILRACE_ENGINE_MEMORY_BYTES_MAX',
    {
      of: BY_MACHINE.engineMemoryBytesMax,
      text: 'half of the memory, at least 512 MiB, at most 2 GiB for each core',
    },
    [256 * MIB, Number.MAX_SAFE_INTEGER],
    'bytes',
    'Most memory the engine may take in all; queries over it are answered 503.',
  ),
  resultBytesMax: integer(
    'TAILRACE_RESULT_BYTES_MAX',
    64 * MIB,
    [1024, 1024 * MIB],
    'bytes',
    'Largest answer; a larger one is answered 422 instead of cut.',
  ),
  cacheBytesMax: integer(
    'TAILRACE_CACHE_BYTES_MAX',
    {
      of: BY_MACHINE.cacheBytesMax,
      text: 'a sixteenth of the memory, at least 16 MiB, at most 32 MiB for each core',
    },
    [1, Number.MAX_SAFE_INTEGER],
    'bytes',
    'Size of the cache; beyond it the answers least recently used leave.',
  ),
  staleIfErrorSeconds: integer(
    'TAILRACE_STALE_IF_ERROR_SECONDS',
    0,
    [0, 7 * 86_400],
    'seconds',
    'How much longer than its caching an answer is served, marked as such, while the engine is away or overloaded; 0: no longer.',
  ),
  warmKeysMax: integer(
    'TAILRACE_WARM_KEYS_MAX',
    1000,
    [0, 1_000_000],
    'answers',
    'Cached answers kept warm, those asked for last first; 0 turns warming off.',
  ),
  warmConcurrencyMax: integer(
    'TAILRACE_WARM_CONCURRENCY_MAX',
    1,
    [1, 16],
    'queries',
    'Refreshes that run at once, so that callers always find a reader free.',
  ),
  connectionsMax: integer(
    'TAILRACE_CONNECTIONS_MAX',
    4_096,
    [1, 1_000_000],
    'connections',
    'Connections open at once. One more closes the one that has been idle for longest without ever sending a valid key, or, where there is none, is closed itself. The process needs as many open files.',
  ),
  connectionsPerAddressMax: integer(
    'TAILRACE_CONNECTIONS_PER_ADDRESS_MAX',
    1_024,
    [0, 1_000_000],
    'connections',
    'Connections open at once from one address, of IPv6 from one /64; one more is closed at once. 0: no limit; nor is there one for TAILRACE_TRUST_PROXY.',
  ),
  urlBytesMax: integer(
    'TAILRACE_URL_BYTES_MAX',
    262_144,
    [65_536, 1024 * 1024],
    'bytes',
    'Longest URL; a longer one is answered 414.',
  ),
  parameterBytesMax: integer(
    'TAILRACE_PARAMETER_BYTES_MAX',
    65_536,
    [64, 1024 * 1024],
    'bytes',
    'Longest value of one query parameter; a longer one is answered 400.',
  ),
  sandboxSqlBytesMax: integer(
    'TAILRACE_SANDBOX_SQL_BYTES_MAX',
    16_384,
    [64, 262_144],
    'bytes',
    'Longest SELECT that a caller may send to an endpoint with query sandboxing; a longer one is answered 400.',
  ),
  bodyBytesMax: integer(
    'TAILRACE_BODY_BYTES_MAX',
    16 * MIB,
    [1024, 1024 * MIB],
    'bytes',
    'Largest body of a request; a larger one is answered 413.',
  ),
  decodedBytesMax: integer(
    'TAILRACE_DECODED_BYTES_MAX',
    64 * MIB,
    [1024, 1024 * MIB],
    'bytes',
    'Largest body after decompression; a larger one is answered 413.',
  ),
  ratioMax: integer(
    'TAILRACE_RATIO_MAX',
    200,
    [2, 100_000],
    'times',
    'Most that a body may grow by decompression, beyond its first MiB; more is answered 413.',
  ),
  ingestQueueBytesMax: integer(
    'TAILRACE_INGEST_QUEUE_BYTES_MAX',
    128 * MIB,
    [1024, Number.MAX_SAFE_INTEGER],
    'bytes',
    'Events that may wait to be read, and as many to be stored; requests beyond it are answered 503 at once.',
  ),
  ingestWaitMs: integer(
    'TAILRACE_INGEST_WAIT_MS',
    5,
    [0, 10_000],
    'ms',
    'How long events wait for others, so that they are stored together.',
  ),
  idempotencyWindowMs: integer(
    'TAILRACE_IDEMPOTENCY_WINDOW_MS',
    86_400_000,
    [1_000, 30 * 86_400_000],
    'ms',
    'How long an Idempotency-Key is remembered.',
  ),
  storeBytesMax: integer(
    'TAILRACE_STORE_BYTES_MAX',
    0,
    [0, Number.MAX_SAFE_INTEGER],
    'bytes',
    'Most disk the events may take; beyond it whole days leave, oldest first. 0: no bound.',
  ),
  clockJumpHoursMax: integer(
    'TAILRACE_CLOCK_JUMP_HOURS_MAX',
    24,
    [1, 87_600],
    'hours',
    'How far the clock may be ahead of the last time that the store was open; beyond it nothing is deleted for its age until an operator confirms.',
  ),
  retentionDropPercentMax: integer(
    'TAILRACE_RETENTION_DROP_PERCENT_MAX',
    25,
    [1, 100],
    'percent',
    'Most of a source that retention deletes at once; more waits until an operator confirms. 100: no bound.',
  ),
  eventBytesMax: integer(
    'TAILRACE_EVENT_BYTES_MAX',
    MIB,
    [1024, 64 * MIB],
    'bytes',
    'Largest event; a larger one is refused with the reason.',
  ),
  requestTimeoutMs: integer(
    'TAILRACE_REQUEST_TIMEOUT_MS',
    10_000,
    [100, 600_000],
    'ms',
    'Longest a client may take to send a request; then its connection is closed.',
  ),
  keepAliveTimeoutMs: integer(
    'TAILRACE_KEEP_ALIVE_TIMEOUT_MS',
    72_000,
    [100, 3_600_000],
    'ms',
    'How long an idle connection stays open; longer than that of a proxy in front.',
  ),
  shutdownTimeoutMs: integer(
    'TAILRACE_SHUTDOWN_TIMEOUT_MS',
    10_000,
    [0, 600_000],
    'ms',
    'How long running requests may still take after SIGTERM; then they are stopped.',
  ),
} as const satisfies Record<string, Setting<string> | Setting<number>>;

function text(env: string, fallback: string, help: string): Setting<string> {
  return {
    env,
    aliases: [],
    help,
    unit: '',
    fallback,
    secret: false,
    parse: fallback === '' ? (value) => value : parseText,
  };
}

function secret(env: string, aliases: readonly string[], help: string, charsMin = 16): Setting<string> {
  const parse = (value: string) => {
    if (value !== '' && value.length < charsMin)
      throw new Error(`must be at least ${charsMin} characters long`);
    // What a header can carry unchanged; with anything else no caller would ever be let in.
    if (!/^[\x21-\x7e]*$/.test(value))
      throw new Error('must be of ASCII letters, digits and signs, without spaces');
    return value;
  };
  return { env, aliases, help, unit: '', fallback: '', secret: true, parse };
}

function choice<const C extends string>(
  env: string,
  fallback: C,
  allowed: readonly C[],
  help: string,
): Setting<C> {
  const parse = (value: string) => {
    const found = allowed.find((one) => one === value);
    if (found === undefined) throw new Error(`must be one of ${allowed.join(', ')}`);
    return found;
  };
  return {
    env,
    aliases: [],
    help: `${help} One of ${allowed.join(', ')}.`,
    unit: '',
    fallback,
    secret: false,
    parse,
  };
}

/** A default that follows the machine, and how docs/settings.md says it. */
interface ByMachine {
  readonly of: (machine: Machine) => number;
  readonly text: string;
}

function integer(
  env: string,
  fallback: number | ByMachine,
  [min, max]: [number, number],
  unit: string,
  help: string,
): Setting<number> {
  const parse = (value: string) => {
    const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
    if (number >= min && number <= max) return number;
    const example = typeof fallback === 'number' ? fallback : fallback.of(EXAMPLE);
    throw new Error(`must be a whole number of ${unit} from ${min} to ${max}, such as ${example}`);
  };
  const common = { env, aliases: [], help, unit, secret: false, parse };
  if (typeof fallback === 'number') return { ...common, fallback };
  return { ...common, fallback: fallback.of, fallbackText: fallback.text };
}

/** A value that is never shown, since it is a password or holds one; somebody else decides what it looks like. */
function hidden(env: string, help: string, parse = (value: string) => value): Setting<string> {
  return { env, aliases: [], help, unit: '', fallback: '', secret: true, parse };
}

function checked(env: string, help: string, parse: (value: string) => string): Setting<string> {
  return { env, aliases: [], help, unit: '', fallback: '', secret: false, parse };
}

function parseText(value: string): string {
  if (value.trim() === '') throw new Error('must not be empty');
  return value;
}

// Longer than other files: one table with an entry per setting.
import {
  parseCluster,
  parseControlUrl,
  parseOrigins,
  parseProxies,
  parseRedisUrl,
  parseServerUrl,
} from './url.ts';

/** One environment variable. */
export interface Setting<T> {
  readonly env: string;
  /** Other names of the variable; `env` takes precedence. */
  readonly aliases: readonly string[];
  readonly help: string;
  readonly unit: string;
  readonly fallback: T;
  /** Never shown: a key or a password. */
  readonly secret: boolean;
  /** @throws Error saying what would be right */
  readonly parse: (text: string) => T;
}

const MIB = 1024 * 1024;

/** Every setting. `npm run docs` generates docs/settings.md from this table. */
export const SETTINGS = {
  host: {
    ...text('TAILRACE_HOST', '127.0.0.1'),
    help: 'Address to listen on. `0.0.0.0` opens the service to the network.',
  },
  port: {
    ...integer('TAILRACE_PORT', 4000, [0, 65_535], 'port'),
    help: 'Port to listen on; 0 takes a free one.',
  },
  dataDir: {
    ...text('TAILRACE_DATA_DIR', './data'),
    help: 'Folder of the store and the keys; owned by one process at a time.',
  },
  endpointsDir: {
    ...checked('TAILRACE_ENDPOINTS_DIR', parseText),
    help: 'Folder of the endpoint definitions. Empty: `./endpoints`; if there is no such folder, the endpoints that ship with Tailrace.',
  },
  sourcesDir: {
    ...checked('TAILRACE_SOURCES_DIR', parseText),
    help: 'Folder of the source definitions. Empty: `./sources`; if there is no such folder, the sources that ship with Tailrace.',
  },
  privateKey: {
    ...secret('TAILRACE_PRIVATE_KEY', ['LOGFLARE_PRIVATE_ACCESS_TOKEN']),
    help: 'A key with every scope.',
  },
  publicKey: {
    ...secret('TAILRACE_PUBLIC_KEY', ['LOGFLARE_PUBLIC_ACCESS_TOKEN']),
    help: 'A key that may only send events.',
  },
  tokenSecret: {
    ...secret('TAILRACE_TOKEN_SECRET', [], 32),
    help: 'Signs the short-lived tokens; the same for all processes that accept them. Empty: one is created for the data directory.',
  },
  controlUrl: {
    ...hidden('TAILRACE_CONTROL_URL', parseControlUrl),
    help: 'Address of a PostgreSQL database for keys, their audit trail and Idempotency-Keys, shared by all processes that name it, such as `postgresql://user:password@postgres.example.com:5432/tailrace?sslmode=verify-full`. Empty: SQLite in the data directory.',
  },
  controlStaleSeconds: {
    ...integer('TAILRACE_CONTROL_STALE_SECONDS', 60, [0, 86_400], 'seconds'),
    help: 'How long cached keys are accepted while that database is unavailable; revocations take effect when it is back. 0: not at all.',
  },
  clickhouseUrl: {
    ...hidden('CLICKHOUSE_URL', parseServerUrl),
    help: 'Address of a ClickHouse server, such as `https://user:password@clickhouse.example.com:8443/tailrace`. Empty: the embedded engine.',
  },
  clickhouseUser: {
    ...text('CLICKHOUSE_USER', ''),
    help: 'The user that creates the tables and stores events, if the URL names none.',
  },
  clickhousePassword: { ...hidden('CLICKHOUSE_PASSWORD'), help: 'Its password, if the URL has none.' },
  clickhouseReadUser: {
    ...text('CLICKHOUSE_READ_USER', ''),
    help: 'The user that runs queries and only needs to read. Empty: the same user as for everything else.',
  },
  clickhouseReadPassword: {
    ...hidden('CLICKHOUSE_READ_PASSWORD'),
    help: 'The password of `CLICKHOUSE_READ_USER`.',
  },
  clickhouseSandboxUser: {
    ...text('CLICKHOUSE_SANDBOX_USER', ''),
    help: 'The user that runs SELECTs which callers write themselves (query sandboxing). It gets connections of its own, for half of `TAILRACE_READERS` queries at once, at least one. Empty: the user that runs the other queries.',
  },
  clickhouseSandboxPassword: {
    ...hidden('CLICKHOUSE_SANDBOX_PASSWORD'),
    help: 'The password of `CLICKHOUSE_SANDBOX_USER`.',
  },
  clickhouseCaFile: {
    ...text('CLICKHOUSE_CA_FILE', ''),
    help: 'File of the authority that signed the ClickHouse server’s certificate, PEM. Empty: those that Node knows.',
  },
  clickhouseCertFile: {
    ...text('CLICKHOUSE_CERT_FILE', ''),
    help: 'File of the client certificate for the ClickHouse server, PEM.',
  },
  clickhouseKeyFile: {
    ...text('CLICKHOUSE_KEY_FILE', ''),
    help: 'File of that certificate’s private key, PEM.',
  },
  cluster: {
    ...checked('TAILRACE_CLUSTER', parseCluster),
    help: 'Name of a cluster in the ClickHouse servers’ configuration, over which the tables are sharded by project. Empty: one server.',
  },
  redisUrl: {
    ...hidden('TAILRACE_REDIS_URL', parseRedisUrl),
    help: 'Address of a Redis or Valkey, such as `rediss://user:password@redis.example.com:6379/0`, through which replicas share answers and rates. Empty: each has its own.',
  },
  defaultProject: {
    ...text('TAILRACE_DEFAULT_PROJECT', ''),
    help: 'Project of events if neither they nor X-Project of their request name one. Empty: they belong to no project.',
  },
  otlpSource: {
    ...text('TAILRACE_OTLP_SOURCE', ''),
    help: 'Source of OTLP records if X-Source of their request names none.',
  },
  recordRequestsAs: {
    ...text('TAILRACE_RECORD_REQUESTS_AS', ''),
    help: 'Project under which requests to Tailrace are stored as edge events. Empty: they are not stored.',
  },
  tlsCertFile: {
    ...text('TAILRACE_TLS_CERT_FILE', ''),
    help: 'File of the certificate and its chain, PEM. If set, the service speaks HTTPS; the file is read again when it changes.',
  },
  tlsKeyFile: {
    ...text('TAILRACE_TLS_KEY_FILE', ''),
    help: 'File of the certificate’s private key, PEM, not encrypted.',
  },
  corsOrigins: {
    ...checked('TAILRACE_CORS_ORIGINS', parseOrigins),
    help: 'Origins whose pages may read answers in a browser, joined by commas, such as `https://app.example.com`; `*` for all. Empty: none.',
  },
  trustProxy: {
    ...checked('TAILRACE_TRUST_PROXY', parseProxies),
    help: 'Trusted proxies, from which X-Forwarded headers are accepted: their addresses or networks, such as `10.0.0.0/8`, joined by commas. Empty: none.',
  },
  logLevel: {
    ...choice('TAILRACE_LOG_LEVEL', 'info', ['trace', 'debug', 'info', 'warn', 'error', 'silent']),
    help: 'Lowest level that is logged. One of trace, debug, info, warn, error, silent.',
  },

  readers: {
    ...integer('TAILRACE_READERS', 2, [1, 256], 'queries'),
    help: 'Queries that run at once; one key uses at most all but one. More than the cores of the engine’s machine only slows all of them down. At most 16 on the embedded engine.',
  },
  queryQueueMax: {
    ...integer('TAILRACE_QUERY_QUEUE_MAX', 1000, [1, 100_000], 'queries'),
    help: 'Queries that may wait for a reader; one more is answered 503 at once.',
  },
  queryQueuePerKeyMax: {
    ...integer('TAILRACE_QUERY_QUEUE_PER_KEY_MAX', 100, [1, 100_000], 'queries'),
    help: 'Queries of one key and its tokens that may wait for a reader; one more is answered 503 at once.',
  },
  queryQueuePerTokenMax: {
    ...integer('TAILRACE_QUERY_QUEUE_PER_TOKEN_MAX', 20, [1, 100_000], 'queries'),
    help: 'Queries of one signed token that may wait for a reader; one more is answered 503 at once.',
  },
  queryQueueTimeoutMs: {
    ...integer('TAILRACE_QUERY_QUEUE_TIMEOUT_MS', 5_000, [10, 3_600_000], 'ms'),
    help: 'Longest a query may wait for a reader; then it is answered 503.',
  },
  ratePerSecond: {
    ...integer('TAILRACE_RATE_PER_SECOND', 0, [0, 1_000_000], 'requests'),
    help: 'Requests a second of a key that has no rate of its own, over time; more are answered 429. 0: no limit.',
  },
  rateBurst: {
    ...integer('TAILRACE_RATE_BURST', 0, [0, 1_000_000], 'requests'),
    help: 'Requests that such a key may send at once after a pause. 0: as many as TAILRACE_RATE_PER_SECOND.',
  },
  authFailuresPerMinuteMax: {
    ...integer('TAILRACE_AUTH_FAILURES_PER_MINUTE_MAX', 600, [0, 1_000_000], 'requests'),
    help: 'Requests with a missing or wrong key from one address; more are answered 429. 0: no limit.',
  },
  queryTimeoutMs: {
    ...integer('TAILRACE_QUERY_TIMEOUT_MS', 30_000, [100, 3_600_000], 'ms'),
    help: 'Longest a query may take, its wait included; then it is stopped and answered 504.',
  },
  queryMemoryBytesMax: {
    ...integer('TAILRACE_QUERY_MEMORY_BYTES_MAX', 1024 * MIB, [16 * MIB, Number.MAX_SAFE_INTEGER], 'bytes'),
    help: 'Most memory one query may take; then it is stopped and answered 422.',
  },
  engineMemoryBytesMax: {
    ...integer('TAILRACE_ENGINE_MEMORY_BYTES_MAX', 4096 * MIB, [256 * MIB, Number.MAX_SAFE_INTEGER], 'bytes'),
    help: 'Most memory the engine may take in all; queries over it are answered 503.',
  },
  resultBytesMax: {
    ...integer('TAILRACE_RESULT_BYTES_MAX', 64 * MIB, [1024, 1024 * MIB], 'bytes'),
    help: 'Largest answer; a larger one is answered 422 instead of cut.',
  },
  cacheBytesMax: {
    ...integer('TAILRACE_CACHE_BYTES_MAX', 64 * MIB, [1, Number.MAX_SAFE_INTEGER], 'bytes'),
    help: 'Size of the cache; beyond it the least recently used answers are evicted.',
  },
  staleIfErrorSeconds: {
    ...integer('TAILRACE_STALE_IF_ERROR_SECONDS', 0, [0, 7 * 86_400], 'seconds'),
    help: 'How much longer than its caching an answer is served, marked as stale, while the engine is unavailable or overloaded; 0: no longer.',
  },
  warmKeysMax: {
    ...integer('TAILRACE_WARM_KEYS_MAX', 1000, [0, 1_000_000], 'answers'),
    help: 'Cached answers kept warm, most recently requested first; 0 turns warming off.',
  },
  warmConcurrencyMax: {
    ...integer('TAILRACE_WARM_CONCURRENCY_MAX', 1, [1, 16], 'queries'),
    help: 'Refreshes that run at once; the other readers stay free for callers.',
  },
  connectionsMax: {
    ...integer('TAILRACE_CONNECTIONS_MAX', 4_096, [1, 1_000_000], 'connections'),
    help: 'Connections open at once. One more closes the connection that has been idle longest without ever sending a valid key; if there is none, the new one is closed. The process needs as many open files.',
  },
  connectionsPerAddressMax: {
    ...integer('TAILRACE_CONNECTIONS_PER_ADDRESS_MAX', 1_024, [0, 1_000_000], 'connections'),
    help: 'Connections open at once from one address, of IPv6 from one /64; one more is closed at once. 0: no limit. Addresses of TAILRACE_TRUST_PROXY have no limit.',
  },
  urlBytesMax: {
    ...integer('TAILRACE_URL_BYTES_MAX', 262_144, [65_536, 1024 * 1024], 'bytes'),
    help: 'Longest URL; a longer one is answered 414.',
  },
  parameterBytesMax: {
    ...integer('TAILRACE_PARAMETER_BYTES_MAX', 65_536, [64, 1024 * 1024], 'bytes'),
    help: 'Longest value of one query parameter; a longer one is answered 400.',
  },
  sandboxSqlBytesMax: {
    ...integer('TAILRACE_SANDBOX_SQL_BYTES_MAX', 16_384, [64, 262_144], 'bytes'),
    help: 'Longest SELECT that a caller may send to an endpoint with query sandboxing; a longer one is answered 400.',
  },
  bodyBytesMax: {
    ...integer('TAILRACE_BODY_BYTES_MAX', 16 * MIB, [1024, 1024 * MIB], 'bytes'),
    help: 'Largest body of a request; a larger one is answered 413.',
  },
  decodedBytesMax: {
    ...integer('TAILRACE_DECODED_BYTES_MAX', 64 * MIB, [1024, 1024 * MIB], 'bytes'),
    help: 'Largest body after decompression; a larger one is answered 413.',
  },
  ratioMax: {
    ...integer('TAILRACE_RATIO_MAX', 200, [2, 100_000], 'times'),
    help: 'Most that a body may grow by decompression, beyond its first MiB; more is answered 413.',
  },
  ingestQueueBytesMax: {
    ...integer('TAILRACE_INGEST_QUEUE_BYTES_MAX', 128 * MIB, [1024, Number.MAX_SAFE_INTEGER], 'bytes'),
    help: 'Events that may wait to be decoded, and as many that may wait to be stored; requests beyond it are answered 503 at once.',
  },
  ingestWaitMs: {
    ...integer('TAILRACE_INGEST_WAIT_MS', 5, [0, 10_000], 'ms'),
    help: 'How long events wait for others to be stored in the same batch.',
  },
  idempotencyWindowMs: {
    ...integer('TAILRACE_IDEMPOTENCY_WINDOW_MS', 86_400_000, [1_000, 30 * 86_400_000], 'ms'),
    help: 'How long an Idempotency-Key is remembered.',
  },
  storeBytesMax: {
    ...integer('TAILRACE_STORE_BYTES_MAX', 0, [0, Number.MAX_SAFE_INTEGER], 'bytes'),
    help: 'Most disk space for events; beyond it whole days are deleted, oldest first. 0: no bound.',
  },
  clockJumpHoursMax: {
    ...integer('TAILRACE_CLOCK_JUMP_HOURS_MAX', 24, [1, 87_600], 'hours'),
    help: 'How far the clock may be ahead of the last time that the store was open; beyond it retention deletes nothing until an operator confirms.',
  },
  retentionDropPercentMax: {
    ...integer('TAILRACE_RETENTION_DROP_PERCENT_MAX', 25, [1, 100], 'percent'),
    help: 'Most of a source that retention deletes at once; more waits until an operator confirms. 100: no bound.',
  },
  eventBytesMax: {
    ...integer('TAILRACE_EVENT_BYTES_MAX', MIB, [1024, 64 * MIB], 'bytes'),
    help: 'Largest event; a larger one is refused.',
  },
  requestTimeoutMs: {
    ...integer('TAILRACE_REQUEST_TIMEOUT_MS', 10_000, [100, 600_000], 'ms'),
    help: 'Longest a client may take to send a request; then its connection is closed.',
  },
  keepAliveTimeoutMs: {
    ...integer('TAILRACE_KEEP_ALIVE_TIMEOUT_MS', 72_000, [100, 3_600_000], 'ms'),
    help: 'How long an idle connection stays open; set it higher than that of a proxy in front.',
  },
  shutdownTimeoutMs: {
    ...integer('TAILRACE_SHUTDOWN_TIMEOUT_MS', 10_000, [0, 600_000], 'ms'),
    help: 'How long running requests may still take after SIGTERM; then they are stopped.',
  },
} as const satisfies Record<string, Setting<string> | Setting<number>>;

type WithoutHelp<T> = Omit<Setting<T>, 'help'>;

function text(env: string, fallback: string): WithoutHelp<string> {
  return define(env, fallback, fallback === '' ? (value) => value : parseText);
}

function secret(env: string, aliases: readonly string[] = [], charsMin = 16): WithoutHelp<string> {
  const parse = (value: string) => {
    if (value !== '' && value.length < charsMin)
      throw new Error(`must be at least ${charsMin} characters long`);
    // What a header can carry unchanged: no caller could send anything else.
    if (!/^[\x21-\x7e]*$/.test(value))
      throw new Error('must be of ASCII letters, digits and signs, without spaces');
    return value;
  };
  return { ...define(env, '', parse), aliases, secret: true };
}

function choice<const C extends string>(env: string, fallback: C, allowed: readonly C[]): WithoutHelp<C> {
  return define(env, fallback, (value) => {
    const found = allowed.find((one) => one === value);
    if (found === undefined) throw new Error(`must be one of ${allowed.join(', ')}`);
    return found;
  });
}

function integer(
  env: string,
  fallback: number,
  [min, max]: [number, number],
  unit: string,
): WithoutHelp<number> {
  const parse = (value: string) => {
    const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new Error(`must be a whole number of ${unit} from ${min} to ${max}, such as ${fallback}`);
  };
  return { ...define(env, fallback, parse), unit };
}

/** A value that is never shown: it is a password or contains one. */
function hidden(env: string, parse = (value: string) => value): WithoutHelp<string> {
  return { ...define(env, '', parse), secret: true };
}

function checked(env: string, parse: (value: string) => string): WithoutHelp<string> {
  return define(env, '', parse);
}

function define<T>(env: string, fallback: T, parse: (text: string) => T): WithoutHelp<T> {
  return { env, aliases: [], unit: '', fallback, secret: false, parse };
}

function parseText(value: string): string {
  if (value.trim() === '') throw new Error('must not be empty');
  return value;
}

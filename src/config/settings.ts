import { BY_MACHINE, choice, filled, hidden, integer, type Setting, secret, text } from './setting.ts';
import {
  parseAccount,
  parseClient,
  parseControlUrl,
  parseHeaderNames,
  parseIssuer,
  parseOrigins,
  parseProxies,
  parsePublicUrl,
  parseRedisUrl,
  parseServerUrl,
} from './url.ts';

const MIB = 1024 * 1024;

/** Every setting. docs/settings.md is generated from this table (`npm run docs`), and the tests hold them equal. */
export const SETTINGS = {
  host: filled('TAILRACE_HOST', 'Address to listen on; `0.0.0.0`: all addresses.', '127.0.0.1'),
  port: integer(
    'TAILRACE_PORT',
    { fallback: 4000, min: 0, max: 65_535, unit: 'port' },
    'Port to listen on; 0: a free one.',
  ),
  dataDir: filled('TAILRACE_DATA_DIR', 'Folder of the store and the keys; one process owns it.', './data'),
  backupDir: filled(
    'TAILRACE_BACKUP_DIR',
    'Folder of backups, the only one into which a running service writes them. Empty: `backups` in the data directory.',
  ),
  endpointsDir: filled(
    'TAILRACE_ENDPOINTS_DIR',
    'Folder of endpoints. Empty: `./endpoints` if it exists, else the shipped ones.',
  ),
  sourcesDir: filled(
    'TAILRACE_SOURCES_DIR',
    'Folder of sources. Empty: `./sources` if it exists, else the shipped ones.',
  ),
  alertsDir: filled('TAILRACE_ALERTS_DIR', 'Folder of [alerts](alerts.md). Empty: `./alerts`, if it exists.'),
  receiversFile: filled(
    'TAILRACE_RECEIVERS_FILE',
    'File of [receivers](alerts.md#receivers) of alerts, with mode 600.',
  ),
  quotasFile: filled(
    'TAILRACE_QUOTAS_FILE',
    'File of daily [quotas](ingest.md#quotas) of projects and keys.',
  ),
  publicUrl: text(
    'TAILRACE_PUBLIC_URL',
    'Address of the console, such as `https://logs.example.com`, for links in alerts and [sign-in](people.md).',
    parsePublicUrl,
  ),
  dashboardsDir: filled(
    'TAILRACE_DASHBOARDS_DIR',
    'Folder of [dashboards](dashboards.md). Empty: `./dashboards` if it exists, else the shipped ' +
      'ones; none if `TAILRACE_ENDPOINTS_DIR` is another folder than `./endpoints`.',
  ),
  studio: choice(
    'TAILRACE_STUDIO',
    '0',
    ['0', '1'],
    'Serve the log pages of [Supabase Studio](supabase.md).',
  ),
  editEndpoints: choice(
    'TAILRACE_EDIT_ENDPOINTS',
    '0',
    ['0', '1', 'copy'],
    'Let the [workbench](workbench.md#saving) write endpoints, as `tailrace dev` always does. ' +
      '`copy`: the shipped ones, too, into a copy in the data directory.',
  ),
  privateKey: secret('TAILRACE_PRIVATE_KEY', ['LOGFLARE_PRIVATE_ACCESS_TOKEN'], 'A key with every scope.'),
  publicKey: secret(
    'TAILRACE_PUBLIC_KEY',
    ['LOGFLARE_PUBLIC_ACCESS_TOKEN'],
    'A key with the scope `ingest`.',
  ),
  tokenSecret: secret(
    'TAILRACE_TOKEN_SECRET',
    [],
    'Signs tokens; the same for all replicas: at least 32 characters, or the text of a ' +
      '`token.secret`. Empty: created in the data directory.',
    32,
  ),
  oidcIssuer: text(
    'TAILRACE_OIDC_ISSUER',
    'OpenID Connect provider for [people](people.md), such as `https://login.example.com/realms/main`.',
    parseIssuer,
  ),
  oidcClient: hidden(
    'TAILRACE_OIDC_CLIENT',
    'Name and secret of this service at `TAILRACE_OIDC_ISSUER`, as `name:secret`.',
    parseClient,
  ),
  rolesFile: filled(
    'TAILRACE_ROLES_FILE',
    'File of [roles](people.md#roles). Empty: nobody has access without a key.',
  ),
  trustedUserHeader: text(
    'TAILRACE_TRUSTED_USER_HEADER',
    'Header in which a trusted proxy [names the user](people.md#behind-a-proxy-that-signs-in), ' +
      'and that with the groups, joined by a comma.',
    parseHeaderNames,
  ),
  consoleKeys: choice('TAILRACE_CONSOLE_KEYS', '1', ['0', '1'], 'Let keys sign in to the console.'),
  controlUrl: hidden(
    'TAILRACE_CONTROL_URL',
    'PostgreSQL database for [keys of all replicas](scaling.md#keys-shared-by-all-replicas), ' +
      'such as `postgresql://user:password@postgres.example.com:5432/tailrace?sslmode=verify-full`. ' +
      'Empty: SQLite in the data directory.',
    parseControlUrl,
  ),
  clickhouseUrl: hidden(
    'CLICKHOUSE_URL',
    'ClickHouse server, such as `https://user:password@clickhouse.example.com:8443/tailrace`, ' +
      'whose user owns the tables; `?cluster=main`: tables are sharded over this ' +
      '[cluster](scaling.md#a-cluster). Empty: the embedded engine.',
    parseServerUrl,
  ),
  clickhouseReadUser: hidden(
    'CLICKHOUSE_READ_USER',
    'User that runs queries, as `name:password`; needs read access only. Empty: that of `CLICKHOUSE_URL`.',
    parseAccount,
  ),
  clickhouseSandboxUser: hidden(
    'CLICKHOUSE_SANDBOX_USER',
    'User that runs callers’ SELECTs ([query ' +
      'sandboxing](scaling.md#a-third-user-for-callers-selects)), as `name:password`, over its own ' +
      'connections, half of `TAILRACE_READERS`. Empty: the user of other queries.',
    parseAccount,
  ),
  clickhouseTlsFile: text(
    'CLICKHOUSE_TLS_FILE',
    'PEM file for TLS: for servers that demand one, the client’s certificate and key; then the ' +
      'authority of the server’s certificate. Empty: Node’s authorities.',
  ),
  redisUrl: hidden(
    'TAILRACE_REDIS_URL',
    'Redis or Valkey through which replicas share answers and rates, such as ' +
      '`rediss://user:password@redis.example.com:6379/0`.',
    parseRedisUrl,
  ),
  defaultProject: text(
    'TAILRACE_DEFAULT_PROJECT',
    'Project of events if neither they nor `X-Project` name one.',
  ),
  tlsCertFile: text(
    'TAILRACE_TLS_CERT_FILE',
    'Certificate chain for HTTPS, a PEM file; read again when it changes.',
  ),
  tlsKeyFile: text(
    'TAILRACE_TLS_KEY_FILE',
    'Private key of `TAILRACE_TLS_CERT_FILE`, an unencrypted PEM file.',
  ),
  corsOrigins: text(
    'TAILRACE_CORS_ORIGINS',
    'Origins whose pages may read responses (CORS), joined by commas; `*`: all.',
    parseOrigins,
  ),
  trustProxy: text(
    'TAILRACE_TRUST_PROXY',
    'Proxies with trusted `X-Forwarded-…` headers: addresses or networks (`10.0.0.0/8`), joined by commas.',
    parseProxies,
  ),
  logLevel: choice(
    'TAILRACE_LOG_LEVEL',
    'info',
    ['trace', 'debug', 'info', 'warn', 'error', 'silent'],
    'Lowest level logged.',
  ),

  readers: integer(
    'TAILRACE_READERS',
    {
      fallback: BY_MACHINE.readers,
      fallbackText: 'one for each core, at least 2, at most 16',
      min: 1,
      max: 256,
      unit: 'queries',
    },
    'Queries at once; others wait. At most 16 on the embedded engine; of one key one less. More than ' +
      'its cores only add waiting.',
  ),
  ratePerSecond: integer(
    'TAILRACE_RATE_PER_SECOND',
    { fallback: 0, min: 0, max: 1_000_000, unit: 'requests' },
    'Requests a second, and at once, of a key without its own rate, else 429. 0: no limit.',
  ),
  queryTimeoutMs: integer(
    'TAILRACE_QUERY_TIMEOUT_MS',
    { fallback: 30_000, min: 100, max: 3_600_000, unit: 'ms' },
    'Longest time of a query, including its wait, else 504.',
  ),
  engineMemoryBytesMax: integer(
    'TAILRACE_ENGINE_MEMORY_BYTES_MAX',
    {
      fallback: BY_MACHINE.engineMemoryBytesMax,
      fallbackText: 'half of the memory, at least 512 MiB, at most 2 GiB for each core',
      min: 256 * MIB,
      max: Number.MAX_SAFE_INTEGER,
      unit: 'bytes',
    },
    'Memory of the engine; beyond it queries get 503.',
  ),
  cacheBytesMax: integer(
    'TAILRACE_CACHE_BYTES_MAX',
    {
      fallback: BY_MACHINE.cacheBytesMax,
      fallbackText: 'a sixteenth of the memory, at least 16 MiB, at most 32 MiB for each core',
      min: 1,
      max: Number.MAX_SAFE_INTEGER,
      unit: 'bytes',
    },
    'Size of the cache; the least recently used answers are evicted.',
  ),
  staleIfErrorSeconds: integer(
    'TAILRACE_STALE_IF_ERROR_SECONDS',
    { fallback: 0, min: 0, max: 7 * 86_400, unit: 'seconds' },
    'How long past its time an answer is served while the engine fails ([stale-if-error](api.md#caching)).',
  ),
  bodyBytesMax: integer(
    'TAILRACE_BODY_BYTES_MAX',
    { fallback: 16 * MIB, min: 1024, max: 1024 * MIB, unit: 'bytes' },
    'Largest request body, and a quarter of the largest one after decompression, else 413.',
  ),
  storeBytesMax: integer(
    'TAILRACE_STORE_BYTES_MAX',
    { fallback: 0, min: 0, max: Number.MAX_SAFE_INTEGER, unit: 'bytes' },
    'Disk of all events; beyond it the oldest days are deleted. 0: no bound.',
  ),
} as const satisfies Record<string, Setting<string> | Setting<number>>;

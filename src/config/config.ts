import { InputError, messageOf } from '../errors.ts';
import { describeNearest } from '../lib/nearest.ts';
import { type Machine, readMachine, type Setting } from './setting.ts';
import { SETTINGS } from './settings.ts';
import { isConfidential } from './url.ts';

/**
 * Settings of older builds, by name: what stands in their place. The check of misspelt names tells it
 * (`gone: …`); nothing else reads them. One line each, in the order of the names.
 */
const GONE_SETTINGS: Readonly<Record<string, string>> = {
  CLICKHOUSE_CA_FILE: 'write the certificates in CLICKHOUSE_TLS_FILE',
  CLICKHOUSE_CERT_FILE: 'write the certificates and the key in CLICKHOUSE_TLS_FILE',
  CLICKHOUSE_KEY_FILE: 'write the certificates and the key in CLICKHOUSE_TLS_FILE',
  CLICKHOUSE_PASSWORD: 'write user:password@ in CLICKHOUSE_URL',
  CLICKHOUSE_READ_PASSWORD: 'write name:password in CLICKHOUSE_READ_USER',
  CLICKHOUSE_SANDBOX_PASSWORD: 'write name:password in CLICKHOUSE_SANDBOX_USER',
  CLICKHOUSE_USER: 'write user:password@ in CLICKHOUSE_URL',
  TAILRACE_AUTH_FAILURES_PER_MINUTE_MAX: '600 requests a minute without a valid key from one address',
  TAILRACE_CLOCK_JUMP_HOURS_MAX: 'retention judges the clock by the days of the stored events',
  TAILRACE_CLUSTER: 'write ?cluster=name at the end of CLICKHOUSE_URL',
  TAILRACE_CONNECTIONS_MAX: '4,096 connections may be open',
  TAILRACE_CONNECTIONS_PER_ADDRESS_MAX: 'a proxy bounds the connections of an address',
  TAILRACE_CONTROL_STALE_SECONDS: 'known keys are accepted for 60 s',
  TAILRACE_DECODED_BYTES_MAX: 'a body has at most four times TAILRACE_BODY_BYTES_MAX after decompression',
  TAILRACE_DEFAULT_TIER: 'change the default of project_tier in the endpoint',
  TAILRACE_DEPLOY_SOURCE: 'the console marks events of a source called deployments',
  TAILRACE_EVENT_BYTES_MAX: 'an event has at most 1 MiB',
  TAILRACE_IDEMPOTENCY_WINDOW_MS: 'the last 10,000 inserts of a source are remembered',
  TAILRACE_INGEST_QUEUE_BYTES_MAX: '128 MiB of events may wait to be decoded, and as many to be stored',
  TAILRACE_INGEST_WAIT_MS: 'events wait 5 ms to be stored with others',
  TAILRACE_INGEST_WAIT_MS_MAX: 'events wait at most about 2 s',
  TAILRACE_KEEP_ALIVE_TIMEOUT_MS: 'an idle connection stays open for 72 s',
  TAILRACE_LISTENERS: 'a proxy ends TLS, and replicas share the connections (docs/scaling.md)',
  TAILRACE_MCP_BYTES_MAX: 'an answer to an agent has at most 51,200 bytes of rows',
  TAILRACE_OIDC_CLIENT_ID: 'write name:secret in TAILRACE_OIDC_CLIENT',
  TAILRACE_OIDC_CLIENT_SECRET: 'write name:secret in TAILRACE_OIDC_CLIENT',
  TAILRACE_OIDC_GROUPS_CLAIM: 'name the claim in the file of roles, under claims',
  TAILRACE_OIDC_SCOPES: 'the scope groups is asked for if the provider has it',
  TAILRACE_OTLP_GRPC_PORT: 'send OTLP over HTTP to /v1/logs, or OTLP over gRPC through a collector',
  TAILRACE_OTLP_SOURCE: 'send X-Source, or let sources accept their records',
  TAILRACE_PARAMETER_BYTES_MAX: 'a value of a parameter has at most 65,536 bytes',
  TAILRACE_QUERY_MEMORY_BYTES_MAX: 'a query has a quarter of TAILRACE_ENGINE_MEMORY_BYTES_MAX',
  TAILRACE_QUERY_QUEUE_MAX: '1,000 queries may wait for a reader',
  TAILRACE_QUERY_QUEUE_PER_KEY_MAX: '100 queries of a key may wait for a reader',
  TAILRACE_QUERY_QUEUE_PER_TOKEN_MAX: '20 queries of a token may wait for a reader',
  TAILRACE_QUERY_QUEUE_TIMEOUT_MS: 'a query waits at most 5 s for a reader',
  TAILRACE_RATE_BURST: 'a key without its own rate may send the requests of one second at once',
  TAILRACE_RATIO_MAX: 'a body may grow to 200 times its size by decompression',
  TAILRACE_RECORD_REQUESTS_AS: 'the proxy in front of Tailrace sends its requests as events (docs/ingest.md)',
  TAILRACE_REQUEST_TIMEOUT_MS: 'the head of a request has 10 s to arrive, the request a minute',
  TAILRACE_RESULT_BYTES_MAX: 'an answer has at most 64 MiB',
  TAILRACE_RETENTION_DROP_PERCENT_MAX: 'retention deletes all that is due',
  TAILRACE_SANDBOX_SQL_BYTES_MAX: 'a SELECT of a caller has at most 16,384 bytes',
  TAILRACE_SEARCH_BYTES_MAX: 'a search has at most 8,192 bytes',
  TAILRACE_SEARCH_CLAUSES_MAX: 'a search has at most 128 words, phrases and conditions',
  TAILRACE_SESSION_IDLE_MINUTES: 'a session of the console ends after 8 hours without a request',
  TAILRACE_SESSION_MINUTES_MAX: 'a session of the console ends after a day at the latest',
  TAILRACE_SHUTDOWN_TIMEOUT_MS: 'requests may run for 10 s after SIGTERM',
  TAILRACE_SYSLOG: 'rsyslog, syslog-ng or Vector send lines of syslog over HTTP (docs/senders.md)',
  TAILRACE_TAILS_MAX: '2,000 live tails may be open',
  TAILRACE_TAILS_PER_KEY_MAX: '100 live tails of a key may be open',
  TAILRACE_TAIL_BUFFER_BYTES_MAX: 'a live tail holds at most 1 MiB of unread events',
  TAILRACE_TRUSTED_GROUPS_HEADER: 'name it after the other header in TAILRACE_TRUSTED_USER_HEADER',
  TAILRACE_URL_BYTES_MAX: 'a URL has at most 262,144 bytes',
  TAILRACE_VERCEL_SECRET: 'Vercel’s drains reach the service through Vector (docs/senders.md)',
  TAILRACE_VERCEL_VERIFY: 'Vercel’s drains reach the service through Vector (docs/senders.md)',
  TAILRACE_WARM_CONCURRENCY_MAX: 'refreshes run one at a time',
  TAILRACE_WARM_KEYS_MAX:
    'the 1,000 answers used last are kept warm; omit cache_warming of an endpoint for none',
};

/** The parsed settings; created once, never changed. */
export type Config = {
  readonly [K in keyof typeof SETTINGS]: (typeof SETTINGS)[K] extends Setting<infer T> ? T : never;
} & {
  /** Not a setting: the environment of the engine process; `undefined`: that of this process. */
  readonly engineEnv?: Readonly<Record<string, string>> | undefined;
} & Partial<Bounds>;

/**
 * Constants, each beside the code that uses it. Not settings: tests set others, which they can reach, as do single
 * commands.
 */
export interface Bounds {
  readonly authFailuresPerMinuteMax: number;
  readonly ingestWaitMsMax: number;
  readonly mcpBytesMax: number;
  readonly queryMemoryBytesMax: number;
  readonly queueTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly resultBytesMax: number;
  readonly searchBytesMax: number;
  readonly searchClausesMax: number;
  readonly shutdownTimeoutMs: number;
  readonly tailBufferBytesMax: number;
  readonly tailsMax: number;
  readonly tailsPerKeyMax: number;
}

// Each is a session of the engine process, which holds a thread while it runs a query.
const EMBEDDED_READERS_MAX = 16;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads every setting of the table from `env`. A variable set to the empty string counts as not set.
 *
 * @param machine the source of the defaults that follow the machine
 * @throws InputError listing every wrong value at once
 */
export function parseConfig(env: Environment, machine: Machine = readMachine()): Config {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries<Setting<string | number>>(SETTINGS)) {
    const variable = [setting.env, ...setting.aliases].find((candidate) => env[candidate]);
    try {
      values[name] =
        variable === undefined ? fallbackOf(setting, machine) : setting.parse(env[variable] ?? '');
    } catch (error) {
      const given = setting.secret ? '' : `, not ${JSON.stringify(env[variable ?? ''])}`;
      faults.push(`${variable}: ${messageOf(error)}${given}`);
    }
  }
  const { privateKey, publicKey } = SETTINGS;
  if (values['publicKey'] && values['publicKey'] === values['privateKey']) {
    faults.push(`${publicKey.env}: must differ from ${privateKey.env}, which has every scope`);
  }
  faults.push(...findMissing(env), ...findConflicts(env), ...findSessionFaults(values));
  if (values['clickhouseUrl'] === '' && Number(values['readers']) > EMBEDDED_READERS_MAX) {
    faults.push(`${SETTINGS.readers.env}: must be at most ${EMBEDDED_READERS_MAX} on the embedded engine`);
  }
  if (faults.length > 0) throw new InputError(faults);
  // Each value was returned by its own setting's `parse` or is its fallback, so the record has Config's types.
  return Object.freeze(values) as Config;
}

// What some settings need besides.
const SERVER = 'CLICKHOUSE_URL';
const SECRET = 'TAILRACE_TOKEN_SECRET';
const OF_PEOPLE = ['TAILRACE_ROLES_FILE', 'TAILRACE_PUBLIC_URL'];

const NEEDED_BY: Readonly<Record<string, readonly string[]>> = {
  CLICKHOUSE_READ_USER: [SERVER],
  CLICKHOUSE_SANDBOX_USER: [SERVER],
  CLICKHOUSE_TLS_FILE: [SERVER],
  // Replicas share them, and prove to each other that they belong together by the secret of tokens.
  TAILRACE_CONTROL_URL: [SECRET],
  TAILRACE_REDIS_URL: [SECRET, SERVER],
  // With only one of the files the service would speak plain HTTP, although TLS was intended.
  TAILRACE_TLS_CERT_FILE: ['TAILRACE_TLS_KEY_FILE'],
  TAILRACE_TLS_KEY_FILE: ['TAILRACE_TLS_CERT_FILE'],
  TAILRACE_OIDC_ISSUER: ['TAILRACE_OIDC_CLIENT', ...OF_PEOPLE],
  TAILRACE_OIDC_CLIENT: ['TAILRACE_OIDC_ISSUER'],
  TAILRACE_TRUSTED_USER_HEADER: ['TAILRACE_TRUST_PROXY', ...OF_PEOPLE],
};

const HINTS: Readonly<Record<string, string>> = {
  [SERVER]: ': an embedded store has no users, and no replicas',
  [SECRET]: ', the same for all processes; "openssl rand -base64 32" prints one',
};

/** Finds settings without those that they need; a line for each of these. */
function findMissing(env: Environment): string[] {
  const given = Object.entries(NEEDED_BY).filter(([variable]) => env[variable]);
  const missing = new Set(given.flatMap(([, needed]) => needed.filter((one) => !env[one])));
  return [...missing].map((one) => {
    const needing = given.flatMap(([variable, needed]) => (needed.includes(one) ? [variable] : []));
    return `${one}: must be set too, since ${needing.join(' and ')} ${needing.length > 1 ? 'are' : 'is'}${HINTS[one] ?? ''}`;
  });
}

/** Finds settings that exclude each other; one line each. */
function findConflicts(env: Environment): string[] {
  const faults: string[] = [];
  const { [SERVER]: server = '' } = env;
  if (server === '') return faults;
  if (env['CLICKHOUSE_TLS_FILE'] && !/^https:/i.test(server))
    faults.push(`CLICKHOUSE_TLS_FILE: needs a ${SERVER} that begins with https://`);
  if (env['TAILRACE_STORE_BYTES_MAX'])
    faults.push(
      `TAILRACE_STORE_BYTES_MAX: cannot be enforced with ${SERVER}: the disks are the server’s, and ` +
        'others may store there',
    );
  // The states of alerts are in the control store: a lease in Redis would not tell a replica what another one has sent.
  if (env['TAILRACE_RECEIVERS_FILE'] && env['TAILRACE_REDIS_URL'] && !env['TAILRACE_CONTROL_URL'])
    faults.push(
      'TAILRACE_RECEIVERS_FILE: needs TAILRACE_CONTROL_URL if TAILRACE_REDIS_URL is set: without a ' +
        'shared control store each replica would evaluate every alert and send its messages',
    );
  return faults;
}

/** Finds what keeps browsers from getting a cookie. */
function findSessionFaults({ oidcIssuer, publicUrl }: Record<string, unknown>): string[] {
  const faults: string[] = [];
  if (oidcIssuer && typeof publicUrl === 'string' && publicUrl !== '') {
    const url = new URL(publicUrl);
    if (!isConfidential(url))
      faults.push(
        `${SETTINGS.publicUrl.env}: must begin with https:// if people sign in: the cookie of a ` +
          'session is sent over HTTPS only',
      );
    if (url.pathname !== '/') faults.push(`${SETTINGS.publicUrl.env}: must have no path if people sign in`);
  }
  return faults;
}

function fallbackOf<T extends string | number>({ fallback }: Setting<T>, machine: Machine): T {
  return typeof fallback === 'function' ? fallback(machine) : fallback;
}

/**
 * Finds variables that look like settings but are none: misspelt, or of an older build.
 *
 * @returns a sentence on each, without a full stop
 */
export function findUnknownSettings(env: Environment): string[] {
  const known = Object.values<Setting<unknown>>(SETTINGS).flatMap((s) => [s.env, ...s.aliases]);
  // TAILRACE_KEY is the caller's own key in printed curl commands, and the default of --key.
  const unknown = Object.keys(env).filter(
    (name) =>
      Object.hasOwn(GONE_SETTINGS, name) ||
      (name.startsWith('TAILRACE_') && name !== 'TAILRACE_KEY' && !known.includes(name)),
  );
  return unknown.map((name) => {
    const instead = Object.hasOwn(GONE_SETTINGS, name) ? GONE_SETTINGS[name] : undefined;
    return `${name} is ${instead === undefined ? `not a setting${describeNearest(name, known)}` : `gone: ${instead}`}`;
  });
}

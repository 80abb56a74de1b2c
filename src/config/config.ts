import { InputError, messageOf } from '../errors.ts';
import { describeNearest } from '../lib/nearest.ts';
import { type Machine, readMachine, type Setting } from './setting.ts';
import { SETTINGS } from './settings.ts';
import { isConfidential } from './url.ts';

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

/** Finds variables that look like settings but are none. @returns a sentence on each, without a full stop */
export function findUnknownSettings(env: Environment): string[] {
  const known = Object.values<Setting<unknown>>(SETTINGS).flatMap((s) => [s.env, ...s.aliases]);
  // TAILRACE_KEY is the caller's own key in printed curl commands, and the default of --key.
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith('TAILRACE_') && name !== 'TAILRACE_KEY' && !known.includes(name),
  );
  return unknown.map((name) => `${name} is not a setting${describeNearest(name, known)}`);
}

import { InputError, messageOf } from '../errors.ts';
import { findServerFaults } from './clickhouse.ts';
import { SETTINGS, type Setting } from './settings.ts';

/** The settings as the service reads them; made once, never changed. */
export type Config = {
  readonly [K in keyof typeof SETTINGS]: (typeof SETTINGS)[K] extends Setting<infer T> ? T : never;
};

// Each holds a thread of libuv's pool, whose size bin/tailrace.js sets.
const EMBEDDED_READERS_MAX = 16;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads every setting of the table from `env`. A variable set to the empty string counts as not set.
 *
 * @throws InputError listing every wrong value at once
 */
export function parseConfig(env: Environment): Config {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries<Setting<string | number>>(SETTINGS)) {
    const variable = [setting.env, ...setting.aliases].find((candidate) => env[candidate]);
    try {
      values[name] = variable === undefined ? setting.fallback : setting.parse(env[variable] ?? '');
    } catch (error) {
      const given = setting.secret ? '' : `, not ${JSON.stringify(env[variable ?? ''])}`;
      faults.push(`${variable}: ${messageOf(error)}${given}`);
    }
  }
  const { privateKey, publicKey } = SETTINGS;
  if (values['publicKey'] && values['publicKey'] === values['privateKey']) {
    faults.push(`${publicKey.env}: must differ from ${privateKey.env}, or it would open everything`);
  }
  faults.push(...findHalfTls(env));
  faults.push(...findServerFaults((variable) => Boolean(env[variable]), env[SETTINGS.clickhouseUrl.env]));
  faults.push(...findPrivateTokenSecret(env));
  if (values['clickhouseUrl'] === '' && Number(values['readers']) > EMBEDDED_READERS_MAX) {
    faults.push(`${SETTINGS.readers.env}: must be at most ${EMBEDDED_READERS_MAX} on the embedded engine`);
  }
  if (faults.length > 0) throw new InputError(faults);
  // Each value was made by its own setting's `parse` or is its fallback, so the record has Config's types.
  return Object.freeze(values) as Config;
}

/** TLS needs both of its files: one alone would be a service without TLS where it was asked for. */
function findHalfTls(env: Environment): string[] {
  const { tlsCertFile, tlsKeyFile } = SETTINGS;
  if (Boolean(env[tlsCertFile.env]) === Boolean(env[tlsKeyFile.env])) return [];
  const [set, missing] = env[tlsCertFile.env] ? [tlsCertFile, tlsKeyFile] : [tlsKeyFile, tlsCertFile];
  return [`${missing.env}: must be set too, since ${set.env} is: HTTPS needs both files`];
}

/**
 * What processes share, each with the setting that makes them share it: a signed token of one of them is good at all others
 * only where they have one secret.
 */
const SHARED = [SETTINGS.controlUrl.env] as const;

function findPrivateTokenSecret(env: Environment): string[] {
  const shared = SHARED.filter((variable) => env[variable]);
  const { tokenSecret } = SETTINGS;
  if (shared.length === 0 || env[tokenSecret.env]) return [];
  return [
    `${tokenSecret.env}: must be set with ${shared.join(' and ')}, the same for all processes; "openssl rand -base64 32" makes one`,
  ];
}

/** Variables that look like settings but are none: most likely misspelt. */
export function findUnknownSettings(env: Environment): string[] {
  const known = new Set(Object.values<Setting<unknown>>(SETTINGS).flatMap((s) => [s.env, ...s.aliases]));
  // TAILRACE_KEY is what the printed curl commands use for the caller's own key.
  return Object.keys(env).filter(
    (name) => name.startsWith('TAILRACE_') && name !== 'TAILRACE_KEY' && !known.has(name),
  );
}

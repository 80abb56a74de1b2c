import { InputError, messageOf } from '../errors.ts';
import { findServerFaults } from './clickhouse.ts';
import { type Machine, readMachine } from './machine.ts';
import { findReplicaFaults } from './replicas.ts';
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
 * @param machine what the defaults that follow the machine come from
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
    faults.push(`${publicKey.env}: must differ from ${privateKey.env}, or it would open everything`);
  }
  faults.push(...findHalfTls(env));
  const isGiven = (variable: string) => Boolean(env[variable]);
  faults.push(...findServerFaults(isGiven, env[SETTINGS.clickhouseUrl.env]));
  faults.push(...findReplicaFaults(isGiven));
  if (values['clickhouseUrl'] === '' && Number(values['readers']) > EMBEDDED_READERS_MAX) {
    faults.push(`${SETTINGS.readers.env}: must be at most ${EMBEDDED_READERS_MAX} on the embedded engine`);
  }
  if (faults.length > 0) throw new InputError(faults);
  // Each value was made by its own setting's `parse` or is its fallback, so the record has Config's types.
  return Object.freeze(values) as Config;
}

function fallbackOf<T extends string | number>({ fallback }: Setting<T>, machine: Machine): T {
  return typeof fallback === 'function' ? fallback(machine) : fallback;
}

/** TLS needs both of its files: one alone would be a service without TLS where it was asked for. */
function findHalfTls(env: Environment): string[] {
  const { tlsCertFile, tlsKeyFile } = SETTINGS;
  if (Boolean(env[tlsCertFile.env]) === Boolean(env[tlsKeyFile.env])) return [];
  const [set, missing] = env[tlsCertFile.env] ? [tlsCertFile, tlsKeyFile] : [tlsKeyFile, tlsCertFile];
  return [`${missing.env}: must be set too, since ${set.env} is: HTTPS needs both files`];
}

/** Variables that look like settings but are none: most likely misspelt. */
export function findUnknownSettings(env: Environment): string[] {
  const known = new Set(Object.values<Setting<unknown>>(SETTINGS).flatMap((s) => [s.env, ...s.aliases]));
  // TAILRACE_KEY is what the printed curl commands use for the caller's own key.
  return Object.keys(env).filter(
    (name) => name.startsWith('TAILRACE_') && name !== 'TAILRACE_KEY' && !known.has(name),
  );
}

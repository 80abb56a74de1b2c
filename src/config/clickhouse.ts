import { readFileSync } from 'node:fs';
import { InputError, messageOf } from '../errors.ts';
import type { Config } from './config.ts';
import { splitAccount } from './url.ts';

/** A ClickHouse server and the accounts for it. */
export type ServerAddress = Readonly<NonNullable<ReturnType<typeof findServerAddress>>>;

const DATABASE = 'tailrace';
const USER = 'default';

type ServerSettings = Pick<Config, Extract<keyof Config, `clickhouse${string}`>>;

/**
 * Returns the server of the settings; `undefined` for the embedded engine.
 *
 * @throws InputError if the file of TLS cannot be read
 */
export function findServerAddress(settings: ServerSettings) {
  if (settings.clickhouseUrl === '') return undefined;
  const url = new URL(settings.clickhouseUrl);
  const owner = {
    user: decodeURIComponent(url.username) || USER,
    password: decodeURIComponent(url.password),
  };
  const { clickhouseReadUser, clickhouseSandboxUser } = settings;
  const reader = clickhouseReadUser === '' ? owner : splitAccount(clickhouseReadUser);
  return {
    /** `http://host:port` or `https://…`, without user, password or path. */
    url: url.origin,
    database: url.pathname.replaceAll('/', '') || DATABASE,
    /** Creates the tables and stores events. */
    ...owner,
    /** Runs the queries of callers. */
    readUser: reader.user,
    readPassword: reader.password,
    /** Runs SELECTs that callers write themselves; `undefined`: the read user runs them. */
    sandbox: clickhouseSandboxUser === '' ? undefined : splitAccount(clickhouseSandboxUser),
    /** Empty: one server. */
    cluster: url.searchParams.get('cluster') ?? '',
    tls: readTls(settings.clickhouseTlsFile),
  };
}

/** OpenSSL finds each part of a PEM file by its heading; of the certificates the first is the client's. */
function readTls(file: string) {
  if (file === '') return undefined;
  try {
    const pem = readFileSync(file);
    return pem.includes('PRIVATE KEY-----') ? { ca_cert: pem, cert: pem, key: pem } : { ca_cert: pem };
  } catch (error) {
    throw new InputError([`CLICKHOUSE_TLS_FILE: cannot be read: ${messageOf(error)}`]);
  }
}

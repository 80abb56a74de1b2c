import { readFileSync } from 'node:fs';
import { InputError, messageOf } from '../errors.ts';
import type { Config } from './config.ts';
import { splitAccount } from './url.ts';

/** A ClickHouse server and the accounts for it. */
export interface ServerAddress {
  /** `http://host:port` or `https://…`, without user, password or path. */
  readonly url: string;
  readonly database: string;
  /** Creates the tables and stores events. */
  readonly user: string;
  readonly password: string;
  /** Runs the queries of callers. */
  readonly readUser: string;
  readonly readPassword: string;
  /** Runs SELECTs that callers write themselves; `undefined`: the read user runs them. */
  readonly sandbox: { readonly user: string; readonly password: string } | undefined;
  /** Empty: one server. */
  readonly cluster: string;
  readonly tls: { ca_cert: Buffer } | { ca_cert: Buffer; cert: Buffer; key: Buffer } | undefined;
}

const DATABASE = 'tailrace';
const USER = 'default';

type ServerSettings = Pick<Config, Extract<keyof Config, `clickhouse${string}`>>;

/**
 * Returns the server of the settings; `undefined` for the embedded engine.
 *
 * @throws InputError if the file of TLS cannot be read
 */
export function findServerAddress(settings: ServerSettings): ServerAddress | undefined {
  if (settings.clickhouseUrl === '') return undefined;
  const url = new URL(settings.clickhouseUrl);
  const owner = {
    user: decodeURIComponent(url.username) || USER,
    password: decodeURIComponent(url.password),
  };
  const { clickhouseReadUser, clickhouseSandboxUser } = settings;
  const reader = clickhouseReadUser === '' ? owner : splitAccount(clickhouseReadUser);
  return {
    url: url.origin,
    database: url.pathname.replaceAll('/', '') || DATABASE,
    ...owner,
    readUser: reader.user,
    readPassword: reader.password,
    sandbox: clickhouseSandboxUser === '' ? undefined : splitAccount(clickhouseSandboxUser),
    cluster: url.searchParams.get('cluster') ?? '',
    tls: readTls(settings.clickhouseTlsFile),
  };
}

/** OpenSSL finds each part of a PEM file by its heading; of the certificates the first is the client's. */
function readTls(file: string): ServerAddress['tls'] {
  if (file === '') return undefined;
  try {
    const pem = readFileSync(file);
    return pem.includes('PRIVATE KEY-----') ? { ca_cert: pem, cert: pem, key: pem } : { ca_cert: pem };
  } catch (error) {
    throw new InputError([`CLICKHOUSE_TLS_FILE: cannot be read: ${messageOf(error)}`]);
  }
}

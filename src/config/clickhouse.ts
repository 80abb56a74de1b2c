import { readFileSync } from 'node:fs';
import { InputError, messageOf } from '../errors.ts';
import type { Config } from './config.ts';

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
  readonly tls: { ca_cert: Buffer } | { ca_cert: Buffer; cert: Buffer; key: Buffer } | undefined;
}

const DATABASE = 'tailrace';
const USER = 'default';

type ServerSettings = Pick<Config, Extract<keyof Config, `clickhouse${string}`>>;

/**
 * Returns the server of the settings; `undefined` for the embedded engine.
 *
 * @throws InputError with every unreadable file of TLS
 */
export function findServerAddress(settings: ServerSettings): ServerAddress | undefined {
  if (settings.clickhouseUrl === '') return undefined;
  const url = new URL(settings.clickhouseUrl);
  const user = decodeURIComponent(url.username) || settings.clickhouseUser || USER;
  const password = decodeURIComponent(url.password) || settings.clickhousePassword;
  const hasReader = settings.clickhouseReadUser !== '';
  const sandbox = { user: settings.clickhouseSandboxUser, password: settings.clickhouseSandboxPassword };
  return {
    url: url.origin,
    database: url.pathname.replaceAll('/', '') || DATABASE,
    user,
    password,
    readUser: hasReader ? settings.clickhouseReadUser : user,
    readPassword: hasReader ? settings.clickhouseReadPassword : password,
    sandbox: sandbox.user === '' ? undefined : sandbox,
    tls: readTls(settings),
  };
}

function readTls(settings: ServerSettings): ServerAddress['tls'] {
  const faults: string[] = [];
  const read = (variable: string, file: string) => {
    try {
      return readFileSync(file);
    } catch (error) {
      faults.push(`${variable}: cannot be read: ${messageOf(error)}`);
      return Buffer.alloc(0);
    }
  };
  const { clickhouseCaFile, clickhouseCertFile, clickhouseKeyFile } = settings;
  if (clickhouseCaFile === '') return undefined;
  const ca_cert = read('CLICKHOUSE_CA_FILE', clickhouseCaFile);
  const own = clickhouseCertFile !== '' && {
    cert: read('CLICKHOUSE_CERT_FILE', clickhouseCertFile),
    key: read('CLICKHOUSE_KEY_FILE', clickhouseKeyFile),
  };
  if (faults.length > 0) throw new InputError(faults);
  return own === false ? { ca_cert } : { ca_cert, ...own };
}

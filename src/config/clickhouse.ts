import { readFileSync } from 'node:fs';
import { InputError, messageOf } from '../errors.ts';
import type { Config } from './config.ts';

/** Where a ClickHouse server is, and who speaks to it. */
export interface ServerAddress {
  /** `http://host:port` or `https://…`, without user, password or path. */
  readonly url: string;
  readonly database: string;
  /** Owns the tables: makes them, and stores events. */
  readonly user: string;
  readonly password: string;
  /** Runs the queries of callers. */
  readonly readUser: string;
  readonly readPassword: string;
  /** Runs SELECTs that callers write themselves; `undefined`: the reader does. */
  readonly sandbox: { readonly user: string; readonly password: string } | undefined;
  readonly tls: { ca_cert: Buffer } | { ca_cert: Buffer; cert: Buffer; key: Buffer } | undefined;
}

const DATABASE = 'tailrace';
const USER = 'default';

/**
 * Checks `CLICKHOUSE_URL`: http or https, with user and password where they are wanted, and the database as its path.
 *
 * @throws Error whose message says what would be right; it does not repeat the URL, which may hold a password
 */
export function parseServerUrl(text: string): string {
  const right = 'such as https://user:password@clickhouse.example.com:8443/tailrace';
  if (!URL.canParse(text)) throw new Error(`must be an address, ${right}`);
  const url = new URL(text);
  if (!/^https?:$/.test(url.protocol)) throw new Error(`must begin with http:// or https://, ${right}`);
  if (url.search !== '' || url.hash !== '') throw new Error(`must end with the database, ${right}`);
  if (!/^\/(?:[A-Za-z_]\w{0,62}\/?)?$/.test(url.pathname))
    throw new Error(`must have one database of letters, digits and underscores as its path, ${right}`);
  for (const part of [url.username, url.password]) {
    if (!isDecodable(part)) throw new Error('must have a user and password whose % are written as %25');
  }
  return text;
}

/** @throws Error whose message says what would be right */
export function parseCluster(name: string): string {
  if (/^\w[\w.-]{0,99}$/.test(name)) return name;
  throw new Error('must be a name of letters, digits, dots, dashes and underscores');
}

/** Whether every % of a part of an address begins a code. */
export function isDecodable(part: string): boolean {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

type ServerSettings = Pick<
  Config,
  | 'clickhouseUrl'
  | 'clickhouseUser'
  | 'clickhousePassword'
  | 'clickhouseReadUser'
  | 'clickhouseReadPassword'
  | 'clickhouseSandboxUser'
  | 'clickhouseSandboxPassword'
  | 'clickhouseCaFile'
  | 'clickhouseCertFile'
  | 'clickhouseKeyFile'
>;

/**
 * The server of the settings; `undefined` where there is none, which means the embedded engine.
 *
 * @throws InputError with every file of TLS that cannot be read
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

type Given = (variable: string) => boolean;

const FILES = ['CLICKHOUSE_CA_FILE', 'CLICKHOUSE_CERT_FILE', 'CLICKHOUSE_KEY_FILE'] as const;
const ACCOUNTS = [
  'CLICKHOUSE_USER',
  'CLICKHOUSE_PASSWORD',
  'CLICKHOUSE_READ_USER',
  'CLICKHOUSE_READ_PASSWORD',
  'CLICKHOUSE_SANDBOX_USER',
  'CLICKHOUSE_SANDBOX_PASSWORD',
] as const;

/** Settings of the server that do not go together: one line for each. */
export function findServerFaults(given: Given, text: string | undefined): string[] {
  if (!given('CLICKHOUSE_URL')) {
    const alone = [...ACCOUNTS, ...FILES, 'TAILRACE_CLUSTER'].filter(given);
    return alone.map((variable) => `${variable}: means nothing without CLICKHOUSE_URL`);
  }
  if (text === undefined || !URL.canParse(text)) return []; // told by its own parser
  const url = new URL(text);
  const faults = [...findAccountFaults(given, url), ...findTlsFaults(given, url)];
  if (given('TAILRACE_STORE_BYTES_MAX')) {
    faults.push(
      'TAILRACE_STORE_BYTES_MAX: cannot be kept with CLICKHOUSE_URL: the disks are the server’s, and others may store there',
    );
  }
  return faults;
}

function findAccountFaults(given: Given, { username, password }: URL): string[] {
  const faults: string[] = [];
  if (username !== '' && given('CLICKHOUSE_USER'))
    faults.push('CLICKHOUSE_USER: CLICKHOUSE_URL names a user already');
  if (password !== '' && given('CLICKHOUSE_PASSWORD'))
    faults.push('CLICKHOUSE_PASSWORD: CLICKHOUSE_URL has a password already');
  if (given('CLICKHOUSE_READ_PASSWORD') && !given('CLICKHOUSE_READ_USER'))
    faults.push('CLICKHOUSE_READ_PASSWORD: means nothing without CLICKHOUSE_READ_USER');
  if (given('CLICKHOUSE_SANDBOX_PASSWORD') && !given('CLICKHOUSE_SANDBOX_USER'))
    faults.push('CLICKHOUSE_SANDBOX_PASSWORD: means nothing without CLICKHOUSE_SANDBOX_USER');
  return faults;
}

function findTlsFaults(given: Given, { protocol }: URL): string[] {
  const faults = FILES.filter((file) => given(file) && protocol !== 'https:').map(
    (file) => `${file}: needs a CLICKHOUSE_URL that begins with https://`,
  );
  if (given('CLICKHOUSE_CERT_FILE') !== given('CLICKHOUSE_KEY_FILE'))
    faults.push('CLICKHOUSE_CERT_FILE: needs CLICKHOUSE_KEY_FILE, and the other way round');
  else if (given('CLICKHOUSE_CERT_FILE') && !given('CLICKHOUSE_CA_FILE'))
    faults.push('CLICKHOUSE_CERT_FILE: needs CLICKHOUSE_CA_FILE, the authority of the server’s certificate');
  return faults;
}

import type { ServerAddress } from '../../config/clickhouse.ts';
import { InputError, messageOf, TailraceError } from '../../errors.ts';
import { packagePath } from '../../lib/file.ts';
import { toTailraceError } from '../failure.ts';
import type { EngineSettings } from '../read-settings.ts';
import { onCluster } from '../table.ts';
import { type ServerClient, ServerException } from './client.ts';
import type { Reader } from './statements.ts';

/** The oldest ClickHouse that Tailrace starts on: the oldest LTS release that reports answers that were cut off. */
const VERSION_MIN = [26, 3] as const;

const START_MS_MAX = 30_000;

// AUTHENTICATION_FAILED, UNKNOWN_USER, WRONG_PASSWORD, REQUIRED_PASSWORD
const NO_ENTRY: ReadonlySet<number> = new Set([516, 192, 193, 194]);

export interface StartOptions {
  readonly address: ServerAddress;
  /** The owner of the tables, connected to a database that always exists. */
  readonly system: ServerClient;
  readonly reader: Reader;
  /** The user that runs SQL of callers, if it is another one. */
  readonly sandbox: Reader | undefined;
  /** Empty: a single server. */
  readonly cluster: string;
}

/** A user of the server, and the setting that names it. */
interface Account {
  readonly user: string;
  readonly setting: string;
}

/**
 * Checks the server and its users, and creates the database if it is missing.
 *
 * @throws InputError naming the setting or the right of a user that has to change; TailraceError `engine_unavailable` if the
 * server does not respond
 */
export async function prepareServer(options: StartOptions): Promise<void> {
  const { address, reader, sandbox, cluster } = options;
  const explained = async (account: Account, check: () => Promise<void>) => {
    await check().catch((error: unknown) => {
      throw explain(error, address.url, account);
    });
  };
  await explained({ user: address.user, setting: 'CLICKHOUSE_URL' }, () => prepareDatabase(options));
  const ofReader = { user: address.readUser, setting: 'CLICKHOUSE_READ_USER' };
  await explained(ofReader, () => checkReader(reader, ofReader));
  if (sandbox === undefined || address.sandbox === undefined) return;
  const ofSandbox = { user: address.sandbox.user, setting: 'CLICKHOUSE_SANDBOX_USER' };
  const tables = { database: address.database, cluster };
  await explained(ofSandbox, () => checkSandbox(sandbox, ofSandbox, tables));
}

async function prepareDatabase({ address, system, cluster }: StartOptions): Promise<void> {
  const { database, url } = address;
  const version = await ask(system, 'SELECT version() FORMAT TSVRaw');
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [majorMin, minorMin] = VERSION_MIN;
  if (major < majorMin || (major === majorMin && minor < minorMin))
    throw new InputError([
      `CLICKHOUSE_URL: the server at ${url} is ClickHouse ${version}; Tailrace needs ${VERSION_MIN.join('.')} or later`,
    ]);
  const found = `SELECT count() FROM system.databases WHERE name = '${database}' FORMAT TSVRaw`;
  if ((await ask(system, found)) === '0')
    await ask(system, `CREATE DATABASE IF NOT EXISTS \`${database}\`${onCluster(cluster)}`);
}

async function checkReader({ client, settings }: Reader, { user, setting }: Account): Promise<void> {
  const readonly = await ask(client, "SELECT getSetting('readonly') FORMAT TSVRaw");
  if (readonly !== '0')
    throw new InputError([
      `${setting}: the user ${user} has the setting readonly = ${readonly}, with which Tailrace cannot set the ` +
        'limits of its queries; remove it and restrict the user to reading by GRANTs ' +
        `(${packagePath('docs/scaling.md')}), and Tailrace sets readonly with each query`,
    ]);
  await ask(client, 'SELECT 1', settings);
}

// Holds the queries of other users, with their values. If the server lets every user read `system`, no GRANT lists that.
const OTHERS_QUERIES = 'system.query_log';
const RIGHTS = 'SELECT on the tables of Tailrace, and nothing else';

/** Checks that a caller's SQL cannot read or change anything but the tables, even if it passes the checks of its text. */
async function checkSandbox(
  { client, settings }: Reader,
  { user, setting }: Account,
  tables: { readonly database: string; readonly cluster: string },
): Promise<void> {
  const listed = await ask(client, 'SHOW GRANTS FINAL FORMAT TSVRaw');
  const fault = findRightsFault(listed.split('\n').filter(Boolean), tables);
  if (fault !== undefined)
    throw new InputError([`${setting}: the user ${user} ${fault}; grant it ${RIGHTS} (docs/scaling.md)`]);
  if ((await ask(client, `CHECK GRANT SELECT ON ${OTHERS_QUERIES} FORMAT TSVRaw`)) !== '0')
    throw new InputError([
      `${setting}: the user ${user} may read ${OTHERS_QUERIES}; set ` +
        'access_control_improvements.select_from_system_db_requires_grant in the server’s configuration ' +
        '(docs/scaling.md)',
    ]);
  // With the settings of its queries: a profile that forbids one fails here.
  await ask(client, 'SELECT 1', { ...settings, log_comment: '{}' });
}

async function ask(client: ServerClient, sql: string, settings: EngineSettings = {}): Promise<string> {
  const { bytes } = await client.send({ sql, settings, signal: AbortSignal.timeout(START_MS_MAX) });
  return bytes.toString().trim();
}

/** Returns the error with the server's whole message: it goes to the operator at start, and has no caller's value in it. */
function explain(error: unknown, url: string, { user, setting }: Account): unknown {
  if (error instanceof InputError) return error;
  const { code } = toTailraceError(error);
  const server = `the server at ${url}`;
  if (error instanceof ServerException && error.clickhouseCode !== undefined) {
    if (NO_ENTRY.has(error.clickhouseCode)) {
      const fault = `${setting}: ${server} rejects the user ${user}: wrong user or password`;
      return new InputError([fault], { cause: error });
    }
    const text = error.message.replace(/^(?:Code: \d+\. DB::Exception: )+/, '').slice(0, 500);
    if (code !== 'engine_unavailable')
      return new InputError([`${setting}: ${server} rejects the user ${user}: ${text}`], { cause: error });
  }
  // OpenSSL's messages for a response without TLS name files of its own source and have newlines.
  const why = /wrong version number|packet length too long/.test(messageOf(error))
    ? 'it does not speak TLS there; is it http:// or another port?'
    : messageOf(error).replace(/\s+/g, ' ').trim().slice(0, 200) || (error as { code?: string }).code;
  const message = `the ClickHouse server at ${url} does not respond: ${why}`;
  return new TailraceError('engine_unavailable', message, { cause: error });
}

/** `GRANT SELECT(a, b) ON tailrace.t TO u`, which may end with `WITH GRANT OPTION`. */
const LISTED = /^GRANT (?<rights>.+) ON (?<target>\S+) TO (?<rest>.+)$/;
const COLUMNS = /\([^()]*\)/g;
// SHOW adds nothing: names and types of readable tables are visible without it.
const HARMLESS = /^(?:SELECT|SHOW(?: (?:DATABASES|TABLES|COLUMNS|DICTIONARIES))?)$/;
// Exists in every server. With ClickHouse's default configuration, most of `system` needs a GRANT.
const TOO_WIDE = /^(?:\*|system\b|information_schema\b)/i;

/**
 * Finds the fault in the rights of a user that runs callers' SQL; `undefined`: it can only read tables.
 *
 * @param listed the lines of `SHOW GRANTS FINAL`, which replaces roles by their rights
 */
export function findRightsFault(
  listed: readonly string[],
  { database, cluster }: { readonly database: string; readonly cluster: string },
): string | undefined {
  let readsOurs = false;
  for (const line of listed) {
    if (/^REVOKE /.test(line)) continue; // narrows an earlier GRANT
    const { rights = '', target = '', rest = '' } = LISTED.exec(line)?.groups ?? {};
    const table = target.replaceAll('`', '');
    const isRemote = cluster !== '' && rights === 'READ' && table === 'REMOTE'; // the other servers of the cluster
    if (isRemote && isPlain(rest)) continue;
    const names = rights.replace(COLUMNS, '').split(', ');
    const isAllowed = isPlain(rest) && !TOO_WIDE.test(table) && names.every((name) => HARMLESS.test(name));
    if (!isAllowed) return `has a right that it must not have, ${line.slice(0, 300)}`;
    if (names.includes('SELECT') && table.startsWith(`${database}.`)) readsOurs = true;
  }
  return readsOurs ? undefined : `may not read any table of ${database}`;
}

function isPlain(grantee: string): boolean {
  return !/ WITH (?:GRANT|ADMIN) OPTION$/.test(grantee);
}

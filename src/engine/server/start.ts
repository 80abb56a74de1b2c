import type { ServerAddress } from '../../config/clickhouse.ts';
import { InputError, messageOf, TailraceError } from '../../errors.ts';
import { packagePath } from '../../lib/package-path.ts';
import { toTailraceError } from '../failure.ts';
import type { EngineSettings } from '../read-settings.ts';
import type { ServerClient } from './client.ts';
import { ServerException } from './exception.ts';
import type { Reader } from './reads.ts';
import { findRightsFault } from './sandbox-rights.ts';

/** The oldest ClickHouse that Tailrace starts on: the oldest LTS release that reports answers that were cut off. */
const VERSION_MIN = [26, 3] as const;

const START_MS_MAX = 30_000;
const ANSWER_BYTES_MAX = 1024 * 1024;

// AUTHENTICATION_FAILED, UNKNOWN_USER, WRONG_PASSWORD, REQUIRED_PASSWORD
const NO_ENTRY: ReadonlySet<number | undefined> = new Set([516, 192, 193, 194]);

export interface StartOptions {
  readonly address: ServerAddress;
  /** The owner of the tables, connected to a database that always exists. */
  readonly system: ServerClient;
  readonly reader: Reader;
  /** The user that runs SQL of callers, where that is another one. */
  readonly sandbox: Reader | undefined;
  /** Empty: the server alone. */
  readonly cluster: string;
}

/**
 * Looks whether the server will do, and makes the database where it is missing.
 *
 * @throws InputError that says what of the settings or of the server's users has to change; TailraceError
 * `engine_unavailable` when it does not answer
 */
export async function prepareServer(options: StartOptions): Promise<void> {
  await prepareDatabase(options);
  await checkReader(options);
  await checkSandbox(options);
}

async function prepareDatabase({ address, system, cluster }: StartOptions): Promise<void> {
  const owner = await ask(system, 'SELECT version() FORMAT TSVRaw').catch((error) => {
    throw explain(error, { address, user: address.user, what: 'CLICKHOUSE_URL' });
  });
  refuseOld(owner, address);
  const where = `SELECT count() FROM system.databases WHERE name = '${address.database}' FORMAT TSVRaw`;
  try {
    if ((await ask(system, where)) === '0')
      await ask(
        system,
        `CREATE DATABASE IF NOT EXISTS \`${address.database}\`${cluster === '' ? '' : ` ON CLUSTER \`${cluster}\``}`,
      );
  } catch (error) {
    throw explain(error, { address, user: address.user, what: 'CLICKHOUSE_URL' });
  }
}

async function checkReader({ address, reader }: StartOptions): Promise<void> {
  const user = { address, user: address.readUser, what: 'CLICKHOUSE_READ_USER' };
  const readonly = await ask(reader.client, "SELECT getSetting('readonly') FORMAT TSVRaw").catch((error) => {
    throw explain(error, user);
  });
  if (readonly !== '0')
    throw new InputError([
      `${user.what}: the user ${user.user} has the setting readonly = ${readonly}, under which its queries could not be given their limits; hold it to reading by GRANTs instead (${packagePath('docs/scaling.md')}), and Tailrace sets readonly with each query`,
    ]);
  await ask(reader.client, 'SELECT 1', reader.settings).catch((error) => {
    throw explain(error, user);
  });
}

// Has what others ask, with their values. On a server that lets everyone read `system`, no GRANT lists that.
const OTHERS_QUERIES = 'system.query_log';

/**
 * A caller's text is to find nothing more to read or change than the tables, whatever it may get past. Whether the user may read
 * those that an endpoint needs shows when definitions are checked.
 */
async function checkSandbox({ address, sandbox, cluster }: StartOptions): Promise<void> {
  if (sandbox === undefined || address.sandbox === undefined) return;
  const { user } = address.sandbox;
  const what = 'CLICKHOUSE_SANDBOX_USER';
  const { client, settings } = sandbox;
  try {
    const listed = await ask(client, 'SHOW GRANTS FINAL FORMAT TSVRaw');
    const grants = listed.split('\n').filter((line) => line !== '');
    const fault = findRightsFault(grants, { database: address.database, cluster });
    if (fault !== undefined)
      throw new InputError([`${what}: the user ${user} ${fault}; grant it ${RIGHTS} (docs/scaling.md)`]);
    if ((await ask(client, `CHECK GRANT SELECT ON ${OTHERS_QUERIES} FORMAT TSVRaw`)) !== '0')
      throw new InputError([
        `${what}: the user ${user} may read ${OTHERS_QUERIES}; set access_control_improvements.select_from_system_db_requires_grant in the server’s configuration (docs/scaling.md)`,
      ]);
    // As its queries are sent, so that a profile which does not let a setting be changed shows now.
    await ask(client, 'SELECT 1', { ...settings, additional_table_filters: '{}', log_comment: '{}' });
  } catch (error) {
    throw error instanceof InputError ? error : explain(error, { address, user, what });
  }
}

const RIGHTS = 'SELECT on the tables of Tailrace, and nothing else';

async function ask(client: ServerClient, sql: string, settings: EngineSettings = {}): Promise<string> {
  const signal = AbortSignal.timeout(START_MS_MAX);
  const bytes = await client.send({ sql, settings, bytesMax: ANSWER_BYTES_MAX, signal, repeatable: true });
  return bytes.toString().trim();
}

function refuseOld(version: string, address: ServerAddress): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [majorMin, minorMin] = VERSION_MIN;
  if (major > majorMin || (major === majorMin && minor >= minorMin)) return;
  throw new InputError([
    `CLICKHOUSE_URL: the server at ${address.url} is ClickHouse ${version}; Tailrace needs ${VERSION_MIN.join('.')} or later`,
  ]);
}

/** The server's own words, whole: they go to the operator at start, and hold no value of anyone. */
function explain(
  error: unknown,
  { address, user, what }: { address: ServerAddress; user: string; what: string },
): unknown {
  const { code } = toTailraceError(error);
  if (error instanceof ServerException && error.clickhouseCode !== undefined) {
    if (NO_ENTRY.has(error.clickhouseCode))
      return new InputError(
        [`${what}: the server at ${address.url} does not let the user ${user} in: wrong user or password`],
        { cause: error },
      );
    const text = error.message.replace(/^(?:Code: \d+\. DB::Exception: )+/, '').slice(0, 500);
    if (code !== 'engine_unavailable')
      return new InputError([`${what}: the server at ${address.url} refuses the user ${user}: ${text}`], {
        cause: error,
      });
  }
  const why = isWithoutTls(error)
    ? 'it does not speak TLS there; is it http:// or another port?'
    : messageOf(error).replace(/\s+/g, ' ').trim().slice(0, 200) || (error as { code?: string }).code;
  return new TailraceError(
    'engine_unavailable',
    `the ClickHouse server at ${address.url} does not answer: ${why}`,
    { cause: error },
  );
}

/** OpenSSL's words for an answer that is not TLS, which name files of its own source and have newlines. */
function isWithoutTls(error: unknown): boolean {
  return /wrong version number|packet length too long/.test(messageOf(error));
}

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { drainPending, Session } from 'chdb';
import { writeEngineConfig } from '../src/engine/embedded/sessions.ts';
import { writeValue } from '../src/sql/sql.ts';

/** One request as ClickHouse reads it from its address and body. */
export interface FrontRequest {
  readonly sql: string;
  readonly queryId: string;
  readonly database: string;
  readonly user: string;
  readonly password: string;
  /** Without those that are of HTTP alone. */
  readonly settings: ReadonlyMap<string, string>;
  readonly http: ReadonlyMap<string, string>;
  /** As they stand in the address, escaped as ClickHouse has it. */
  readonly values: ReadonlyMap<string, string>;
  readonly headers: IncomingMessage['headers'];
  /** Path and query of the address, and the body as it came: with these it can be sent again. */
  readonly address: string;
  readonly raw: Buffer;
}

/** Answers a request in the engine's place, or leaves it to the engine (`false`). */
export type Intercept = (request: FrontRequest, response: ServerResponse) => boolean | Promise<boolean>;

export interface ClickHouseFront {
  readonly url: string;
  readonly port: number;
  /** All requests that came, oldest first. */
  readonly requests: FrontRequest[];
  intercept: Intercept | undefined;
  close(): Promise<void>;
}

/**
 * A user of the server. The engine in the process has one user only, so the front compares the password and lists the rights
 * itself; the settings profile is the engine's own.
 */
export interface FrontUser {
  readonly password: string;
  /** What `SHOW GRANTS FINAL` lists. */
  readonly grants: readonly string[];
  /** The answer to `CHECK GRANT`, 0 without it. */
  readonly mayReadSystem?: boolean;
  /** Settings and constraints as users.xml has them; the profile is called as the user is. */
  readonly profile?: string;
}

export interface FrontOptions {
  /** Users by name. Whoever is not among them is let in, with the rights of the engine's own user. */
  readonly users?: Readonly<Record<string, FrontUser>>;
}

// A kill finds a query only once the engine has begun it.
const KILL_AGAIN_MS = 20;

// Settings of ClickHouse's HTTP side, which the engine in the process does not have.
const HTTP_ONLY = new Set([
  'enable_http_compression',
  'wait_end_of_query',
  'default_format',
  'cancel_http_readonly_queries_on_client_close',
  'http_write_exception_in_output_format',
  'quota_key',
]);

/**
 * ClickHouse's HTTP protocol in front of the real engine (chDB), as far as Tailrace speaks it: one session a request, settings,
 * bound values, compressed bodies, errors with their code, queries that end when their client leaves, KILL QUERY by id.
 *
 * @param cluster name of a cluster of one server, this one: the engine's Distributed tables are real; what needs a Keeper, which
 * is ON CLUSTER and replication, is left out of the statements
 */
export async function startClickHouseFront(
  dir: string,
  cluster = '',
  { users = {} }: FrontOptions = {},
): Promise<ClickHouseFront> {
  const connectionArgs = writeEngineConfig(join(dir, 'engine'), {
    memoryBytesMax: 2 * 1024 ** 3,
    backupDir: dir,
  });
  const addToConfig = createConfigEditor(join(dir, 'engine'));
  addToConfig('users.xml', '</grants>', OWN_DATABASES);
  for (const [name, { profile = '' }] of Object.entries(users))
    addToConfig('users.xml', '</profiles>', `<${name}>${profile}</${name}>`);
  if (cluster !== '') addCluster(addToConfig, cluster);
  const storeDir = join(dir, 'store');
  mkdirSync(storeDir, { recursive: true });
  const open = () => new Session(storeDir, { connectionArgs });
  const control = open(); // stays open: the engine ends with its last session
  const byId = new Map<string, { stop: AbortController; done: Promise<unknown> }>();
  const front = { requests: [] as FrontRequest[], intercept: undefined as Intercept | undefined };

  async function kill(sql: string): Promise<Buffer> {
    const query = byId.get(/query_id = '([^']*)'/.exec(sql)?.[1] ?? '');
    query?.stop.abort(new Error('killed'));
    await query?.done.catch(() => {});
    return Buffer.alloc(0);
  }

  /** Of the engine in a process. By a setting: values that are put into its text take a comment out of it. */
  function stopInEngine(queryId: string): void {
    const sql = `KILL QUERY WHERE Settings['log_comment'] = ${writeValue(queryId)} ASYNC FORMAT Null`;
    void control.queryAsync(sql).catch(() => {}); // sent again as long as the query runs
  }

  async function compute(request: FrontRequest, signal: AbortSignal): Promise<Answered> {
    const session = open();
    let again: NodeJS.Timeout | undefined;
    signal.addEventListener('abort', () => {
      again = setInterval(() => stopInEngine(request.queryId), KILL_AGAIN_MS);
    });
    try {
      await session.queryAsync(`USE \`${request.database}\``);
      const profile = Object.hasOwn(users, request.user) ? users[request.user]?.profile : undefined;
      if (profile !== undefined) {
        // In this order: in a process the engine takes over the constraints of a profile, and not its values.
        const values = valuesOf(profile);
        if (values !== '') await session.queryAsync(`SET ${values}`);
        await session.queryAsync(`SET profile = ${writeValue(request.user)}`);
      }
      await session.queryAsync(setAll(request));
      const format = request.http.get('default_format') ?? 'TabSeparated';
      const result = await session.queryAsync(withoutKeeper(request.sql), { format }).catch(async (error) => {
        await session.queryAsync('SELECT 1', { format: 'Null' }).catch(() => {}); // until then the engine lists the query
        throw error;
      });
      return { bytes: Buffer.from(result.bytes()), rows: result.rowsRead };
    } finally {
      clearInterval(again);
      session.close();
    }
  }

  async function answer(request: FrontRequest, response: ServerResponse): Promise<void> {
    const user = Object.hasOwn(users, request.user) ? users[request.user] : undefined;
    if (user !== undefined && user.password !== request.password)
      return fail(request, response, NO_ENTRY, 403);
    const rights = user && answerRights(request.sql, user);
    if (rights !== undefined) return reply(request, response, Buffer.from(rights));
    if (/^KILL QUERY /.test(request.sql)) return reply(request, response, await kill(request.sql));
    const stop = new AbortController();
    const done = compute(request, stop.signal);
    byId.set(request.queryId, { stop, done });
    response.once('close', () => {
      const cancels = request.http.get('cancel_http_readonly_queries_on_client_close') === '1';
      if (!response.writableFinished && cancels && request.settings.get('readonly') === '1') stop.abort();
    });
    try {
      const { bytes, rows } = await done;
      // The summary is in the head: a streamed answer begins before its rows are counted.
      const known = request.http.get('wait_end_of_query') === '1' ? rows : 0;
      response.setHeader('x-clickhouse-summary', JSON.stringify({ read_rows: '0', result_rows: `${known}` }));
      reply(request, response, bytes);
    } catch (error) {
      fail(request, response, String(error instanceof Error ? error.message : error));
    } finally {
      byId.delete(request.queryId);
    }
  }

  const server = createServer({ maxHeaderSize: 1024 * 1024 }, async (incoming, response) => {
    if (incoming.url === '/ping') return void response.end('Ok.\n');
    const request = await readRequest(incoming).catch(() => undefined);
    if (request === undefined) return void response.destroy(); // its client has left
    front.requests.push(request);
    if (front.intercept !== undefined && (await front.intercept(request, response))) return;
    await answer(request, response);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const bound = (server.address() as AddressInfo).port;
  return Object.assign(front, {
    url: `http://127.0.0.1:${bound}`,
    port: bound,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
      for (const { stop } of byId.values()) stop.abort(new Error('closing'));
      await Promise.allSettled([...byId.values()].map(({ done }) => done));
      await drainPending();
      control.close();
    },
  });
}

interface Answered {
  readonly bytes: Buffer;
  readonly rows: number;
}

/** `name = value, …` of a profile as users.xml has it. */
function valuesOf(profile: string): string {
  const [values = ''] = profile.split('<constraints>');
  return [...values.matchAll(/<(\w+)>([^<]*)</g)]
    .map(([, name, value = '']) => `${name} = ${writeValue(value)}`)
    .join(', ');
}

const NO_ENTRY =
  'Code: 516. DB::Exception: Authentication failed: password is incorrect, or there is no user with such name. (AUTHENTICATION_FAILED)';

function answerRights(sql: string, { grants, mayReadSystem = false }: FrontUser): string | undefined {
  if (sql.startsWith('SHOW GRANTS FINAL')) return grants.map((line) => `${line}\n`).join('');
  return sql.startsWith('CHECK GRANT') ? `${Number(mayReadSystem)}\n` : undefined;
}

/** A port on which nobody listens: it says that the server is this one, which then asks itself without a connection. */
const OWN_PORT = 1;

function createConfigEditor(engineDir: string) {
  return (file: string, before: string, text: string) => {
    const path = join(engineDir, file);
    writeFileSync(path, readFileSync(path, 'utf8').replace(before, `${text}${before}`));
  };
}

// Tests whose commands share a front have a database each.
const OWN_DATABASES =
  '<query>GRANT SELECT, INSERT, ALTER, CREATE, DROP, TRUNCATE ON tailrace_test_*.*</query>';

function addCluster(add: ReturnType<typeof createConfigEditor>, name: string): void {
  const replica = `<replica><host>127.0.0.1</host><port>${OWN_PORT}</port></replica>`;
  const servers = `<remote_servers><${name}><shard>${replica}</shard></${name}></remote_servers>`;
  add('config.xml', '</clickhouse>', `<tcp_port>${OWN_PORT}</tcp_port>${servers}`);
  add('users.xml', '</grants>', '<query>GRANT READ, WRITE ON REMOTE</query>');
}

function withoutKeeper(sql: string): string {
  return sql
    .replace(/ ON CLUSTER `\w+`/, '')
    .replace('ENGINE = ReplicatedMergeTree', 'ENGINE = MergeTree')
    .replace(' replicated_deduplication_window', ' non_replicated_deduplication_window');
}

/** One statement, `readonly` last in it. */
function setAll({ values, settings, queryId }: FrontRequest): string {
  const bound = [...values].map(([name, value]) => [`param_${name}`, value] as const);
  const own = new Map(settings).set('log_comment', queryId); // the request's own stays in `requests`
  const all = [...bound, ...[...own].sort(([a]) => (a === 'readonly' ? 1 : -1))];
  return `SET ${all.map(([name, value]) => `${name} = ${writeValue(value)}`).join(', ')}`;
}

async function readRequest(incoming: IncomingMessage): Promise<FrontRequest> {
  const raw = await buffer(incoming);
  const encoding = incoming.headers['content-encoding'];
  const body = encoding === 'zstd' ? zstdDecompressSync(raw) : encoding === 'gzip' ? gunzipSync(raw) : raw;
  const address = new URL(incoming.url ?? '/', 'http://front');
  const take = (keep: (name: string) => boolean) =>
    new Map([...address.searchParams].filter(([name]) => keep(name)));
  const own = new Set(['query', 'query_id', 'database']);
  const [user = 'default', password = ''] = Buffer.from(
    incoming.headers.authorization?.slice(6) ?? '',
    'base64',
  )
    .toString()
    .split(':');
  return {
    sql: [address.searchParams.get('query') ?? '', body.toString()].filter((text) => text !== '').join('\n'),
    queryId: address.searchParams.get('query_id') ?? '',
    database: address.searchParams.get('database') ?? 'default',
    user,
    password,
    settings: take((name) => !own.has(name) && !name.startsWith('param_') && !HTTP_ONLY.has(name)),
    http: take((name) => HTTP_ONLY.has(name)),
    values: new Map(
      [...take((name) => name.startsWith('param_'))].map(([name, value]) => [name.slice(6), value]),
    ),
    headers: incoming.headers,
    address: incoming.url ?? '/',
    raw,
  };
}

/** The engine's own words of a failure, with the status and the code that ClickHouse gives them. */
export function fail(request: FrontRequest, response: ServerResponse, text: string, status = 500): void {
  const code = /Code: (\d+)\./.exec(text)?.[1];
  if (code !== undefined) response.setHeader('x-clickhouse-exception-code', code);
  response.statusCode = status;
  reply(request, response, Buffer.from(`${text}\n`));
}

/** In the encoding that the client asked for; in chunks, as ClickHouse does. */
export function reply(request: FrontRequest, response: ServerResponse, bytes: Buffer): void {
  const body = encode(request, response, bytes);
  response.write(body.subarray(0, body.length >> 1));
  response.end(body.subarray(body.length >> 1));
}

/** Sets the header of the encoding, too, and the one that ClickHouse has in every answer. */
export function encode(request: FrontRequest, response: ServerResponse, bytes: Buffer): Buffer {
  response.setHeader('x-clickhouse-query-id', request.queryId);
  const compresses = request.http.get('enable_http_compression') === '1';
  if (!compresses || !String(request.headers['accept-encoding']).includes('zstd')) return bytes;
  response.setHeader('content-encoding', 'zstd');
  return zstdCompressSync(bytes);
}

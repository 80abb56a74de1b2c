import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, closeSync, globSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Client, type ClientConfig } from 'pg';
import type { BenchData } from '../data.ts';
import { Unmeasured } from '../report.ts';
import { openKept } from './kept.ts';

/** A separate PostgreSQL server with a socket in its folder. */
export interface PostgresServer {
  readonly client: Client;
  /** Runs a statement that reads rows from a file. */
  copy(sql: string, file: string): Promise<void>;
  close(): Promise<void>;
}

/** The folder of the programs in Debian's package and its derivatives. */
const PROGRAMS = '/usr/lib/postgresql/*/bin/initdb';
/** The package's account; PostgreSQL refuses to run as root. */
const ACCOUNT = 'postgres';
const USER = 'bench';
/** Its folder. */
const DATABASE = 'pgdata';
const READY_MS_MAX = 60_000;
const POLL_EVERY_MS = 100;

/**
 * For a machine with some gigabytes to spare: a cache for the queried data, memory for sorting, an SSD. No default,
 * such as two workers per query, is turned off; the data can be loaded again, so loading does not wait for the disk.
 */
const SETTINGS = {
  listen_addresses: '',
  shared_buffers: '2GB',
  effective_cache_size: '12GB',
  work_mem: '64MB',
  maintenance_work_mem: '512MB',
  random_page_cost: '1.1',
  max_wal_size: '2GB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  fsync: 'off',
} as const;

/** The programs of the newest PostgreSQL. @throws Unmeasured if there is none */
function findPrograms(): { bin: string; major: number } {
  const found = globSync(PROGRAMS).map((file) => {
    const bin = join(file, '..');
    return { bin, major: Number(bin.split('/').at(-2)) };
  });
  const [newest] = found.toSorted((a, b) => b.major - a.major);
  if (newest === undefined)
    throw new Unmeasured(`no PostgreSQL in ${PROGRAMS}; Debian's package is called postgresql`);
  return newest;
}

/**
 * A server on a database beside our data, which `fill` loads once.
 *
 * @param kept `bytes`: the disk space that it takes while it is filled
 * @throws Unmeasured if PostgreSQL is not installed, or needs more disk than there is
 */
export async function openKeptServer(
  data: BenchData,
  kept: { readonly prefix: string; readonly bytes: number },
  fill: (server: PostgresServer) => Promise<void>,
) {
  const { bin, major } = findPrograms();
  const name = `${kept.prefix}postgresql-${major}`;
  const folder = await openKept(data, { name, bytes: kept.bytes }, async (made) => {
    initPostgres(bin, join(made, DATABASE));
    const filled = await startPostgres(bin, join(made, DATABASE));
    await fill(filled).finally(filled.close);
  });
  const server = await startPostgres(bin, join(folder, DATABASE));
  const answer = await server.client.query<{ server_version: string }>('SHOW server_version');
  return { folder, server, version: answer.rows[0]?.server_version.split(' ')[0] };
}

/** Creates an empty database in a folder. @throws Unmeasured if there is no account to run it */
function initPostgres(bin: string, dataDir: string): void {
  const account = findAccount();
  mkdirSync(dataDir, { mode: 0o700 });
  if (account !== undefined) chownSync(dataDir, account.uid, account.gid);
  // Whoever can open the socket may log in; it is in a folder of the server's account.
  const args = ['--pgdata', dataDir, '--username', USER, '--auth', 'trust', '--encoding', 'UTF8'];
  const quick = ['--locale', 'C', '--no-sync'];
  execFileSync(join(bin, 'initdb'), [...args, ...quick], { ...account, cwd: '/', stdio: 'pipe' });
}

async function startPostgres(bin: string, dataDir: string): Promise<PostgresServer> {
  const settings = { ...SETTINGS, unix_socket_directories: dataDir };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const log = openSync(join(dataDir, '..', 'server.log'), 'a');
  const child = spawn(join(bin, 'postgres'), ['-D', dataDir, ...args], {
    ...findAccount(),
    cwd: '/',
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const ended = once(child, 'close');
  const interrupt = () => child.kill('SIGINT'); // a fast shutdown, which ends its connections
  process.once('exit', interrupt);
  const stop = async () => {
    process.off('exit', interrupt);
    interrupt();
    await ended;
  };
  try {
    const connection: ClientConfig = { host: dataDir, user: USER, database: 'postgres' };
    const client = await connect(child, connection, join(dataDir, '..', 'server.log'));
    return {
      client,
      copy: (sql, file) =>
        runPsql(join(bin, 'psql'), ['-h', dataDir, '-U', USER, 'postgres', '-c', sql], file),
      async close() {
        await client.end();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The account's ids; none if this process can run it itself. */
function findAccount(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  try {
    const id = (what: string) => Number(execFileSync('id', [what, ACCOUNT], { stdio: 'pipe' }));
    return { uid: id('-u'), gid: id('-g') };
  } catch (error) {
    throw new Unmeasured(`PostgreSQL refuses to run as root and there is no account ${ACCOUNT}`, {
      cause: error,
    });
  }
}

async function connect(child: ChildProcess, connection: ClientConfig, log: string): Promise<Client> {
  for (let waitedMs = 0; waitedMs < READY_MS_MAX && child.exitCode === null; waitedMs += POLL_EVERY_MS) {
    const client = new Client(connection);
    try {
      await client.connect();
      return client;
    } catch {
      await wait(POLL_EVERY_MS); // no socket yet, or still starting
    }
  }
  throw new Error(`PostgreSQL did not start:\n${readFileSync(log, 'utf8').slice(-2000)}`);
}

/** psql copies rows faster than a client in JavaScript. */
async function runPsql(psql: string, args: readonly string[], file: string): Promise<void> {
  const input = openSync(file, 'r');
  const child = spawn(psql, ['--no-psqlrc', '--quiet', '-v', 'ON_ERROR_STOP=1', ...args], {
    stdio: [input, 'ignore', 'inherit'],
  });
  closeSync(input);
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`psql ended with ${code}`);
}

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Client } from 'pg';
import { findProgram } from '../scripts/programs.js';
import { findFreePort } from './free-port.ts';
import { until } from './until.ts';

/** A PostgreSQL of its own in a temporary folder, on a free port of 127.0.0.1, with TLS by tls/one.cert.pem. */
export interface TestPostgres {
  readonly port: number;
  /** Makes an empty database. @returns its URL, with a password */
  createDatabase(): Promise<string>;
  /** Statements of the owner of everything. */
  run(url: string, sql: string): Promise<Record<string, unknown>[]>;
  /** Ends at once, as a machine does that loses its power. */
  kill(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

/** For `describe.skipIf`: see scripts/programs.js. */
export const hasPostgres = findProgram('postgres') !== undefined;

const USER = 'owner';
const PASSWORD = 'p%40ss%20word'; // as a URL has it
/** Whom Debian's package makes: PostgreSQL does not run as root. */
const ACCOUNT = 'postgres';
const SETTINGS = { fsync: 'off', max_connections: '200', listen_addresses: '127.0.0.1' };

/** @param more settings of the server, besides its own */
export async function startPostgres(more: Readonly<Record<string, string>> = {}): Promise<TestPostgres> {
  const bin = dirname(findProgram('postgres') ?? '');
  const account = findAccount();
  const folder = await mkdtemp(join(tmpdir(), 'tailrace-postgres-'));
  if (account !== undefined) await chown(folder, account.uid, account.gid);
  const data = join(folder, 'data');
  const passwordFile = join(folder, 'password');
  const auth = ['--auth-local', 'trust', '--auth-host', 'scram-sha-256', '--pwfile', passwordFile];
  await writeFile(passwordFile, decodeURIComponent(PASSWORD), { mode: 0o644 });
  execFileSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', USER, '-E', 'UTF8', '--locale', 'C', '--no-sync', ...auth],
    {
      ...account,
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  const port = await findFreePort();
  const tls = {
    ssl: 'on',
    ssl_cert_file: join(folder, 'one.cert.pem'),
    ssl_key_file: join(folder, 'one.key.pem'),
  };
  for (const file of [tls.ssl_cert_file, tls.ssl_key_file]) {
    await copyFile(join(import.meta.dirname, 'tls', basename(file)), file);
    await chmod(file, 0o600); // or PostgreSQL rejects it
    if (account !== undefined) await chown(file, account.uid, account.gid);
  }
  const settings = { ...SETTINGS, ...more, ...tls, port: String(port), unix_socket_directories: folder };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const urlOf = (database: string) => `postgresql://${USER}:${PASSWORD}@127.0.0.1:${port}/${database}`;
  let child: ChildProcess | undefined;
  let made = 0;

  async function run(url: string, sql: string): Promise<Record<string, unknown>[]> {
    const client = new Client(url);
    await client.connect();
    try {
      return (await client.query(sql)).rows as Record<string, unknown>[];
    } finally {
      await client.end();
    }
  }

  async function start(): Promise<void> {
    child = spawn(join(bin, 'postgres'), ['-D', data, ...args], { ...account, cwd: folder, stdio: 'ignore' });
    await until(() => run(urlOf('postgres'), 'SELECT 1'), 30_000);
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (child === undefined) return;
    const ended = once(child, 'close');
    child.kill(signal);
    child = undefined;
    await ended;
  }

  await start();
  return {
    port,
    async createDatabase() {
      const name = `test${++made}`;
      await run(urlOf('postgres'), `CREATE DATABASE ${name}`);
      return urlOf(name);
    },
    run,
    kill: () => end('SIGQUIT'), // to all of its processes, and without an orderly end
    start,
    async close() {
      await end('SIGINT'); // it ends its connections first
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function findAccount(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) => Number(execFileSync('id', [flag, ACCOUNT], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

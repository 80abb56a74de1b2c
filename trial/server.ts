import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The key, with every scope, of the services that trials and the benchmark start. */
export const KEY = 'bench-private-key-0123456789';

export interface Server {
  readonly url: string;
  readonly pid: number;
  /** Resident memory now, in MB. */
  rssMb(): number;
  /** Resolves when it has ended. */
  end(signal: NodeJS.Signals): Promise<void>;
}

export interface ServerOptions {
  readonly dataDir: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The checkout to run, if not this one. */
  readonly root?: string;
}

const ROOT = join(import.meta.dirname, '..');
const CLI = 'bin/tailrace.js';
const READY_MS_MAX = 120_000;

/** Starts `tailrace serve` in a separate process on a free port; it logs to `server.log` in the data directory. */
export async function startServer({ dataDir, env, root = ROOT }: ServerOptions): Promise<Server> {
  const { PATH = '' } = process.env;
  const log = openSync(join(dataDir, 'server.log'), 'a');
  const child = spawn(process.execPath, [join(root, CLI), 'serve'], {
    cwd: root,
    env: { PATH, TAILRACE_DATA_DIR: dataDir, TAILRACE_PORT: '0', TAILRACE_PRIVATE_KEY: KEY, ...env },
    stdio: ['ignore', 'pipe', log],
  });
  closeSync(log);
  const ended = once(child, 'close');
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await ended;
  };
  const late = setTimeout(() => child.kill('SIGKILL'), READY_MS_MAX);
  const url = child.stdout === null ? undefined : await findUrl(child.stdout.setEncoding('utf8'));
  clearTimeout(late);
  if (url === undefined || child.pid === undefined) {
    await end('SIGKILL');
    throw new Error(
      `the server did not start:\n${readFileSync(join(dataDir, 'server.log'), 'utf8').slice(-2000)}`,
    );
  }
  child.stdout?.resume();
  const { pid } = child;
  return { url, pid, rssMb: () => readRss(pid), end };
}

/** The address that it prints when it is ready; `undefined` if it ends before. */
async function findUrl(stdout: AsyncIterable<string>): Promise<string | undefined> {
  const lines = stdout[Symbol.asyncIterator]();
  let text = '';
  for (let chunk = await lines.next(); chunk.done !== true; chunk = await lines.next()) {
    text += chunk.value;
    const [, url] = /ready at (https?:\S+)\n/.exec(text) ?? [];
    if (url !== undefined) return url;
  }
  return undefined;
}

const KIB_PER_MB = 1_000_000 / 1024;

/** The running child processes of a process; none without /proc. */
export function findChildren(parent: number): number[] {
  return listProcesses().filter((pid) => readStatus(pid)?.parent === parent);
}

/**
 * Resident memory of a process and its children, such as the engine, in MB; NaN
 * without /proc.
 */
export function readRss(pid: number): number {
  const own = readStatus(pid);
  const children = findChildren(pid).map(readStatus);
  return [own, ...children].reduce((sum, one) => sum + (one?.rssMb ?? Number.NaN), 0);
}

function listProcesses(): number[] {
  return existsSync('/proc') ? readdirSync('/proc').map(Number).filter(Number.isInteger) : [];
}

function readStatus(pid: number): { parent: number; rssMb: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'utf8');
    const [, parent] = /^PPid:\s+(\d+)$/m.exec(text) ?? [];
    const [, kib = 0] = /^VmRSS:\s+(\d+) kB$/m.exec(text) ?? [];
    return { parent: Number(parent), rssMb: Number(kib) / KIB_PER_MB };
  } catch {
    return undefined; // it has ended
  }
}

/** Runs `work` beside a server and ends the server, also after a failure. */
export async function withServer<T>(
  options: ServerOptions,
  work: (server: Server) => Promise<T>,
): Promise<T> {
  mkdirSync(options.dataDir, { recursive: true });
  const server = await startServer(options);
  try {
    return await work(server);
  } finally {
    await server.end('SIGTERM');
  }
}

/** Fills the store of a data directory with realistic logs. */
export async function fillSample(dataDir: string, rows: number, args: readonly string[] = []): Promise<void> {
  const child = spawn(process.execPath, [join(ROOT, CLI), 'sample', '--rows', String(rows), ...args], {
    env: { ...process.env, TAILRACE_DATA_DIR: dataDir },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`tailrace sample ended with ${code}`);
}

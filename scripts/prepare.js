// What `npm start` and `npm test` do first. Plain JavaScript without dependencies: it runs on whatever Node is there,
// before the project's own Node and packages are.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodePackage } from '../bin/bundled-node.js';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const stamp = join(modules, '.tailrace-lock');

/** The Node that package.json pins, from node_modules. */
export const node = join(modules, nodePackage, 'bin', 'node');

/** Installs the packages of package-lock.json unless exactly these are there already. */
export async function install() {
  const wanted = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  if (existsSync(node) && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  say(
    'installing packages, among them Node 24 and the ClickHouse engine (about 1.2 GB on disk, tools for tests included)',
  );
  const started = Date.now();
  const ticking = setInterval(
    () => say(`installing, ${Math.round((Date.now() - started) / 1000)} s so far`),
    10_000,
  );
  const [command, args] = npmCommand();
  // Not `npm ci`: it wants an entry for every platform's binary, and a mirror that lacks one of another platform would make
  // the lock file unusable here. `install --no-save` takes the same versions from the lock file and leaves it as it is.
  const code = await run(command, [
    ...args,
    'install',
    '--no-save',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ]);
  clearInterval(ticking);
  if (code !== 0) {
    say('npm install failed; see above. Is the package registry reachable?');
    process.exit(3);
  }
  writeFileSync(stamp, wanted);
  say(`installed in ${Math.round((Date.now() - started) / 1000)} s`);
}

const page = join(root, 'console', 'dist', 'index.html');
// What the built console is made of, beside its own sources.
const PARTS = ['console', 'src/management/view.ts', 'package-lock.json'];

/** Builds the console unless it is newer than everything that it is made of. */
export async function buildConsole() {
  if (
    existsSync(page) &&
    statSync(page).mtimeMs > Math.max(...PARTS.map((part) => newestMs(join(root, part))))
  )
    return;
  say('building the console');
  const code = await run('vite', ['build', 'console', '--logLevel', 'error']);
  if (code === 0) return;
  say('the console could not be built; see above');
  process.exit(3);
}

/** When a file, or the newest one of a folder without its built files, was last changed. */
function newestMs(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  const names = readdirSync(path).filter((name) => name !== 'dist');
  return Math.max(0, ...names.map((name) => newestMs(join(path, name))));
}

function npmCommand() {
  const npm = process.env.npm_execpath;
  return npm ? [process.execPath, [npm]] : ['npm', []];
}

// From SIGTERM to SIGKILL.
const LAST_MS = 15_000;

/**
 * Runs a command with the project's Node first in PATH, passing signals on; resolves with its exit code. After `timeoutMs` it is
 * ended, which is a failure.
 */
export function run(command, args, { env = {}, timeoutMs } = {}) {
  const child = start(command, args, { stdio: 'inherit', env });
  const pass = (signal) => child.kill(signal);
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, pass);
  // npm runs scripts through a shell that does not pass signals on: a killed npm shows only as another parent.
  const parent = process.ppid;
  const orphaned = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(orphaned); // a second SIGTERM would end the child in the middle of its stopping
    child.kill('SIGTERM');
  }, 1_000);
  const late = timeoutMs && setTimeout(endLate, timeoutMs);
  function endLate() {
    say(`${command} did not end within ${timeoutMs / 60_000} minutes`);
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), LAST_MS).unref();
  }
  return new Promise((resolve) => {
    child.on('error', (error) => {
      say(error.message);
      resolve(3);
    });
    child.on('exit', (code) => {
      clearInterval(orphaned);
      clearTimeout(late);
      for (const one of signals) process.off(one, pass);
      resolve(code ?? 3); // ended by a signal
    });
  });
}

/** Runs a command that ends by itself; resolves with its exit code and what it wrote, to both streams. */
export function runQuietly(command, args) {
  const child = start(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ code: 3, output: `${error.message}\n` }));
    child.on('close', (code) => resolve({ code: code ?? 3, output }));
  });
}

/** With the project's Node and commands first in PATH. */
function start(command, args, { stdio, env = {} }) {
  const path = `${join(modules, '.bin')}:${process.env.PATH}`;
  return spawn(command, args, { cwd: root, stdio, env: { ...process.env, ...env, PATH: path } });
}

export function say(line) {
  process.stderr.write(`tailrace: ${line}\n`);
}

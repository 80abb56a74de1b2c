import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { findProgram } from '../../scripts/programs.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The service that all browser tests share. */
    console: { readonly url: string; readonly key: string; readonly browser: string };
  }
}

const ROOT = join(import.meta.dirname, '../..');
const CLI = join(ROOT, 'bin/tailrace.js');
const KEY = 'browser-test-key-0123456789';
const ROWS = '40000';
// Far above what it takes, for a machine that is busy with other things.
const READY_MS = 180_000;

/** One service with sample logs for every browser test: filling a store takes longer than all of them. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const browser = findProgram('chromium');
  if (browser === undefined) {
    throw new Error('the browser tests need Chromium: apt-get install chromium, or put one into PATH');
  }
  if (!existsSync(join(ROOT, 'console/dist/index.html'))) {
    throw new Error('the console is not built: npm run build:console');
  }
  const dataDir = await mkdtemp(join(tmpdir(), 'tailrace-test-'));
  const { PATH = '' } = process.env;
  const env = {
    PATH,
    TAILRACE_DATA_DIR: dataDir,
    TAILRACE_PORT: '0',
    TAILRACE_PRIVATE_KEY: KEY,
    TAILRACE_LOG_LEVEL: 'silent',
  };
  let child: ChildProcess | undefined;
  const stop = async () => {
    if (child !== undefined && child.exitCode === null) {
      child.kill('SIGTERM');
      await once(child, 'close');
    }
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    await promisify(execFile)(process.execPath, [CLI, 'sample', '--rows', ROWS], { env, cwd: ROOT });
    child = spawn(process.execPath, [CLI, 'serve'], { env, cwd: ROOT });
    project.provide('console', { url: await untilReady(child), key: KEY, browser });
  } catch (error) {
    await stop();
    throw error;
  }
  return stop;
}

function untilReady(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    const late = setTimeout(() => reject(new Error(`not ready:\n${output}`)), READY_MS);
    const onData = (bytes: Buffer) => {
      output += bytes.toString();
      const url = /ready at (\S+)/.exec(output)?.[1];
      if (url === undefined) return;
      clearTimeout(late);
      resolve(url);
    };
    child.stdout?.on('data', onData);
    child.stderr?.on('data', onData);
    child.once('close', () => reject(new Error(`ended:\n${output}`)));
  });
}

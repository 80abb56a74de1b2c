import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { vi } from 'vitest';
import { findProgram } from '../../scripts/programs.js';

export interface Nginx {
  readonly port: number;
  /** Lets what runs finish, writes out the log, ends. */
  quit(): Promise<void>;
}

/** nginx with a whole configuration of one's own, which listens on `port` of 127.0.0.1 and does not become a daemon. */
export async function runNginx(
  prefix: string,
  { config, port }: { config: string; port: number },
): Promise<Nginx> {
  await mkdir(prefix, { recursive: true });
  await writeFile(join(prefix, 'nginx.conf'), config);
  const child = spawn(findProgram('nginx') ?? 'nginx', ['-p', prefix, '-c', 'nginx.conf', '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const ended = new Promise<void>((resolve) => void child.once('close', () => resolve()));
  await vi.waitFor(
    () => (isRunning(child) ? fetch(`http://127.0.0.1:${port}`) : Promise.reject(new Error(errors))),
    { timeout: 10_000 },
  );
  return {
    port,
    async quit() {
      child.kill('SIGQUIT');
      await ended;
    },
  };
}

const isRunning = (child: ChildProcess) => child.exitCode === null && child.signalCode === null;

import { spawn } from 'node:child_process';
import type { AddressInfo, Socket } from 'node:net';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CONTROL_FD, type ListenOptions, onMessage, type Report, sendMessage } from './control.ts';

export interface ListenerProcess {
  readonly pid: number | undefined;
  /** Resolves when it accepts connections. Rejects with the system's error, or with how the process ended before. */
  readonly listening: Promise<AddressInfo>;
  /** Resolves with how it ended, such as `SIGKILL` or `exit code 1`, or why it could not listen. */
  readonly ended: Promise<string>;
  /** Resolves when it accepts no more connections, or has ended. */
  stop(): Promise<void>;
  /** Resolves when it has sent the last bytes and ended. */
  end(): Promise<void>;
}

export interface ProcessOptions {
  readonly listen: ListenOptions;
  /** `undefined`: the environment of this process. */
  readonly env: Readonly<Record<string, string>> | undefined;
  readonly onLog: (line: Extract<Report, { op: 'log' }>) => void;
}

// It ends by itself before: see main.ts.
const END_MS_MAX = 5_000;

export function startListenerProcess({ listen, env, onLog }: ProcessOptions): ListenerProcess {
  const main = fileURLToPath(new URL(`./main${extname(import.meta.url)}`, import.meta.url));
  const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'ignore', 'inherit', 'pipe'] });
  let failure: string | undefined;
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(failure ?? signal ?? `exit code ${code}`));
    child.on('error', (error) => {
      if (child.pid === undefined) resolve(`it could not be started: ${error.message}`);
    });
  });
  // A `pipe` is a socket. Without a free descriptor `stdio` is undefined.
  const stdio: typeof child.stdio | undefined = child.stdio;
  const control = stdio?.[CONTROL_FD] as Socket | undefined;
  const stopped = Promise.withResolvers<void>();
  const listening = new Promise<AddressInfo>((resolve, reject) => {
    void ended.then((how) => reject(new Error(`the listener process ended: ${how}`)));
    if (control === undefined) return;
    control.on('error', () => child.kill('SIGKILL'));
    onMessage<Report>(control, (report) => {
      if (report.op === 'listening') resolve(report.address);
      else if (report.op === 'stopped') stopped.resolve();
      else if (report.op === 'log') onLog(report);
      else {
        failure = report.message;
        reject(Object.assign(new Error(report.message), { code: report.code }));
        child.kill('SIGKILL');
      }
    });
    sendMessage(control, { op: 'listen', options: listen });
  });
  listening.catch(() => {}); // of a process that ends while nobody waits for it
  return {
    pid: child.pid,
    listening,
    ended,
    async stop() {
      if (control !== undefined) sendMessage(control, { op: 'stop' });
      await Promise.race([stopped.promise, ended]);
    },
    async end() {
      if (control !== undefined) sendMessage(control, { op: 'end' });
      const late = setTimeout(() => child.kill('SIGKILL'), END_MS_MAX);
      await ended;
      clearTimeout(late);
    },
  };
}

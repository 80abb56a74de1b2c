import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { AddressInfo, Socket } from 'node:net';
import { extname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { Config } from '../../config/config.ts';
import { backOffMs } from '../../lib/back-off.ts';
import { acceptRelayed } from './accept.ts';
import { CONTROL_FD, type ListenOptions, onMessage, type Report, sendMessage } from './control.ts';
import type { RelayState } from './relay-state.ts';

export interface ListenersOptions {
  readonly config: Pick<Config, 'listeners' | 'host' | 'port' | 'tlsCertFile' | 'tlsKeyFile' | 'engineEnv'>;
  readonly backlog: number;
  readonly logger: Pick<FastifyBaseLogger, 'info' | 'error'>;
}

// A process that ends this soon after its start would end again: the next start waits longer.
const STEADY_MS = 2_000;
const BACK_OFF = { firstMs: 100, longestMs: 5_000 };
const SECRET_BYTES = 32;
const TICKET_BYTES = 48; // what Node expects

/**
 * Lets listener processes accept the connections of an app and relay them to it. One that ends is started again; only
 * its own connections end with it.
 *
 * @returns where all of them accept connections
 * @throws the system's error if the address cannot be listened on; then none of them runs
 */
export async function openListeners(
  app: FastifyInstance,
  state: RelayState,
  options: ListenersOptions,
): Promise<AddressInfo> {
  const { config, backlog, logger } = options;
  const secret = randomBytes(SECRET_BYTES).toString('hex');
  // An abstract address: nothing on the disk to find a place for, or to be left behind. Anyone on the machine can
  // connect, and needs the secret.
  const path = `\0tailrace-${process.pid}-${randomBytes(8).toString('hex')}`;
  acceptRelayed(app.server, secret);
  await app.listen({ path, backlog, listenTextResolver: () => 'waiting for listener processes' });
  const { tlsCertFile, tlsKeyFile, host, engineEnv: env } = config;
  const ticketKeys = randomBytes(TICKET_BYTES).toString('base64');
  const tls = tlsCertFile === '' ? undefined : { tlsCertFile, tlsKeyFile, ticketKeys };
  const start = (port: number): ListenerProcess => {
    const listen: ListenOptions = { host, port, backlog, path, secret, tls };
    const started = startListenerProcess({
      ...{ listen, env },
      onLog: ({ level, fields, text }) => logger[level]({ ...fields, listener: started.pid }, text),
    });
    return started;
  };
  const first = start(config.port);
  const address = await first.listening; // of port 0 it is now known
  const others = Array.from({ length: config.listeners - 1 }, () => start(address.port));
  const slots = [first, ...others].map((one) => keepRunning(one, () => start(address.port), logger));
  const all = async (what: 'stop' | 'end') => void (await Promise.all(slots.map((slot) => slot[what]())));
  state.current = { stop: () => all('stop'), end: () => all('end') };
  await Promise.all(others.map(({ listening }) => listening));
  return address;
}

/** Starts another process whenever one ends, until `stop` or `end` is called. */
function keepRunning(
  first: ListenerProcess,
  start: () => ListenerProcess,
  logger: ListenersOptions['logger'],
) {
  const stopping = new AbortController();
  let running = first;
  let quickEnds = 0;
  let startedMs = performance.now();

  async function watch(): Promise<void> {
    const ended = await running.ended;
    if (stopping.signal.aborted) return;
    quickEnds = performance.now() - startedMs < STEADY_MS ? quickEnds + 1 : 0;
    logger.error({ listener: running.pid, ended }, 'a listener process ended and is started again');
    await pause(backOffMs(quickEnds + 1, BACK_OFF), undefined, stopping);
    startedMs = performance.now();
    running = start();
    await watch();
  }

  watch().catch(() => {}); // only the pause rejects, when it is stopped
  return {
    async stop() {
      stopping.abort();
      await running.stop();
    },
    async end() {
      stopping.abort();
      await running.end();
    },
  };
}

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

function startListenerProcess({ listen, env, onLog }: ProcessOptions): ListenerProcess {
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

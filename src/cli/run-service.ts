import { once } from 'node:events';
import { createServer } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';
import { pino } from 'pino';
import type { Config } from '../config/config.ts';
import type { Endpoint } from '../definitions/endpoint.ts';
import { describeFolders } from '../definitions/folders.ts';
import { StoreInUseError } from '../engine/store-file.ts';
import { InputError, TransientError } from '../errors.ts';
import { exampleOf } from '../http/openapi/document.ts';
import { isOutOfSpace, toStartError } from '../lib/system-failure.ts';
import type { Core } from '../service/open-core.ts';
import { createService, type Service } from '../service/service.ts';
import type { RunTests } from '../workbench/tests.ts';
import { ownerName } from './environment.ts';
import { announceService, createLocalKey, type LocalService } from './local-service.ts';
import { createReloads, watchDefinitions } from './reload.ts';

/** The options by which a command runs the service. */
export interface ServiceRun {
  readonly config: Config;
  readonly logger: FastifyBaseLogger;
  readonly stop: AbortSignal;
  /** Named to other processes that find the store locked. */
  readonly command: 'serve' | 'dev';
  /** Reload the definitions when one of their files changes. */
  readonly isWatching: boolean;
  /** Fills an empty store before anything reads it, unless `stop` aborts. */
  readonly fill: (core: Core, stop: AbortSignal) => Promise<void>;
  /** See `createReloads`. */
  readonly onReloaded?: (paths: ReadonlySet<string>, core: Core) => Promise<void>;
  /** Returns what is printed when the service listens: lines about the key, and the key for example calls. */
  readonly welcome: (service: Service) => Promise<Welcome>;
}

interface Welcome {
  readonly about: readonly string[];
  readonly key: string;
}

/**
 * Runs the service until `stop` aborts.
 *
 * @throws InputError if settings, definitions or data directory keep it from starting; TransientError if the next start
 *   may succeed
 */
export async function runService(run: ServiceRun): Promise<void> {
  const { config, logger, command, isWatching } = run;
  const isWatched = isWatching || process.stderr.isTTY;
  const reloads = createReloads({ logger, isWatched, onReloaded: run.onReloaded });
  const stopping = new AbortController();
  const stop = AbortSignal.any([run.stop, stopping.signal]);
  process.on('SIGHUP', () => void reloads.request()); // without a handler it would end a service that is still starting
  await using cleanup = new AsyncDisposableStack();
  // Before the definitions are read, so that no change is missed.
  if (isWatching) cleanup.defer(await watchDefinitions(config, (paths) => void reloads.request(paths)));
  const localKey = createLocalKey();
  const runTests: RunTests = async (name, signal) => {
    const { createEndpointTests } = await import('./commands/test.ts'); // loaded only if it is used
    return await createEndpointTests(config)(name, signal);
  };
  const options = {
    logger,
    owner: ownerName(command),
    runTests,
    environment: process.env,
    actions: { reload: reloads.request, stop: () => stopping.abort('tailrace stop') },
    localKey,
    async prepare(core: Core) {
      // Before a sample is stored, so that a port in use is reported at once.
      await checkAddress(config);
      await run.fill(core, stop);
    },
  };
  const service = await createService(config, options).catch((error: unknown) => {
    throw explainStart(error, config);
  });
  let endAnnouncement = () => {};
  cleanup.defer(() => endAnnouncement()); // once the store is released
  cleanup.defer(service.close);
  reloads.start(service.core);
  if (stop.aborted) return;
  const { host, port } = config;
  const address = await service.app.listen({ host, port, backlog: BACKLOG_MAX }).catch((error: unknown) => {
    throw explainListening(error, config);
  });
  endAnnouncement = announce(run, { url: address, key: localKey });
  for (const line of describeFolders(service.core.folders)) logger.info(line);
  printWelcome(service.core, address, await run.welcome(service));
  logger.info({ address }, 'listening');
  if (!stop.aborted) await once(stop, 'abort');
  logger.info({ signal: stop.reason }, 'stopping');
}

/** Logs to standard error; standard output is for people. */
export function createLogger({ logLevel: level }: Config): FastifyBaseLogger {
  const stderr = pino.destination(2);
  // EIO: its terminal is closed. The service continues without a log; otherwise pino would retry forever at the end.
  stderr.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EIO') throw error;
    Object.assign(stderr, { write: () => true, flushSync() {} });
  });
  return pino({ level }, stderr);
}

/** Commands cannot reach a service whose file cannot be written, as on a full disk; signals can. */
function announce({ config, logger }: ServiceRun, service: LocalService): () => void {
  try {
    return announceService(config.dataDir, service);
  } catch (error) {
    logger.warn(
      { err: error },
      'tailrace backup, delete, reload and stop cannot reach this service; signals do',
    );
    return () => {};
  }
}

// Connections that wait to be accepted: in a burst of a thousand the kernel must not reject any.
const BACKLOG_MAX = 4_096;

/** Maps failures that may pass, such as a full disk or a store that another process still releases. */
function explainStart(error: unknown, { dataDir }: Config): unknown {
  if (error instanceof StoreInUseError) return new TransientError(error.faults, { cause: error });
  if (error instanceof InputError || !isOutOfSpace(error)) return error;
  const fault = `data directory ${dataDir} cannot be used: the disk is full; make room`;
  return new TransientError([fault], { cause: error });
}

/**
 * Listens on the address of the settings and stops at once: no connection is accepted before the service is ready. If
 * another process uses the port afterwards, `listen` reports it.
 *
 * @throws InputError, TransientError if the service could not listen there
 */
async function checkAddress({ host, port }: Config): Promise<void> {
  const server = createServer((socket) => socket.destroy());
  try {
    await once(server.listen({ host, port, exclusive: true }), 'listening');
  } catch (error) {
    throw explainListening(error, { host, port });
  }
  await new Promise((resolve) => server.close(resolve));
}

/** Says why the service cannot listen, and what to do. */
function explainListening(error: unknown, { host, port }: Pick<Config, 'host' | 'port'>): unknown {
  const { code } = error as { code?: string };
  const unknown = `the address ${host} is unknown now; wait for it or set TAILRACE_HOST`;
  const why: Record<string, string> = {
    EADDRINUSE: `port ${port} of ${host} is in use; stop the other process or set TAILRACE_PORT to another one`,
    EADDRNOTAVAIL: `${host} is not an address of this machine now; wait for it or set TAILRACE_HOST`,
    EACCES: `port ${port} needs more rights than this process has; set TAILRACE_PORT to one above 1023`,
    ENOTFOUND: unknown,
    EAI_AGAIN: unknown,
  };
  const reason = why[code ?? ''];
  return reason === undefined ? error : toStartError(reason, error);
}

// `aurora` is a project of the sample logs.
const EXAMPLES: Readonly<Record<string, string>> = {
  'functions.invocation-stats': 'project=aurora&interval=1day',
  'logs.all': 'project=aurora&project_tier=PRO',
  'usage.api-counts': 'project=aurora&interval=hourly',
};

const EXAMPLES_MAX = 3;

/** Prints the address and calls to try. */
function printWelcome({ folders, registry }: Core, address: string, { about, key }: Welcome): void {
  const shipped = describeFolders(folders).map((line) => `Note: ${line}`);
  const calls = registry.endpoints.slice(0, EXAMPLES_MAX).map((endpoint) => {
    const url = `${address}/api/endpoints/query/${endpoint.name}?${exampleQuery(endpoint)}`;
    return `curl -s -H "X-API-KEY: ${key}" "${url}"`;
  });
  const lines = [
    `Tailrace is ready at ${address}`,
    `Open ${address}/ in a browser for the console.`,
    ...['', ...shipped],
    ...(shipped.length > 0 ? [''] : []),
    ...about,
    ...['', ...calls, '', ''],
  ];
  process.stdout.write(lines.join('\n'));
}

/** Returns values for the required parameters of any other endpoint. */
function exampleQuery({ name, parameters }: Endpoint): string {
  const required = parameters.filter((parameter) => parameter.required);
  const values = required.map((one): [string, string] => [one.name, String(exampleOf(one) ?? 'x')]);
  return EXAMPLES[name] ?? new URLSearchParams(values).toString();
}

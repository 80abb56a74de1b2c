import { Command } from 'commander';
import type { FastifyBaseLogger } from 'fastify';
import { pino } from 'pino';
import type { Config } from '../../config/config.ts';
import { describeShipped } from '../../definitions/folders.ts';
import { createService, type Service } from '../../service.ts';
import { ownerName, readConfig, stopSignal } from '../environment.ts';
import { checkAddress, explainListening } from '../listen-address.ts';
import { createReloads } from '../reload.ts';
import { printWelcome } from '../welcome.ts';

export function serveCommand(): Command {
  return new Command('serve')
    .description('Run the service.')
    .option('--sample', 'first fill an empty store with realistic logs')
    .option('--watch', 'reload the definitions when one of their files changes')
    .action(serve);
}

async function serve(options: { sample?: boolean; watch?: boolean }): Promise<void> {
  const config = readConfig();
  const logger = createLogger(config);
  const stop = stopSignal();
  const isWatched = options.watch === true || process.stderr.isTTY;
  // Of services on a server any number may have the same data directory.
  const dataDir = config.clickhouseUrl === '' ? config.dataDir : undefined;
  const reloads = createReloads({ logger, dataDir, isWatched });
  process.on('SIGHUP', reloads.request); // without a handler it would end a service that is still starting
  // Before anything is read, so that no change is missed.
  const endWatch = options.watch === true ? await watch(config, reloads.request) : undefined;
  try {
    const service = await createService(config, { logger, owner: ownerName('serve') });
    reloads.start(service.store);
    try {
      // Before a sample is stored, which takes longer than it takes to say that the port is in use.
      await checkAddress(config);
      if (options.sample === true) await fill(service.store, stop);
      if (!stop.aborted) await run(service, config, { logger, stop });
    } finally {
      await service.close();
    }
  } finally {
    await endWatch?.();
  }
}

// What the next two need is loaded only if they are asked for.

async function watch(config: Config, onChange: () => void): Promise<() => Promise<void>> {
  const { watchDefinitions } = await import('../watch-definitions.ts');
  return await watchDefinitions(config, onChange);
}

async function fill(store: Service['store'], stop: AbortSignal): Promise<void> {
  const { fillWithSample } = await import('./sample.ts');
  await fillWithSample(store, stop);
}

/** The log goes to standard error; standard output is for people. */
function createLogger({ logLevel }: Config): FastifyBaseLogger {
  const stderr = pino.destination(2);
  // Its terminal is closed: the service goes on without a log. What was not written would be tried for ever at the end.
  stderr.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EIO') throw error;
    Object.assign(stderr, { write: () => true, flushSync() {} });
  });
  return pino({ level: logLevel }, stderr);
}

async function run(
  service: Service,
  config: Config,
  { logger, stop }: { logger: FastifyBaseLogger; stop: AbortSignal },
): Promise<void> {
  const address = await listen(service, config);
  for (const line of describeShipped(service.store.folders)) logger.info(line);
  await printWelcome(service, address);
  logger.info({ address }, 'listening');
  await new Promise((resolve) => {
    if (stop.aborted) resolve(undefined);
    stop.addEventListener('abort', resolve, { once: true });
  });
  logger.info({ signal: stop.reason }, 'stopping');
}

// Connections that may wait to be accepted: a burst of a thousand must not be told to try again by the kernel.
const BACKLOG_MAX = 4_096;

async function listen(service: Service, config: Config): Promise<string> {
  try {
    return await service.app.listen({ host: config.host, port: config.port, backlog: BACKLOG_MAX });
  } catch (error) {
    throw explainListening(error, config);
  }
}

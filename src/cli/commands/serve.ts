import { watch } from 'node:fs';
import { Command } from 'commander';
import type { FastifyBaseLogger } from 'fastify';
import { pino } from 'pino';
import type { Config } from '../../config/config.ts';
import { InputError } from '../../errors.ts';
import { createService, type Service } from '../../service.ts';
import { ownerName, readConfig, stopSignal } from '../environment.ts';
import { printWelcome } from '../welcome.ts';
import { fillWithSample } from './sample.ts';

export function serveCommand(): Command {
  return new Command('serve')
    .description('Run the service.')
    .option('--sample', 'fill an empty store with realistic logs first')
    .option('--watch', 'read the definitions again when a file of theirs changes')
    .action(serve);
}

async function serve(options: { sample?: boolean; watch?: boolean }): Promise<void> {
  const config = readConfig();
  const logger: FastifyBaseLogger = pino({ level: config.logLevel }, pino.destination(2)); // standard output is for people
  const stop = stopSignal();
  process.on('SIGHUP', () => {}); // without a handler it would end a service that is still starting
  const service = await createService(config, { logger, owner: ownerName('serve') });
  const reload = createReload(service, logger);
  process.on('SIGHUP', reload);
  try {
    if (options.sample === true) await fillWithSample(service.store, stop);
    if (!stop.aborted) await run(service, config, { logger, stop, reload, watch: options.watch === true });
  } finally {
    await service.close();
  }
}

async function run(
  service: Service,
  config: Config,
  options: { logger: FastifyBaseLogger; stop: AbortSignal; reload: () => void; watch: boolean },
): Promise<void> {
  const { logger, stop, reload } = options;
  const address = await listen(service, config);
  const watchers = options.watch
    ? [config.endpointsDir, config.sourcesDir].map((dir) => watchFolder(dir, reload))
    : [];
  await printWelcome(service, address);
  logger.info({ address }, 'listening');
  await new Promise((resolve) => {
    if (stop.aborted) resolve(undefined);
    stop.addEventListener('abort', resolve, { once: true });
  });
  logger.info({ signal: stop.reason }, 'stopping');
  for (const watcher of watchers) watcher.close();
}

// Connections that may wait to be accepted: a burst of a thousand must not be told to try again by the kernel.
const BACKLOG_MAX = 4_096;

async function listen(service: Service, config: Config): Promise<string> {
  try {
    return await service.app.listen({ host: config.host, port: config.port, backlog: BACKLOG_MAX });
  } catch (error) {
    const { code } = error as { code?: string };
    const why: Record<string, string> = {
      EADDRINUSE: `port ${config.port} of ${config.host} is in use; set TAILRACE_PORT to another one`,
      EADDRNOTAVAIL: `${config.host} is not an address of this machine; set TAILRACE_HOST`,
      EACCES: `port ${config.port} needs more rights than this process has; set TAILRACE_PORT to one above 1023`,
      ENOTFOUND: `the address ${config.host} is not known; set TAILRACE_HOST`,
    };
    const reason = why[code ?? ''];
    throw reason === undefined ? error : new InputError([reason], { cause: error });
  }
}

/** One reload at a time; a wish that comes while one runs is granted by another after it. */
function createReload(service: Service, logger: FastifyBaseLogger): () => void {
  let running = false;
  let again = false;
  const reload = async () => {
    if (running) {
      again = true;
      return;
    }
    running = true;
    try {
      await service.store.reload();
      logger.info({ endpoints: service.store.registry.endpoints.length }, 'definitions reloaded');
    } catch (error) {
      const faults = error instanceof InputError ? error.faults : undefined;
      logger.error(
        faults === undefined ? { err: error } : { faults },
        'definitions not reloaded: the old ones go on serving',
      );
    } finally {
      running = false;
      if (again) {
        again = false;
        void reload();
      }
    }
  };
  return () => void reload();
}

// Editors write a file in several steps; one reload after the last of them is enough.
const SETTLE_MS = 200;

function watchFolder(dir: string, onChange: () => void) {
  let timer: NodeJS.Timeout | undefined;
  const changed = () => {
    clearTimeout(timer);
    timer = setTimeout(onChange, SETTLE_MS);
  };
  // What it cannot watch any more has changed, to say the least; without a listener the error would end the service.
  return watch(dir, { recursive: true }, changed).on('error', changed);
}

import { once } from 'node:events';
import { createServer } from 'node:net';
import { Command } from 'commander';
import type { FastifyBaseLogger } from 'fastify';
import { pino } from 'pino';
import type { Config } from '../../config/config.ts';
import { describeShipped } from '../../definitions/folders.ts';
import { InputError } from '../../errors.ts';
import { SCOPES } from '../../keys/grant.ts';
import { createService, type Service } from '../../service.ts';
import { ownerName, readConfig, stopSignal } from '../environment.ts';
import { createReloads, watchDefinitions } from '../reload.ts';

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
  // Several services on a ClickHouse server may share a data directory.
  const dataDir = config.clickhouseUrl === '' ? config.dataDir : undefined;
  const reloads = createReloads({ logger, dataDir, isWatched });
  process.on('SIGHUP', reloads.request); // without a handler it would end a service that is still starting
  await using cleanup = new AsyncDisposableStack();
  // Before the definitions are read, so that no change is missed.
  if (options.watch === true) cleanup.defer(await watchDefinitions(config, reloads.request));
  const service = await createService(config, { logger, owner: ownerName('serve') });
  cleanup.defer(service.close);
  reloads.start(service.store);
  // Before a sample is stored, so that a port in use is reported at once.
  await checkAddress(config);
  if (options.sample === true) {
    const { fillWithSample } = await import('./sample.ts'); // loaded only if it is used
    await fillWithSample(service.store, stop);
  }
  if (!stop.aborted) await run(service, config, { logger, stop });
}

/** Logs to standard error; standard output is for people. */
function createLogger({ logLevel }: Config): FastifyBaseLogger {
  const stderr = pino.destination(2);
  // EIO: its terminal is closed. The service goes on without a log; otherwise pino would retry for ever at the end.
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
  if (!stop.aborted) await once(stop, 'abort');
  logger.info({ signal: stop.reason }, 'stopping');
}

// Connections that wait to be accepted: in a burst of a thousand the kernel must not refuse any.
const BACKLOG_MAX = 4_096;

async function listen(service: Service, config: Config): Promise<string> {
  try {
    return await service.app.listen({ host: config.host, port: config.port, backlog: BACKLOG_MAX });
  } catch (error) {
    throw explainListening(error, config);
  }
}

/**
 * Listens on the address of the settings and stops at once: nothing is accepted before the service is ready. If another process takes
 * the port afterwards, `listen` reports it.
 *
 * @throws InputError if the service could not listen there
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

/** Turns a failure to listen into an InputError if the settings are at fault. */
function explainListening(error: unknown, { host, port }: Pick<Config, 'host' | 'port'>): unknown {
  const { code } = error as { code?: string };
  const why: Record<string, string> = {
    EADDRINUSE: `port ${port} of ${host} is in use; set TAILRACE_PORT to another one`,
    EADDRNOTAVAIL: `${host} is not an address of this machine; set TAILRACE_HOST`,
    EACCES: `port ${port} needs more rights than this process has; set TAILRACE_PORT to one above 1023`,
    ENOTFOUND: `the address ${host} is not known; set TAILRACE_HOST`,
  };
  const reason = why[code ?? ''];
  return reason === undefined ? error : new InputError([reason], { cause: error });
}

// `aurora` is a project of the sample logs.
const EXAMPLES = [
  'functions.invocation-stats?project=aurora&interval=1day',
  'logs.all?project=aurora&project_tier=PRO',
  'usage.api-counts?project=aurora&interval=hourly',
];

/** Prints the address and example calls. Creates a first key if there is none that can query. */
async function printWelcome({ keyring, store }: Service, address: string): Promise<void> {
  const hasKey = await keyring.hasUsableKey();
  const created = hasKey ? undefined : (await keyring.create({ name: 'first key', scopes: SCOPES })).key;
  const lines = [`Tailrace is ready at ${address}`, `Open ${address}/ in a browser for the console.`, ''];
  const shipped = describeShipped(store.folders);
  if (shipped.length > 0) lines.push(...shipped.map((line) => `Note: ${line}`), '');
  if (created === undefined) {
    lines.push('Put a key into TAILRACE_KEY to try it. A key for everything, the console included:', '');
    lines.push(`  npx tailrace keys create --name me --scope ${SCOPES.join(',')}`);
  } else {
    lines.push('A key was created, with every scope. It is not shown again:', '', `  ${created}`);
  }
  lines.push('');
  for (const query of EXAMPLES) {
    const name = query.split('?')[0] ?? '';
    if (store.registry.findEndpoint(name) === undefined) continue;
    lines.push(
      `curl -s -H "X-API-KEY: ${created ?? '$TAILRACE_KEY'}" "${address}/api/endpoints/query/${query}"`,
    );
  }
  process.stdout.write(`${lines.join('\n')}\n\n`);
}

import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { readSyslog, type SyslogAddress } from '../config/syslog.ts';
import { InputError, messageOf } from '../errors.ts';
import { followTlsFiles, type TlsContext } from '../http/tls.ts';
import type { SyslogListener } from '../ingest/protocols/syslog/listen.ts';
import { ARRIVED } from '../ingest/protocols/syslog/syslog.ts';
import type { Receive } from '../ingest/receive.ts';
import { createThrottle } from '../lib/throttle.ts';
import type { Context } from './context.ts';

// Connections that wait to be accepted: in a burst of a thousand the kernel must not reject any.
const BACKLOG_MAX = 4_096;

/**
 * Lets the app of a service accept connections at the address of the settings, in listener processes if there are several.
 *
 * @returns the address, such as `http://127.0.0.1:4000`
 * @throws the system's error if it cannot be listened on
 */
export async function listen(
  app: FastifyInstance,
  { config, logger }: Pick<Context, 'config' | 'logger'>,
): Promise<string> {
  const { host, port, tlsCertFile } = config;
  if (app.relay === undefined) return await app.listen({ host, port, backlog: BACKLOG_MAX });
  const { openListeners } = await import('../http/relay/listeners.ts'); // loaded only if it is used
  const at = await openListeners(app, app.relay, { config, logger, backlog: BACKLOG_MAX });
  // As the framework writes an address: one that means all is not one to connect to.
  const name = at.address.replace(/^::$/, '::1').replace(/^0\.0\.0\.0$/, '127.0.0.1');
  const scheme = tlsCertFile === '' ? 'http' : 'https';
  return `${scheme}://${at.family === 'IPv6' ? `[${name}]` : name}:${at.port}`;
}

/** Opens the port of TAILRACE_OTLP_GRPC_PORT, if it is set. @throws InputError if it cannot be opened */
export async function openGrpc(
  { config, tls, logger, opened }: Context,
  app: FastifyInstance,
): Promise<void> {
  if (config.otlpGrpcPort === 0) return;
  const { listenGrpc } = await import('../http/grpc.ts'); // loaded only if it is used
  const { server, port, close } = await listenGrpc({ app, config, tls }).catch((cause: unknown) => {
    const message = `TAILRACE_OTLP_GRPC_PORT: port ${config.otlpGrpcPort} cannot be opened: ${messageOf(cause)}`;
    throw new InputError([message], { cause });
  });
  opened.defer(close);
  if ('setSecureContext' in server) opened.defer(followTlsFiles(config, server as SecureServer, logger));
  logger.info({ port }, 'OTLP over gRPC is accepted');
}

type SecureServer = Parameters<typeof followTlsFiles>[1];

const LOG_AGAIN_MS = 60_000;

/** Opens the ports of TAILRACE_SYSLOG. @throws InputError for one that cannot be opened */
export async function openSyslog(
  { config, tls, core, metrics, logger, now, opened }: Context,
  receive: Receive,
): Promise<readonly SyslogListener[]> {
  if (config.syslog === '') return [];
  const { listenSyslog } = await import('../ingest/protocols/syslog/listen.ts'); // as above
  const { registry } = core;
  const throttle = createThrottle(LOG_AGAIN_MS, now);
  const listeners: SyslogListener[] = [];
  const store = async (address: SyslogAddress, frames: Buffer) => {
    await receive({
      bytes: frames,
      format: 'syslog',
      protocol: 'syslog',
      context: { [ARRIVED]: String(now()) },
      source: undefined,
      candidates: registry.sources,
      keyId: 'syslog',
      idempotencyKey: undefined,
      project: address.project === '' ? config.defaultProject : address.project,
      pinnedProject: address.project === '' ? undefined : address.project,
      authorize: () => {},
    });
  };
  for (const address of readSyslog(config.syslog)) {
    const name = nameOf(address);
    if (address.transport === 'tls' && tls === undefined)
      throw new InputError([
        'TAILRACE_SYSLOG: tls:// needs TAILRACE_TLS_CERT_FILE and TAILRACE_TLS_KEY_FILE; set them, or use tcp://',
      ]);
    const options = { ...tls, ...readClientCa(address) };
    const listener = await listenSyslog(address, {
      tls: options,
      store,
      onLost: (_, reason, count) => metrics.syslogLost(reason, count),
      onFault: (_, error) =>
        throttle(() => logger.warn({ err: error, port: name }, 'a syslog sender failed')),
    }).catch((error: unknown) => {
      throw new InputError([`TAILRACE_SYSLOG: ${name} cannot be opened: ${messageOf(error)}`], {
        cause: error,
      });
    });
    opened.defer(listener.close);
    const { server } = listener;
    if (server !== undefined) {
      const target = {
        setSecureContext: (pair: TlsContext) => server.setSecureContext({ ...options, ...pair }),
      };
      opened.defer(followTlsFiles(config, target, logger));
    }
    logger.info({ port: listener.port }, `syslog is accepted at ${name}`);
    listeners.push(listener);
  }
  return listeners;
}

function nameOf({ transport, host, port }: SyslogAddress): string {
  return `${transport}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function readClientCa({ clientCaFile }: SyslogAddress) {
  if (clientCaFile === '') return {};
  try {
    return { ca: readFileSync(clientCaFile), requestCert: true, rejectUnauthorized: true };
  } catch (error) {
    throw new InputError([`TAILRACE_SYSLOG: ${clientCaFile} cannot be read: ${messageOf(error)}`], {
      cause: error,
    });
  }
}

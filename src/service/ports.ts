import { readFileSync } from 'node:fs';
import { readSyslog, type SyslogAddress } from '../config/syslog.ts';
import { InputError, messageOf } from '../errors.ts';
import { followTlsFiles, type TlsContext } from '../http/tls.ts';
import type { SyslogListener } from '../ingest/protocols/syslog/listen.ts';
import { ARRIVED } from '../ingest/protocols/syslog/syslog.ts';
import type { Receive } from '../ingest/receive.ts';
import { createThrottle } from '../lib/throttle.ts';
import type { Context } from './context.ts';

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

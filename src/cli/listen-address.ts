import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Config } from '../config/config.ts';
import { InputError } from '../errors.ts';

type Address = Pick<Config, 'host' | 'port'>;

/**
 * Listens on the address of the settings and stops at once: nothing is accepted before the service is ready. Another process may take
 * the port afterwards, which is then found when the service listens.
 *
 * @throws InputError when the service could not listen there
 */
export async function checkAddress({ host, port }: Address): Promise<void> {
  const server = createServer((socket) => socket.destroy());
  try {
    await once(server.listen({ host, port, exclusive: true }), 'listening');
  } catch (error) {
    throw explainListening(error, { host, port });
  }
  await new Promise((resolve) => server.close(resolve));
}

/** A failure to listen as a fault of the settings, if it is one. */
export function explainListening(error: unknown, { host, port }: Address): unknown {
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

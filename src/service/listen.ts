import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { Config } from '../config/config.ts';

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
  { config, logger }: { readonly config: Config; readonly logger: FastifyBaseLogger },
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

import type { Config } from '../config/config.ts';
import { openTokenSecret } from '../keys/token.ts';
import { deriveSecret } from '../lib/hash.ts';
import { readConfig } from './environment.ts';
import { findLocalService, isService } from './local-service.ts';
import { findKey, type Remote, type RemoteOptions } from './remote.ts';

/**
 * The store of `tailrace dev`: neither the production data nor the servers of the settings, so that no event or key
 * there is touched.
 */
export const DEV_STORE = { dataDir: '.tailrace', clickhouseUrl: '', controlUrl: '', redisUrl: '' };

/**
 * Returns the settings for a command on a store: that of TAILRACE_DATA_DIR, else of the service that runs in this
 * folder, else the default. On standard error it says which store that is if no service, or two of them, run here.
 */
export function readStoreConfig(settings = readConfig()): Config {
  const { config, note } = findStore(settings);
  if (note !== undefined) process.stderr.write(`tailrace: ${note}\n`);
  return config;
}

/** As `readStoreConfig`, for commands that say themselves which store they need. */
export function findStore(config = readConfig()): { readonly config: Config; readonly note?: string } {
  if ((process.env['TAILRACE_DATA_DIR'] ?? '') !== '') return { config };
  // A service on a server does not lock its data directory.
  const isServed = config.clickhouseUrl !== '' || config.controlUrl !== '' || isService(config.dataDir);
  const isDev = isService(DEV_STORE.dataDir);
  if (isDev && !isServed) return { config: { ...config, ...DEV_STORE } };
  if (isDev)
    return {
      config,
      note: `using the store of the settings (${config.dataDir}), not that of "tailrace dev"`,
    };
  if (isServed) return { config };
  return {
    config,
    note: `no service runs on ${config.dataDir} or ${DEV_STORE.dataDir}; using data directory ${config.dataDir}`,
  };
}

/**
 * Finds the service that holds the embedded store: no other process can open it. It accepts the key of this machine's
 * commands.
 */
export function findService(config: Config, options: RemoteOptions): Remote | undefined {
  const service = config.clickhouseUrl === '' ? findLocalService(config) : undefined;
  return service && { ...service, key: findKey(options) ?? service.key };
}

/**
 * Returns the key of the data directory of `tailrace dev`, which is always the same: calls in the history of a shell
 * keep working.
 */
export function openDevKey({ dataDir, tokenSecret }: Config): string {
  const secret = deriveSecret(openTokenSecret(dataDir, tokenSecret), 'development key');
  return `dev_${Buffer.from(secret).toString('base64url')}`;
}

import type { Config } from '../config/config.ts';
import type { ControlStore } from './control-store.ts';
import { openSqliteStore } from './sqlite-store.ts';

/**
 * Opens the store of the settings, and creates or migrates its tables.
 *
 * @param onState called once with the failure when PostgreSQL becomes unavailable, and once without when it is available again
 * @throws InputError if it cannot be used, or was written by a newer version; TransientError if that may pass
 */
export async function openControlStore(
  {
    dataDir,
    controlUrl,
    controlStaleSeconds,
  }: Pick<Config, 'dataDir' | 'controlUrl' | 'controlStaleSeconds'>,
  onState: (failure?: unknown) => void = () => {},
): Promise<ControlStore> {
  if (controlUrl === '') return openSqliteStore(dataDir);
  const { openPostgresStore } = await import('./postgres-store.ts'); // its driver is loaded only if it is used
  return await openPostgresStore(controlUrl, { staleMs: controlStaleSeconds * 1000, onState });
}

import type { Config } from '../config/config.ts';
import type { ControlStore } from './control-store.ts';
import { openSqliteStore } from './sqlite-store.ts';

/**
 * How long known keys and sessions are accepted while the store is unavailable, even if revoked meanwhile: a restart
 * or failover of PostgreSQL passes unnoticed, and a revoked key is soon rejected.
 */
export const CONTROL_STALE_MS = 60_000;

/**
 * Opens the store of the settings, and creates its tables if there are none.
 * @param onState called once with the failure when PostgreSQL becomes unavailable, and once without when it is back
 * @throws InputError if it cannot be used, or was written by another version; TransientError if that may pass
 */
export async function openControlStore(
  { dataDir, controlUrl }: Pick<Config, 'dataDir' | 'controlUrl'>,
  onState: (failure?: unknown) => void = () => {},
): Promise<ControlStore> {
  if (controlUrl === '') return openSqliteStore(dataDir);
  const { openPostgresStore } = await import('./postgres-store.ts'); // its driver is loaded only if it is used
  return await openPostgresStore(controlUrl, { staleMs: CONTROL_STALE_MS, onState });
}

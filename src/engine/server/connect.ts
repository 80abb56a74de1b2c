import type { ServerAddress } from '../../config/clickhouse.ts';
import type { QueryLimits } from '../engine.ts';
import { type EngineSettings, readSettings, sandboxSettings } from '../read-settings.ts';
import { createServerClient } from './client.ts';
import { READ_SETTINGS, type Reader } from './reads.ts';
import { prepareServer } from './start.ts';
import { COMMAND_MS_MAX } from './writes.ts';

export interface ConnectOptions {
  readonly address: ServerAddress;
  readonly readers: number;
  readonly limits: QueryLimits;
  readonly cluster: string;
}

type Account = NonNullable<ServerAddress['sandbox']>;

// Besides queries: KILL statements.
const SPARE_CONNECTIONS = 4;
const OWNER_CONNECTIONS_MAX = 10;

/**
 * The connections of every user, after the server was checked (start.ts). `sandbox` runs SQL that callers write; `undefined`: the
 * reader does.
 *
 * @throws InputError, TailraceError as src/engine/server/start.ts; nothing stays open then
 */
export async function connect({ address, readers, limits, cluster }: ConnectOptions) {
  const { user, password } = address;
  const ofOwner = { user, password, connectionsMax: OWNER_CONNECTIONS_MAX, silenceMs: COMMAND_MS_MAX };
  // The database `system` exists before ours.
  const inSystem = { ...address, database: 'system' };
  const system = createServerClient({ ...ofOwner, address: inSystem, compressRequests: false });
  const owner = createServerClient({ ...ofOwner, address, compressRequests: true });
  const createReader = (account: Account, slots: number, settings: EngineSettings): Reader => ({
    client: createServerClient({
      ...account,
      address,
      connectionsMax: slots + SPARE_CONNECTIONS,
      silenceMs: 2 * limits.timeoutMs, // each query has a deadline, which comes first
      compressRequests: false,
    }),
    slots,
    settings: { ...settings, ...READ_SETTINGS },
  });
  const ofReader = { user: address.readUser, password: address.readPassword };
  const reader = createReader(ofReader, readers, readSettings(limits));
  // Half of the reader's slots: callers' SQL may slow stored queries down but never takes all slots.
  const sandboxSlots = Math.max(1, Math.floor(readers / 2));
  const sandbox = address.sandbox && createReader(address.sandbox, sandboxSlots, sandboxSettings(limits));
  try {
    await prepareServer({ address, system, reader, sandbox, cluster });
    return { owner, reader, sandbox };
  } catch (error) {
    await Promise.all([owner.close(), reader.client.close(), sandbox?.client.close()]);
    throw error;
  } finally {
    await system.close();
  }
}

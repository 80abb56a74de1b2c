import type { ReadFilters } from '../engine.ts';
import type { EngineRequest } from '../process/protocol.ts';
import { createSessionPool, type PoolLimits, type SessionPool } from '../session-pool.ts';
import type { Ask } from './open-process.ts';
import { CHANNEL, type EmbeddedSessions } from './sessions.ts';

/** A session that runs one query at a time, by the number of its channel. */
export interface Reader {
  readonly channel: number;
}

/** The reader sessions. They keep their channels when the process is replaced. */
export interface Readers {
  readonly pool: SessionPool<Reader>;
  /** How each is opened now, in the order of the channels. */
  opens(): EngineRequest[];
  /** See `Engine.setReadFilters`. When it fails, the filters from before apply again. */
  setFilters(filters: ReadFilters, ask: Ask): Promise<void>;
}

export function createReaders(count: number, limits: PoolLimits, sessions: EmbeddedSessions): Readers {
  const readers = Array.from({ length: count }, (_, i) => ({ channel: CHANNEL.firstReader + i }));
  const pool = createSessionPool<Reader>(readers, limits);
  let filters: ReadFilters = new Map();
  return {
    pool,
    opens: () => readers.map(() => sessions.reader(filters)),
    async setFilters(next, ask) {
      const before = filters;
      // A process that starts meanwhile opens its readers with the new filters.
      const reopen = async ({ channel }: Reader) => void (await ask(channel, sessions.reader(filters)));
      filters = next;
      try {
        await pool.renew(reopen);
      } catch (error) {
        filters = before;
        await pool.renew(reopen).catch(() => {});
        throw error;
      }
    },
  };
}

import { withServer } from '../../trial/server.ts';
import { inTemporaryFolder } from '../folder.ts';
import { say } from '../report.ts';
import { EVENTS_PER_BATCH, sendBatches } from '../section/ingest-load.ts';
import { settle, takeFamily } from './family.ts';
import type { Reference } from './reference.ts';
import type { Rounds } from './rounds.ts';

const ROUNDS = 5;
const BATCHES = 20;
const WARM_UP_BATCHES = 40;
const DAY_MS = 86_400_000;
const EVENTS = BATCHES * EVENTS_PER_BATCH;
/** About half a second of the reference each. */
const TIMES = { parse: 5 * EVENTS, insert: 2 * EVENTS };

/** The core time of an event, from socket to part and with the first merges, beside that of the same event in the reference, ms; by turns. */
export async function measureIngest(reference: Reference): Promise<{ event: Rounds; insert: Rounds }> {
  return await inTemporaryFolder((dataDir) =>
    withServer({ dataDir, env: { TAILRACE_LOG_LEVEL: 'warn' } }, async (server) => {
      const all: number[] = [];
      const engine: number[] = [];
      const parsed: number[] = [];
      const inserted: number[] = [];
      const nowMs = Date.now();
      // One request after another: how many are stored together would depend on the load of the machine. Each round has a day, and so
      // parts that are merged only with one another.
      const send = async (requestsMax: number, daysAgo: number) => {
        const day = { eventsPerRequest: EVENTS_PER_BATCH, nowMs: nowMs - daysAgo * DAY_MS };
        await sendBatches(server, { connections: 1, requestsMax, send: day });
        await settle(server.pid);
      };
      await send(WARM_UP_BATCHES, 0);
      for (const work of ['parse', 'insert'] as const) await reference.measure(work, TIMES[work]);
      for (let round = 1; round <= ROUNDS; round++) {
        const { serviceMs, engineMs } = await takeFamily(server.pid, () => send(BATCHES, round));
        all.push((serviceMs + engineMs) / EVENTS);
        engine.push(engineMs / EVENTS);
        parsed.push(await reference.measure('parse', TIMES.parse));
        inserted.push(await reference.measure('insert', TIMES.insert));
        const micros = [all, engine, parsed, inserted].map((one) => ((one.at(-1) ?? 0) * 1000).toFixed(1));
        say(
          `guard: ingest ${round}/${ROUNDS}: core µs of an event, of these the engine; parsed, inserted: ${micros.join(', ')}`,
        );
      }
      return { event: { ours: all, theirs: parsed }, insert: { ours: engine, theirs: inserted } };
    }),
  );
}

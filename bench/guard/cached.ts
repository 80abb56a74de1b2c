import { type Burst, takeTurns } from '../cached-turns.ts';
import type { BenchData } from '../data.ts';
import { withPastServer } from '../past-server.ts';
import { pathOf } from '../questions.ts';
import type { Rounds } from './rounds.ts';

// Its code is compiled after some ten thousand requests.
const TURNS = {
  name: 'guard: cached',
  connections: 32,
  rounds: 7,
  warmUp: { amount: 40_000 },
  burst: { amount: 10_000 },
};

/** The core time of a cached GET on the main thread, beside that of a bare Fastify route; by turns. */
export async function measureCached(data: BenchData): Promise<Rounds> {
  return await withPastServer(data, 'runs', async (server) => {
    const project = server.projects[0] ?? '';
    const path = pathOf({ endpoint: 'usage.api-counts', parameters: { project, interval: 'daily' } });
    const { ours, theirs } = await takeTurns(server, path, TURNS);
    const micros = (all: readonly Burst[]) => all.map(({ coreMicros }) => coreMicros);
    return { ours: micros(ours), theirs: micros(theirs) };
  });
}

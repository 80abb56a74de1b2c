import { setTimeout as wait } from 'node:timers/promises';
import { withServer } from '../../trial/server.ts';
import { openBenchData } from '../data.ts';
import { withLinkedCopy } from '../linked-copy.ts';
import { type Row, say } from '../report.ts';
import type { BenchOptions } from '../section.ts';

const STARTS = 5;
const IDLE_MS = 30_000;
const POLL_EVERY_MS = 5;

/** The time from the command to the first 200 of `/ready`, and the resident memory of an idle service. */
export async function startSection({ rows }: BenchOptions): Promise<Row[]> {
  return await withLinkedCopy(await openBenchData(rows), async ({ dataDir }) => {
    const seconds: number[] = [];
    const ready: number[] = [];
    let idle = Number.NaN;
    for (let start = 1; start <= STARTS; start++) {
      const begunMs = performance.now();
      await withServer({ dataDir }, async (server) => {
        while (!(await fetch(`${server.url}/ready`)).ok) await wait(POLL_EVERY_MS);
        seconds.push((performance.now() - begunMs) / 1000);
        ready.push(server.rssMb());
        if (start === STARTS) {
          await wait(IDLE_MS);
          idle = server.rssMb();
        }
      });
      say(`start ${start}/${STARTS}: ready after ${seconds.at(-1)?.toFixed(2)} s`);
    }
    return [
      { name: 'start to ready', unit: 's', values: seconds, goal: { below: 2 } },
      { name: 'RSS when ready', unit: 'MB', values: ready },
      { name: `RSS, idle for ${IDLE_MS / 1000} s`, unit: 'MB', values: [idle] },
    ];
  });
}

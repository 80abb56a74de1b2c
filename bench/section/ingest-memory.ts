import { setTimeout as wait } from 'node:timers/promises';
import { median } from '../measure.ts';
import { type Row, say } from '../report.ts';
import type { BenchOptions } from '../section.ts';
import { fillSample, type Server, withServer } from '../server.ts';
import { eventRate, LOGS_PATHS, load, sendBatches } from './ingest-load.ts';

const LOOK_EVERY_MS = 5_000;
const LOGS_PAUSE_MS = 50;

/** Resident memory while batches come in as fast as they are taken and logs are read. */
export async function measureMemory(dataDir: string, { rows, minutes }: BenchOptions): Promise<Row[]> {
  await fillSample(dataDir, rows);
  return await withServer({ dataDir }, async (server) => {
    const secondsMax = minutes * 60;
    const done = new AbortController();
    const looking = lookUntil(server, done.signal);
    const [batches] = await Promise.all([
      sendBatches(server, { secondsMax }),
      load(server, { secondsMax, pauseMs: LOGS_PAUSE_MS, send: { paths: LOGS_PATHS } }),
    ]);
    done.abort();
    const rss = await looking;
    // Caches fill in the beginning; what grew without end would show between the second third and the last.
    const third = Math.floor(rss.length / 3);
    const thirds = [0, 1, 2].map((i) => median(rss.slice(i * third, i * third + Math.max(third, 1))));
    const name = `memory under batches and logs.all, ${minutes} min`;
    return [
      { name: `${name}: most`, unit: 'MB', values: [Math.max(...rss)], goal: { below: 900 } },
      { name: `${name}: median of each third`, unit: 'MB', values: thirds },
      { name: `${name}: last third / second`, unit: 'ratio', values: [(thirds[2] ?? 0) / (thirds[1] ?? 1)] },
      { name: 'batches meanwhile', unit: 'events/s', values: [eventRate(batches)] },
    ];
  });
}

async function lookUntil(server: Server, done: AbortSignal): Promise<number[]> {
  const rss: number[] = [];
  while (!done.aborted) {
    rss.push(server.rssMb());
    say(`memory: ${Math.round(rss.at(-1) ?? 0)} MB`);
    await wait(LOOK_EVERY_MS, undefined, { signal: done }).catch(() => {});
  }
  return rss;
}

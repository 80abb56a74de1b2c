import { setTimeout as wait } from 'node:timers/promises';
import { median } from './measure.ts';
import { type Row, say } from './report.ts';

const POLL_EVERY_MS = 5_000;

/** Samples a process's resident memory, MB, during `work`; by default every five seconds, each of them reported. */
export async function watchRss<T>(
  rssMb: () => number,
  work: () => Promise<T>,
  everyMs = POLL_EVERY_MS,
): Promise<{ rss: readonly number[]; result: T }> {
  const done = new AbortController();
  const looking = pollUntil(rssMb, { done: done.signal, everyMs });
  try {
    const result = await work();
    done.abort();
    return { rss: await looking, result };
  } finally {
    done.abort();
  }
}

async function pollUntil(
  rssMb: () => number,
  { done, everyMs }: { readonly done: AbortSignal; readonly everyMs: number },
): Promise<number[]> {
  const rss: number[] = [];
  while (!done.aborted) {
    rss.push(rssMb());
    if (everyMs >= POLL_EVERY_MS) say(`memory: ${Math.round(rss.at(-1) ?? 0)} MB`);
    await wait(everyMs, undefined, { signal: done }).catch(() => {});
  }
  return rss;
}

/** The maximum and the trend: caches fill in the first third; a leak would show between the other two. */
export function rssRows(name: string, rss: readonly number[], belowMb: number): Row[] {
  const third = Math.floor(rss.length / 3);
  const thirds = [0, 1, 2].map((i) => median(rss.slice(i * third, i * third + Math.max(third, 1))));
  return [
    { name: `${name}: most`, unit: 'MB', values: [Math.max(...rss)], goal: { below: belowMb } },
    { name: `${name}: median of each third`, unit: 'MB', values: thirds },
    { name: `${name}: last third / second`, unit: 'ratio', values: [(thirds[2] ?? 0) / (thirds[1] ?? 1)] },
  ];
}

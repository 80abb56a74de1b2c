import { loadavg } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { LOAD_MAX, say } from '../report.ts';

/** The average of a minute keeps the benchmark's own last section for about so long. */
const WAIT_MS_MAX = 90_000;
const POLL_EVERY_MS = 5_000;

export interface LoadClock {
  /** The load average of the last minute. */
  readonly read: () => number;
  readonly wait: (ms: number) => Promise<unknown>;
}

/**
 * The load average at the start of a section: that of other work, since it waits until the load of the benchmark's
 * own last section has passed, up to 90 s.
 *
 * @param isFirst no section has run before, so there is nothing to wait for
 */
export async function settleLoad(
  isFirst: boolean,
  { read, wait: pause }: LoadClock = { read: () => loadavg()[0] ?? 0, wait },
): Promise<number> {
  if (!isFirst && read() > LOAD_MAX) say(`load average ${read().toFixed(1)}: waits until it is ${LOAD_MAX}`);
  for (let ms = 0; !isFirst && ms < WAIT_MS_MAX && read() > LOAD_MAX; ms += POLL_EVERY_MS)
    await pause(POLL_EVERY_MS);
  return read();
}

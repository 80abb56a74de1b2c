import { setTimeout as wait } from 'node:timers/promises';
import { withServer } from '../../trial/server.ts';
import type { BenchData } from '../data.ts';
import { withLinkedCopy } from '../linked-copy.ts';
import { treeMs } from '../machine/core-time.ts';
import { say } from '../report.ts';
import { withReference } from './reference.ts';
import type { Rounds } from './rounds.ts';

const ROUNDS = 5;
const POLL_EVERY_MS = 5;

/** The core time from the command to the first 200 of `/ready`, beside that of a process that only loads the engine; by turns. */
export async function measureStart(data: BenchData): Promise<Rounds> {
  return await withLinkedCopy(data, async ({ dataDir }) => {
    const ours: number[] = [];
    const theirs: number[] = [];
    for (let round = 1; round <= ROUNDS; round++) {
      const readyMs = await withServer({ dataDir }, async ({ url, pid }) => {
        while (!(await fetch(`${url}/ready`)).ok) await wait(POLL_EVERY_MS);
        return treeMs(pid);
      });
      const bareMs = await withReference(async ({ startCoreMs }) => startCoreMs);
      ours.push(readyMs);
      theirs.push(bareMs);
      say(
        `guard: start ${round}/${ROUNDS}: ${readyMs} ms of core time, the engine loaded ${bareMs.toFixed(0)} ms`,
      );
    }
    return { ours, theirs };
  });
}

import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';

/** Ids of the engine processes that a process has started. Linux only, as it reads /proc. */
export function findEngineProcesses(parent: number = process.pid): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => isEngineOf(pid, parent));
}

function isEngineOf(pid: number, parent: number): boolean {
  try {
    const [, state = '', ppid] = /\) (\S) (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return Number(ppid) === parent && state !== 'Z' && /engine\/process\/main\.[jt]s/.test(command);
  } catch {
    return false; // it has ended meanwhile
  }
}

/** The one engine process of a process that has one engine. */
export function getEngineProcess(parent: number = process.pid): number {
  const [pid, ...others] = findEngineProcesses(parent);
  if (pid === undefined || others.length > 0)
    throw new Error(`expected one engine process of ${parent}, found ${[pid, ...others].join(', ')}`);
  return pid;
}

export async function untilGone(pid: number): Promise<void> {
  await expect.poll(() => readdirSync('/proc').includes(String(pid)), { timeout: 10_000 }).toBe(false);
}

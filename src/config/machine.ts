import { availableParallelism, totalmem } from 'node:os';

/** The part of the machine that a process may use: in a container its limits, not what the host has. */
export interface Machine {
  /** Threads that can compute at once. */
  readonly cores: number;
  readonly memoryBytes: number;
}

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;

/** Reads the limits of cgroups and CPU affinity, too. */
export function readMachine(): Machine {
  // 0 or more than the machine has: no limit.
  const limit = process.constrainedMemory();
  const total = totalmem();
  return { cores: availableParallelism(), memoryBytes: limit > 0 && limit < total ? limit : total };
}

/** The defaults that follow the machine. Their minimum is what the engine works with at all. */
export const BY_MACHINE = {
  /** One query a core; the second, so that one key cannot hold all. More than 16 only share the memory. */
  readers: ({ cores }: Machine) => clamp(cores, 2, 16),
  /** Half of the memory, since the service and the page cache need theirs; at most what the readers use, 2 GiB a core. */
  engineMemoryBytesMax: ({ cores, memoryBytes }: Machine) =>
    clamp(Math.floor(memoryBytes / 2), 512 * MIB, Math.max(2, cores) * 2 * GIB),
  /** Answers that callers ask for again: 32 MiB a core, at most a sixteenth of the memory. */
  cacheBytesMax: ({ cores, memoryBytes }: Machine) =>
    clamp(Math.floor(memoryBytes / 16), 16 * MIB, Math.max(2, cores) * 32 * MIB),
};

/** The engine's own threads and caches. */
export function sizeEngine({ cores }: Machine, memoryBytesMax: number) {
  const merging = clamp(cores, 2, 16);
  return {
    mergeThreads: merging,
    markCacheBytes: Math.min(32 * MIB * merging, Math.floor(memoryBytesMax / 16)),
  };
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max);
}

const ROUNDS = 15;

/**
 * How many times the time for each of the `n` grows from n to 4n: about 1 for work in proportion to n, 4 for its square. The least
 * of many short runs by turns, so that a busy machine does not count.
 */
export function growth(work: (n: number) => unknown, n: number): number {
  const small = () => elapsedMs(() => work(n));
  const large = () => elapsedMs(() => work(4 * n));
  small(); // compiled before it is measured
  large();
  const runs = Array.from({ length: ROUNDS }, () => ({ small: small(), large: large() }));
  return Math.min(...runs.map((run) => run.large)) / (4 * Math.min(...runs.map((run) => run.small)));
}

/** The shortest of several runs, ms. */
export function shortestMs(work: () => unknown, rounds: number): number {
  return Math.min(...Array.from({ length: rounds }, () => elapsedMs(work)));
}

function elapsedMs(work: () => unknown): number {
  const startMs = performance.now();
  work();
  return performance.now() - startMs;
}
